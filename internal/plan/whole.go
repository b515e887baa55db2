package plan

import (
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// A kernel for whole vectors has no tests of what the launch sees to: they are written down in thr.Whole instead.

func (l *lowering) whole() *thr.Whole {
	if l.out.Whole == nil {
		l.out.Whole = &thr.Whole{Multiple: map[*ir.Symbol]int{}}
	}
	return l.out.Whole
}

// needAligned asks for 16-byte alignment of an argument's address and strides.
func (l *lowering) needAligned(a *ir.Arg) {
	if w := l.whole(); !slices.Contains(w.Aligned, a) {
		w.Aligned = append(w.Aligned, a)
	}
}

// needMultiple asks for dimensions that are multiples of so many elements.
func (l *lowering) needMultiple(dims []*ir.Symbol, elems int) {
	w := l.whole()
	for _, s := range dims {
		w.Multiple[s] = lcm(w.Elems(s), elems)
	}
}

// endsWhole asks that the last axis ends with a whole vector, and reports whether the launch can see to it.
func (a *access) endsWhole() bool {
	last, vec := a.span.Rank()-1, a.span.Dist.Vec()
	if a.span.Dist.Shape[last]%vec != 0 {
		return false
	}
	if last >= len(a.span.Extent) || a.span.Extent[last] == nil {
		return true
	}
	dims, ok := a.l.flow.wholeIf(a.span.Extent[last], vec)
	if ok {
		a.l.needMultiple(dims, vec)
	}
	return ok
}

// wholeIf lists the dimensions that an index is a multiple of n with; not ok where they do not make it one.
func (f *flow) wholeIf(v *ir.Value, n int) (dims []*ir.Symbol, ok bool) {
	v = f.canonical(v)
	if f.isMultiple(v, n) {
		return nil, true
	}
	switch v.Op {
	case ir.Dim:
		return []*ir.Symbol{v.Attr.(*ir.Symbol)}, true
	case ir.Add, ir.Sub, ir.Min, ir.Max:
		for _, a := range v.Args {
			more, ok := f.wholeIf(a, n)
			if !ok {
				return nil, false
			}
			dims = append(dims, more...)
		}
		return dims, true
	}
	return nil, false
}

func lcm(a, b int) int {
	gcd := a
	for m := b; m != 0; {
		gcd, m = m, gcd%m
	}
	return a / gcd * b
}
