package cuda

import (
	"math"
	"math/bits"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Integers of the tile language wrap; in C a signed overflow is undefined, and NVRTC makes use of that (it prints
// `a + 1 > a` as true). Addresses should stay signed, though: only then does it fold the constants of unrolled loops
// into immediate offsets. So the printer knows a range for every integer expression: where the exact result fits the
// type it prints the plain operator, elsewhere the same operation on unsigned operands.

// span is an inclusive range of integers.
type span struct{ lo, hi int64 }

// everything is the range of a type. Booleans count as 0 and 1.
func everything(t dtype.Type) span {
	switch t {
	case dtype.I32:
		return span{math.MinInt32, math.MaxInt32}
	case dtype.U32, dtype.BF16, dtype.F16:
		return span{0, math.MaxUint32}
	case dtype.Bool:
		return span{0, 1}
	}
	return span{math.MinInt64, math.MaxInt64}
}

func (s span) within(t span) bool { return t.lo <= s.lo && s.hi <= t.hi }
func (s span) has(v int64) bool   { return s.lo <= v && v <= s.hi }
func (s span) union(t span) span  { return span{min(s.lo, t.lo), max(s.hi, t.hi)} }

// strideBound is the nominal bound on a stride. Strides belong to tensors that exist, so an offset of an element in
// range never leaves 64 bits; a bound on the stride says so to the arithmetic below.
const strideBound = 1 << 31

// ranges knows the locals. Only those that never change have a range; it grows as the printer walks the statements.
type ranges struct {
	threads int
	cluster int
	mutable map[*thr.Local]bool
	locals  map[*thr.Local]span
}

func newRanges(k *thr.Kernel) *ranges {
	r := &ranges{threads: k.Threads, cluster: k.Cluster, mutable: map[*thr.Local]bool{}, locals: map[*thr.Local]span{}}
	assigned(k.Body, r.mutable)
	return r
}

// declare notes a local that gets its only value from e.
func (r *ranges) declare(l *thr.Local, e thr.Expr) {
	if e != nil && l.Len == 0 && !r.mutable[l] {
		r.locals[l] = r.of(e)
	}
}

// loop notes an induction variable.
func (r *ranges) loop(f thr.For) {
	lo, hi := r.of(f.Lo), r.of(f.Hi)
	r.locals[f.Var] = span{lo.lo, max(lo.lo, hi.hi-1)}
}

// of is a range that holds every value of an integer or boolean expression.
func (r *ranges) of(e thr.Expr) span {
	all := everything(e.ExprType().DT)
	if e.ExprType().Ptr || e.ExprType().DT.IsFloat() {
		return all
	}
	switch e := e.(type) {
	case thr.Const:
		switch e.DT {
		case dtype.I32:
			return span{int64(int32(e.Bits)), int64(int32(e.Bits))}
		case dtype.U32:
			return span{int64(uint32(e.Bits)), int64(uint32(e.Bits))}
		}
		return span{int64(e.Bits), int64(e.Bits)}
	case thr.SharedAddr:
		return span{int64(e.Buf.Offset), int64(e.Buf.Offset)}
	case thr.ArgRef:
		switch e.Arg.Kind {
		case thr.ArgDim:
			if s := e.Arg.Symbol; s != nil && s.Max > 0 {
				return span{0, int64(s.Max)}
			}
			return span{0, math.MaxInt32}
		case thr.ArgStride:
			return span{-strideBound, strideBound}
		}
	case thr.Ref:
		if s, ok := r.locals[e.Local]; ok && e.Index == nil {
			return s
		}
	case thr.Call:
		return r.call(e, all)
	case thr.Apply:
		if s, ok := r.apply(e); ok && s.within(all) {
			return s
		}
	}
	return all
}

func (r *ranges) call(e thr.Call, all span) span {
	switch e.Fn {
	case thr.TID:
		return span{0, int64(max(r.threads, 1)) - 1}
	case thr.Lane:
		return span{0, 31}
	case thr.Warp:
		return span{0, int64(max(r.threads, 1)-1) / 32}
	case thr.BlockX:
		return span{0, math.MaxInt32 - 1}
	case thr.GridX:
		return span{1, math.MaxInt32}
	case thr.ClusterRank:
		return span{0, int64(max(r.cluster, 1)) - 1}
	case thr.ClusterX:
		return span{0, math.MaxInt32/int64(max(r.cluster, 1)) - 1}
	case thr.ClustersX:
		return span{1, math.MaxInt32 / int64(max(r.cluster, 1))}
	case thr.ShflXor, thr.ShflIdx, thr.Opaque: // one of the values of the operand
		return r.of(e.Args[0])
	}
	return all
}

// exact reports whether the exact result of an integer operation fits its type.
func (r *ranges) exact(e thr.Apply) bool {
	s, ok := r.apply(e)
	return ok && s.within(everything(e.R))
}

// apply is the range of the exact result of an op, false where it is not known or leaves 64 bits.
func (r *ranges) apply(e thr.Apply) (span, bool) {
	if e.T.IsFloat() || e.R == dtype.Bool {
		return span{}, false
	}
	a, last := r.of(e.Args[0]), r.of(e.Args[len(e.Args)-1])
	positive := last.lo > 0
	switch e.Op {
	case ir.Add:
		lo, ok1 := add(a.lo, last.lo)
		hi, ok2 := add(a.hi, last.hi)
		return span{lo, hi}, ok1 && ok2
	case ir.Sub:
		lo, ok1 := sub(a.lo, last.hi)
		hi, ok2 := sub(a.hi, last.lo)
		return span{lo, hi}, ok1 && ok2
	case ir.Neg:
		lo, ok1 := sub(0, a.hi)
		hi, ok2 := sub(0, a.lo)
		return span{lo, hi}, ok1 && ok2
	case ir.Mul:
		return product(a, last)
	case ir.Shl:
		if last.lo != last.hi || !last.has(last.lo&int64(e.T.Size()*8-1)) || last.lo > 62 {
			return span{}, false
		}
		return product(a, span{1 << last.lo, 1 << last.lo})
	case ir.Shr:
		if last.lo == last.hi && last.lo >= 0 && last.lo < int64(e.T.Size()*8) {
			return span{a.lo >> last.lo, a.hi >> last.lo}, true
		}
		return a.union(span{0, 0}).union(span{-1, 0}), true
	case ir.Div:
		if positive { // truncation moves towards zero
			return span{min(a.lo/last.lo, a.lo/last.hi), max(a.hi/last.lo, a.hi/last.hi)}, true
		}
	case ir.Rem:
		if positive {
			return span{max(min(a.lo, 0), 1-last.hi), min(max(a.hi, 0), last.hi-1)}, true
		}
	case ir.And:
		if a.lo >= 0 && last.lo >= 0 {
			return span{0, min(a.hi, last.hi)}, true
		}
		if last.lo >= 0 {
			return span{0, last.hi}, true
		}
	case ir.Min:
		return span{min(a.lo, last.lo), min(a.hi, last.hi)}, true
	case ir.Max:
		return span{max(a.lo, last.lo), max(a.hi, last.hi)}, true
	case ir.Select:
		return r.of(e.Args[1]).union(last), true
	case ir.Cast:
		return a, true
	}
	return span{}, false
}

func add(a, b int64) (int64, bool) { c := a + b; return c, (c > a) == (b > 0) }
func sub(a, b int64) (int64, bool) { c := a - b; return c, (c < a) == (b > 0) }

func product(a, b span) (span, bool) {
	out, first := span{}, true
	for _, x := range []int64{a.lo, a.hi} {
		for _, y := range []int64{b.lo, b.hi} {
			p, ok := mul(x, y)
			if !ok {
				return span{}, false
			}
			if first {
				out, first = span{p, p}, false
			}
			out = out.union(span{p, p})
		}
	}
	return out, true
}

func mul(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	return a * b, hi == 0 && lo <= math.MaxInt64
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}
