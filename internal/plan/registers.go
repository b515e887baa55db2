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

// touches reports whether an op of a run reads or writes registers that hold values of such a type.
func (l *lowering) touches(v *ir.Value, packed func(dtype.Type) bool) bool {
	if v.Type.Span != nil && packed(v.Type.DT) && (l.tiles[v] != nil || v.Op == ir.Get || v.Op == ir.Var) {
		return true
	}
	return slices.ContainsFunc(v.Args, func(a *ir.Value) bool {
		a = l.flow.canonical(a)
		return a.Type.Span != nil && packed(a.Type.DT) && (l.tiles[a] != nil || a.Op == ir.Var)
	})
}

// runWidth is how many of the n values of a thread a run computes at once: as many as a register holds of those that it
// reads or writes.
func (l *lowering) runWidth(n int, ops []*ir.Value) int {
	touched := func(packed func(dtype.Type) bool) bool {
		return slices.ContainsFunc(ops, func(v *ir.Value) bool { return l.touches(v, packed) })
	}
	switch {
	case n%4 == 0 && touched(dtype.Type.Is8):
		return 4
	case n%2 == 0 && touched(dtype.Type.Is16):
		return 2
	}
	return 1
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

// packed is where a tile of packed values lies as it is, nil where it has to be computed. A read of a variable that the loop
// knows in a local may be older than what the variable now holds.
func (l *lowering) packed(v *ir.Value, known element) *thr.Local {
	v = l.flow.canonical(v)
	if e, ok := known[v]; v.Type.Span == nil || each(v.Type) == 1 || ok && trivial(e) {
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
	t := v.Type.DT
	if t.Is16() || t.Is8() {
		t = dtype.U32
	}
	return l.array(l.name(v, "x"), t, v.Type.Span.Dist.Values()/each(v.Type))
}

// each is how many values of a tile lie in one register: two of 16 bits, four of 8. Where the number of values is no
// multiple of that they lie one to a register, in its low bits.
func each(t ir.Type) int {
	n := 1
	switch {
	case t.DT.Is16():
		n = 2
	case t.DT.Is8():
		n = 4
	}
	if t.Span.Dist.Values()%n != 0 {
		return 1
	}
	return n
}

// paired reports whether a tile's 16-bit values lie in pairs.
func paired(t ir.Type) bool { return t.DT.Is16() && each(t) == 2 }

// readArray is an element of a tile in registers.
func (l *lowering) readArray(x *thr.Local, t ir.Type, e elem) thr.Expr {
	switch {
	case t.DT.Is8() && each(t) == 4:
		if e.width%4 == 0 {
			return byteOf(at(x, add(mul(e.i, i32(e.width/4)), i32(e.lane/4))), i32(e.lane%4))
		}
		n := e.expr()
		return byteOf(at(x, div(n, 4)), rem(n, 4))
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
	if n := each(t); n > 1 {
		for r := range len(xs) / n {
			l.emit(thr.Assign{At: l.at(), Dst: at(x, elem{i, len(xs) / n, r}.expr()), Src: pack(t.DT, xs[n*r:][:n])})
		}
		return
	}
	for p, e := range xs {
		if t.DT.Is16() {
			e = pair(t.DT, e, f32(0))
		}
		l.emit(thr.Assign{At: l.at(), Dst: at(x, elem{i, len(xs), p}.expr()), Src: e})
	}
}

// pack puts values into a register.
func pack(t dtype.Type, xs []thr.Expr) thr.Expr {
	if t.Is8() {
		return fourBytes(xs)
	}
	return pair(t, xs[0], xs[1])
}
