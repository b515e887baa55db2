package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// scalar is the expression of a rank-0 value. A value with one user is an expression inside that user's; the others
// become locals.
func (l *lowering) scalar(v *ir.Value) thr.Expr {
	v = l.flow.canonical(v)
	if e, ok := l.scalars[v]; ok {
		return e
	}
	switch v.Op {
	case ir.Const:
		return constant(v)
	case ir.Param:
		a := v.Attr.(*ir.Arg)
		e := thr.Expr(thr.ArgRef{Arg: l.args.scalar[a]})
		switch a.DT {
		case dtype.BF16, dtype.F16: // the field holds the 16 bits
			return call(half(a.DT, 0), dtype.F32, e)
		}
		return e
	case ir.Dim:
		return thr.ArgRef{Arg: l.args.dim[v.Attr.(*ir.Symbol)]}
	}
	if !ir.Table[v.Op].Pure() {
		l.fail(v.Pos, "plan: %s is used before it is computed", v.Op)
		return i32(0)
	}
	e := l.elementwise(v, func(a *ir.Value) thr.Expr { return l.scalar(a) })
	if len(l.flow.users[v]) == 1 && v.Op != ir.Asm {
		return e
	}
	return l.bindScalar(v, e)
}

// scalarLocal is scalar for uses in loops: never an expression to be computed again at each use.
func (l *lowering) scalarLocal(v *ir.Value) thr.Expr {
	v = l.flow.canonical(v)
	e := l.scalar(v)
	switch e.(type) {
	case thr.Const, thr.ArgRef:
		return e
	case thr.Ref:
		return e
	}
	return l.bindScalar(v, e)
}

func (l *lowering) bindScalar(v *ir.Value, e thr.Expr) thr.Expr {
	x := l.local(l.name(v, "t"), thr.Val(register(v.Type.DT)), e)
	l.scalars[v] = ref(x)
	return ref(x)
}

// constant is a host number in the type that registers hold it in.
func constant(v *ir.Value) thr.Expr {
	bits := uint64(v.Attr.(ir.Bits))
	switch v.Type.DT {
	case dtype.BF16:
		return f32(dtype.BF16FromBits(uint16(bits)).Float())
	case dtype.F16:
		return f32(dtype.F16FromBits(uint16(bits)).Float())
	}
	return thr.Const{DT: register(v.Type.DT), Bits: bits}
}

// half is the built-in that reads the lower (0) or upper half of a pair.
func half(t dtype.Type, h int) thr.Fn {
	if t == dtype.BF16 {
		return thr.BF16Lo + thr.Fn(h)
	}
	return thr.F16Lo + thr.Fn(h)
}

func pair(t dtype.Type, lo, hi thr.Expr) thr.Expr {
	if t == dtype.BF16 {
		return call(thr.BF16Pair, dtype.U32, lo, hi)
	}
	return call(thr.F16Pair, dtype.U32, lo, hi)
}

// rounded rounds an f32 to a 16-bit type and back; other types pass.
func rounded(t dtype.Type, e thr.Expr) thr.Expr {
	switch t {
	case dtype.BF16:
		return call(thr.RoundBF16, dtype.F32, e)
	case dtype.F16:
		return call(thr.RoundF16, dtype.F32, e)
	}
	return e
}

// elementwise is one element of a pure op, given its operands' elements. Results of 16-bit type are rounded.
func (l *lowering) elementwise(v *ir.Value, arg func(*ir.Value) thr.Expr) thr.Expr {
	return rounded(v.Type.DT, l.unrounded(v, arg))
}

// unrounded is elementwise without the last rounding, for results that are packed at once.
func (l *lowering) unrounded(v *ir.Value, arg func(*ir.Value) thr.Expr) thr.Expr {
	var xs []thr.Expr
	for _, a := range v.Args {
		xs = append(xs, arg(a))
	}
	switch v.Op {
	case ir.BlockID:
		return call(thr.BlockX, dtype.I32)
	case ir.NumBlocks:
		return call(thr.GridX, dtype.I32)
	case ir.WarpID:
		return call(thr.Warp, dtype.I32)
	case ir.GroupID:
		return l.groupIndex()
	case ir.ClusterID:
		return call(thr.ClusterX, dtype.I32)
	case ir.NumClusters:
		return call(thr.ClustersX, dtype.I32)
	case ir.ClusterRank:
		return call(thr.ClusterRank, dtype.I32)
	case ir.Cast:
		return convert(v.Args[0].Type.DT, v.Type.DT, xs[0])
	case ir.Bitcast:
		if from, to := v.Args[0].Type.DT, v.Type.DT; to.Is16() { // registers hold the value, not the bits
			if from == to {
				return xs[0]
			}
			return call(half(to, 0), dtype.F32, pair(from, xs[0], f32(0)))
		}
		return thr.Apply{Op: ir.Bitcast, T: v.Args[0].Type.DT, R: v.Type.DT, Args: xs}
	case ir.Asm:
		x := l.local("asm", thr.Val(v.Type.DT), nil)
		l.emit(thr.Asm{At: l.at(), Info: v.Attr.(*ir.AsmInfo), Dst: ref(x), Args: xs})
		return ref(x)
	}
	t := register(v.Args[len(v.Args)-1].Type.DT)
	if t.IsInt() && len(xs) == 2 {
		switch v.Op { // fold index arithmetic
		case ir.Add:
			return add(xs[0], xs[1])
		case ir.Sub:
			return sub(xs[0], xs[1])
		case ir.Mul:
			return mul(xs[0], xs[1])
		}
	}
	return thr.Apply{Op: v.Op, T: t, R: register(v.Type.DT), Args: xs}
}

// convert is a value, as registers hold it, in another type, not yet rounded to 16 bits.
func convert(from, to dtype.Type, x thr.Expr) thr.Expr {
	if from == to {
		return x
	}
	if from.Is8() {
		x, from = decode8(from, x), decoded8(from)
	}
	if to.Is8() {
		return encode8(to, convert(from, decoded8(to), clamp8(from, to, x)))
	}
	if from, to := register(from), register(to); from != to {
		return thr.Apply{Op: ir.Cast, T: from, R: to, Args: []thr.Expr{x}}
	}
	return x
}
