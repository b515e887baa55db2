package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// inverseUnitLower is forward substitution: each lane solves for its column of the inverse, row by row. Element k of a
// row of L is what the lane of column k has of it.
func (l *lowering) inverseUnitLower(v *ir.Value) {
	x := l.flow.canonical(v.Args[0])
	l.available(x)
	l.cur = v
	n := v.Type.Span.Dist.Shape[0]
	l.comment("inverse_unit_lower: a lane has a column")
	inv := l.tileArray(v)
	l.tiles[v] = inv
	row := &thr.Local{Name: l.names.loop(), Type: thr.Val(dtype.I32)}
	body := l.into(func() {
		sum := l.local("sum", thr.Val(dtype.F32), thr.Apply{Op: ir.Select, T: dtype.F32, R: dtype.F32, Args: []thr.Expr{
			equal(l.coordOf(v.Type.Span, 1, elem{i32(0), 1, 0}), ref(row)), f32(1), f32(0)}})
		col := &thr.Local{Name: l.names.loop(), Type: thr.Val(dtype.I32)}
		inner := l.into(func() {
			of := l.local("of", thr.Val(dtype.F32), call(thr.ShflIdx, dtype.F32, l.reduced(x, elem{ref(row), 1, 0}), ref(col)))
			neg := thr.Apply{Op: ir.Neg, T: dtype.F32, R: dtype.F32, Args: []thr.Expr{ref(of)}}
			l.emit(thr.Assign{At: l.at(), Dst: ref(sum), Src: thr.Apply{Op: ir.Fma, T: dtype.F32, R: dtype.F32, Args: []thr.Expr{neg, at(inv, ref(col)), ref(sum)}}})
		})
		l.names.endLoop()
		l.emit(thr.For{At: l.at(), Var: col, Lo: i32(0), Hi: ref(row), Step: i32(1), Unroll: true, Body: inner},
			thr.Assign{At: l.at(), Dst: at(inv, ref(row)), Src: ref(sum)})
	})
	l.names.endLoop()
	l.emit(thr.For{At: l.at(), Var: row, Lo: i32(0), Hi: i32(n), Step: i32(1), Unroll: true, Body: body})
}
