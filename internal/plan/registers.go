package plan

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

func trivial(e thr.Expr) bool {
	switch e := e.(type) {
	case thr.Const, thr.ArgRef:
		return true
	case thr.Ref:
		return e.Index == nil
	}
	return false
}

// touchesPairs reports whether an op of a run reads or writes packed registers.
func (l *lowering) touchesPairs(v *ir.Value) bool {
	if v.Type.Span != nil && v.Type.DT.Is16() && (l.tiles[v] != nil || v.Op == ir.Get || v.Op == ir.Var) {
		return true
	}
	return slices.ContainsFunc(v.Args, func(a *ir.Value) bool {
		a = l.flow.canonical(a)
		return a.Type.Span != nil && a.Type.DT.Is16() && (l.tiles[a] != nil || a.Op == ir.Var)
	})
}

// assigned is the variable that a sink gives a value; nil for other sinks.
func (l *lowering) assigned(v *ir.Value) *thr.Local {
	switch v.Op {
	case ir.Var:
		return l.vars[v]
	case ir.Set:
		return l.vars[v.Args[0]]
	}
	return nil
}

// packed is where a tile of pairs lies as it is, nil where it has to be computed. A read of a variable that the loop
// knows in a local may be older than what the variable now holds.
func (l *lowering) packed(v *ir.Value, known element) *thr.Local {
	v = l.flow.canonical(v)
	if e, ok := known[v]; v.Type.Span == nil || !paired(v.Type) || ok && trivial(e) {
		return nil
	}
	switch {
	case l.tiles[v] != nil:
		return l.tiles[v]
	case v.Op == ir.Get:
		return l.vars[v.Args[0]]
	case v.Op == ir.Fill && len(l.fillAxes(v)) == 0:
		return l.packed(v.Args[0], known)
	}
	return nil
}

// tileArray declares the registers of a tile.
func (l *lowering) tileArray(v *ir.Value) *thr.Local {
	t, n := v.Type.DT, v.Type.Span.Dist.Values()
	switch {
	case paired(v.Type):
		t, n = dtype.U32, n/2
	case t.Is16():
		t = dtype.U32
	}
	return l.array(l.name(v, "x"), t, n)
}

// paired reports whether a tile's 16-bit values lie in pairs. An odd number of them lies one to a register, in the
// lower half.
func paired(t ir.Type) bool { return t.DT.Is16() && t.Span.Dist.Values()%2 == 0 }

// readArray is an element of a tile in registers.
func (l *lowering) readArray(x *thr.Local, t ir.Type, e elem) thr.Expr {
	switch {
	case !t.DT.Is16():
		return at(x, e.expr())
	case !paired(t):
		return call(half(t.DT, 0), dtype.F32, at(x, e.expr()))
	case e.width%2 == 0:
		r := at(x, add(mul(e.i, i32(e.width/2)), i32(e.lane/2)))
		return call(half(t.DT, e.lane%2), dtype.F32, r)
	}
	n := e.expr()
	if v, ok := intOf(n); ok {
		return call(half(t.DT, v%2), dtype.F32, at(x, i32(v/2)))
	}
	r := at(x, div(n, 2))
	return thr.Apply{Op: ir.Select, T: dtype.F32, R: dtype.F32, Args: []thr.Expr{
		equal(rem(n, 2), i32(0)), call(half(t.DT, 0), dtype.F32, r), call(half(t.DT, 1), dtype.F32, r)}}
}

// writeArray assigns the elements width*i .. width*i+width-1 of a tile in registers.
func (l *lowering) writeArray(x *thr.Local, t ir.Type, i thr.Expr, xs []thr.Expr) {
	if paired(t) {
		l.emit(thr.Assign{At: l.at(), Dst: at(x, i), Src: pair(t.DT, xs[0], xs[1])})
		return
	}
	for p, e := range xs {
		if t.DT.Is16() {
			e = pair(t.DT, e, f32(0))
		}
		l.emit(thr.Assign{At: l.at(), Dst: at(x, elem{i, len(xs), p}.expr()), Src: e})
	}
}
