package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// keep puts a tile into a register array.
func (l *lowering) keep(v *ir.Value) { l.run(nil, []*ir.Value{v}) }

// available makes sure that a tile can be read at any later point: in registers, or cheap to recompute from what is.
func (l *lowering) available(v *ir.Value) {
	v = l.flow.canonical(v)
	if l.tiles[v] != nil || v.Op == ir.Var {
		return
	}
	if virtual(v) {
		for _, a := range v.Args {
			if a.Type.Span == nil {
				l.scalarLocal(a)
			} else {
				l.available(a)
			}
		}
		return
	}
	l.keep(v)
}

// virtual reports whether a value is never kept: recomputing it costs no more than reading it. Widening a packed
// 16-bit value is one instruction and saves a register for every two elements; one product of two such is two
// instructions and saves as much.
func virtual(v *ir.Value) bool {
	switch v.Op {
	case ir.Broadcast, ir.Coord, ir.Elect, ir.Transpose, ir.Subtile:
		return true
	case ir.Cast:
		return widens(v)
	case ir.Add, ir.Sub, ir.Mul:
		for _, a := range v.Args {
			if a.Op == ir.Broadcast {
				a = a.Args[0]
			}
			if !widens(a) {
				return false
			}
		}
		return v.Type.DT == dtype.F32
	}
	return false
}

// widens reports whether a value is a packed tile's, converted to f32.
func widens(v *ir.Value) bool {
	if v.Op != ir.Cast || v.Type.Span == nil || v.Type.DT != dtype.F32 {
		return false
	}
	from := v.Args[0]
	return from.Type.DT.Is16() && (from.Op == ir.Load || from.Op == ir.Get)
}

// read is an operand at an element.
func (l *lowering) read(a *ir.Value, span *ir.Span, known element, e elem) thr.Expr {
	a = l.flow.canonical(a)
	if a.Type.Span == nil {
		return l.scalar(a)
	}
	if x, ok := known[a]; ok {
		return x
	}
	return l.readArray(l.tiles[a], a.Type, e)
}

// broadcastAt is the element of the reduced tile that a broadcast repeats.
func (l *lowering) broadcastAt(v *ir.Value, e elem) thr.Expr {
	src := l.flow.canonical(v.Args[0])
	if src.Type.Span == nil {
		return l.scalar(src)
	}
	return l.reduced(src, project(v.Type.Span.Dist, goneAxes(v), e))
}

// reduced reads a tile that is available, through virtual ops.
func (l *lowering) reduced(v *ir.Value, e elem) thr.Expr {
	v = l.flow.canonical(v)
	if v.Type.Span == nil {
		return l.scalar(v)
	}
	if x := l.tiles[v]; x != nil {
		return l.readArray(x, v.Type, e)
	}
	switch v.Op {
	case ir.Broadcast:
		return l.broadcastAt(v, e)
	case ir.Transpose, ir.Subtile:
		return l.viewed(v, e)
	case ir.Coord:
		return l.coordOf(v.Type.Span, v.Attr.(int), e)
	case ir.Elect:
		return call(thr.Elect, dtype.Bool)
	case ir.Get:
		return l.readArray(l.vars[v.Args[0]], v.Type, e)
	case ir.Fill:
		return l.filled(v, e, func(a *ir.Value) thr.Expr { return l.reduced(a, e) })
	}
	return l.elementwise(v, func(a *ir.Value) thr.Expr { return l.reduced(a, e) })
}

// viewed is an element of a tile whose values are those of its operand.
func (l *lowering) viewed(v *ir.Value, e elem) thr.Expr {
	x := v.Args[0]
	if v.Op == ir.Transpose {
		return l.reduced(x, e)
	}
	a := v.Attr.(ir.SliceInfo)
	_, base, digits, err := x.Type.Span.Dist.Slice(a.Axis, a.Start, a.N)
	if err != nil {
		l.fail(v.Pos, "%v", err)
		return i32(0)
	}
	return l.reduced(x, subtileElem(v.Type.Span.Dist.Values(), base, digits, e))
}

// subtileElem is the number of a slice's element in the whole tile. As far as the lowest digits are the same, lanes of
// an element stay lanes, so that pairs of 16-bit values stay pairs.
func subtileElem(n, base int, digits radix, e elem) elem {
	same := 1
	for len(digits) > 0 && digits[0].Place == same {
		same *= digits[0].Size
		digits = digits[1:]
	}
	if same%e.width != 0 || base%e.width != 0 {
		e = elem{e.expr(), 1, 0}
	}
	i, pre := add(i32(base/e.width), digit(elem{e.i, 1, 0}, 1, same/e.width, n/e.width)), same
	for _, p := range digits {
		i = add(i, mul(digit(elem{e.i, 1, 0}, pre/e.width, p.Size, n/e.width), i32(p.Place/e.width)))
		pre *= p.Size
	}
	return elem{i, e.width, e.lane}
}

// filled is an element of a tile whose masked elements take a value.
func (l *lowering) filled(v *ir.Value, e elem, operandAt func(*ir.Value) thr.Expr) thr.Expr {
	x, y := v.Args[0], v.Args[1]
	p := l.inside(x.Type.Span, e, l.fillAxes(v)...)
	if p == nil {
		return operandAt(x)
	}
	t := register(v.Type.DT)
	return thr.Apply{Op: ir.Select, T: t, R: t, Args: []thr.Expr{p, operandAt(x), operandAt(y)}}
}

// fillAxes are the axes along which a Fill has to look: not those along which the masked elements have the value
// already.
func (l *lowering) fillAxes(v *ir.Value) []int {
	x, y := v.Args[0], v.Args[1]
	zero := y.Op == ir.Const && y.Attr.(ir.Bits) == 0
	var out []int
	for _, axis := range v.Attr.([]int) {
		if !zero || !l.zeroMasked(x, axis, extentOf(x.Type.Span, axis), 0) {
			out = append(out, axis)
		}
	}
	return out
}

// goneAxes says which axes of a broadcast's result its operand lacks.
func goneAxes(v *ir.Value) func(axis int) bool {
	src, d := v.Args[0].Type.Span, v.Type.Span.Dist
	for axis := range d.Rank() {
		if src != nil && src.Dist.Equal(d.Reduce(axis)) {
			return func(a int) bool { return a == axis }
		}
	}
	return func(int) bool { return true }
}
