package plan

import "github.com/gotile/gotile/internal/ir"

// stretch is where a tile lies along its last axis: from base + lo up to base + hi. The zero stretch is anywhere.
type stretch struct {
	base   *ir.Value // does not change while the kernel runs; nil: 0
	lo, hi int
}

// stretchOf is the stretch of an access of an argument at offsets.
func stretchOf(f *flow, v *ir.Value, offsets []*ir.Value) stretch {
	last := v.Type.Span.Rank() - 1
	if last < 0 {
		return stretch{}
	}
	s := stretch{base: f.canonical(offsets[len(offsets)-1])}
	for s.base != nil {
		if n, ok := constInt(s.base); ok {
			s.base, s.lo = nil, s.lo+n
			break
		}
		n, ok := 0, false
		if s.base.Op == ir.Add {
			n, ok = constInt(f.canonical(s.base.Args[1]))
		}
		if !ok {
			break
		}
		s.base, s.lo = f.canonical(s.base.Args[0]), s.lo+n
	}
	if s.base != nil && inLoop(s.base) {
		return stretch{}
	}
	s.hi = s.lo + v.Type.Span.Dist.Covered(last)
	return s
}

func constInt(v *ir.Value) (int, bool) {
	bits, ok := v.Attr.(ir.Bits)
	return int(int32(bits)), ok && v.Op == ir.Const
}

// inLoop reports whether a value may be another in the next iteration of a loop.
func inLoop(v *ir.Value) bool {
	for r := v.In; r != nil && r.Owner != nil; r = r.Owner.In {
		if op := r.Owner.Op; op == ir.Range || op == ir.Persistent || op == ir.While {
			return true
		}
	}
	return false
}

// apart reports whether two stretches have nothing in common for certain.
func (s stretch) apart(o stretch) bool {
	return s.hi > s.lo && o.hi > o.lo && s.base == o.base && (s.hi <= o.lo || o.hi <= s.lo)
}
