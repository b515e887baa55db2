package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// Index arithmetic, all of it read off the distribution.

// threadCoord is where a thread's first element lies along an axis, computed once at the top of the kernel.
func (l *lowering) threadCoord(s *ir.Span, axis int) thr.Expr {
	key := l.spanKey(s, axis)
	if e, ok := l.hidden[key]; ok {
		return e
	}
	if e, ok := l.coords[key]; ok {
		return e
	}
	var sum thr.Expr = i32(0)
	pre := 1
	for _, m := range s.Dist.Thread {
		if m.Axis == axis {
			sum = add(sum, mul(l.threadDigit(s, pre, m.Size), i32(m.Stride)))
		}
		pre *= m.Size
	}
	if _, leaf := sum.(thr.Const); !leaf {
		name := "col"
		if axis < s.Rank()-1 {
			name = "row"
		}
		sum = l.atTop(name+"0", sum)
	}
	l.coords[key] = sum
	return sum
}

// hide makes coordinates opaque to the compiler while f emits code that is seldom run. Without it everything that the
// element-wise form of an access derives from them (an address and a predicate an element) is hoisted out of the
// enclosing loop and takes registers from the form that matters.
func (l *lowering) hide(s *ir.Span, f func()) {
	save := l.hidden
	hidden := map[string]thr.Expr{}
	for axis := range s.Rank() {
		e := l.threadCoord(s, axis)
		if r, ok := e.(thr.Ref); ok {
			x := l.local(r.Local.Name+"_", r.ExprType(), call(thr.Opaque, dtype.I32, e))
			hidden[l.spanKey(s, axis)] = ref(x)
		}
	}
	l.hidden = hidden
	f()
	l.hidden = save
}

// atTop computes an expression once, at the top of the kernel; the same expression is computed once only.
func (l *lowering) atTop(name string, e thr.Expr) thr.Expr {
	text := thr.Text(e)
	x, ok := l.top[text]
	if !ok {
		x = &thr.Local{Name: l.names.fresh(name), Type: e.ExprType()}
		l.prologue = append(l.prologue, thr.Decl{Local: x, Init: e})
		l.top[text] = x
	}
	return ref(x)
}

// threadDigit is the digit of a thread's number with the given place value and size.
func (l *lowering) threadDigit(s *ir.Span, place, size int) thr.Expr {
	if size == 1 {
		return i32(0)
	}
	n, id := s.Dist.Threads(), call(thr.TID, dtype.I32)
	switch {
	case s.Scope == ir.ScopeWarp:
		id = call(thr.Lane, dtype.I32)
	case s.Scope == ir.ScopeGroup:
		id = l.groupThread()
	case s.Scope == ir.ScopeCluster:
		rank, threads := call(thr.ClusterRank, dtype.I32), l.k.Threads
		switch {
		case threads%(place*size) == 0: // a digit within the block
			n = threads
		case place%threads == 0: // a digit of the block's number
			n, id, place = l.k.Cluster, rank, place/threads
		default:
			id = add(mul(rank, i32(threads)), id)
		}
	}
	e := div(id, place)
	if place*size < n {
		e = rem(e, size)
	}
	return e
}

// valueCoord is how far an element lies from the thread's first one along an axis.
func valueCoord(d *layout.Dist, axis int, e elem) thr.Expr {
	var sum thr.Expr = i32(0)
	pre, n := 1, d.Values()
	for _, m := range d.Value {
		if m.Axis == axis {
			sum = add(sum, mul(digit(e, pre, m.Size, n), i32(m.Stride)))
		}
		pre *= m.Size
	}
	return sum
}

// digit is (e / place) mod size of a number below n.
func digit(e elem, place, size, n int) thr.Expr {
	if place*size >= n {
		return e.div(place)
	}
	if place == 1 {
		return e.rem(size)
	}
	return rem(e.div(place), size)
}

// coordOf is an element's coordinate along an axis of its tile.
func (l *lowering) coordOf(s *ir.Span, axis int, e elem) thr.Expr {
	return add(l.threadCoord(s, axis), valueCoord(s.Dist, axis, e))
}

// project maps an element of d to the element of its reduction over the axes that are not in keep. Kept digits that
// stand together stay together, so that pairs of 16-bit values stay pairs.
func project(d *layout.Dist, gone func(axis int) bool, e elem) elem {
	var out thr.Expr = i32(0)
	pre, place, n := 1, 1, d.Values()
	for i := 0; i < len(d.Value); {
		if gone(d.Value[i].Axis) {
			pre *= d.Value[i].Size
			i++
			continue
		}
		size := 1
		for ; i < len(d.Value) && !gone(d.Value[i].Axis); i++ {
			size *= d.Value[i].Size
		}
		if pre == 1 {
			if size == n {
				return e
			}
			if size%e.width == 0 && onlyGroup(d, gone) {
				return elem{rem(e.i, size/e.width), e.width, e.lane}
			}
		}
		out = add(out, mul(digit(e, pre, size, n), i32(place)))
		pre *= size
		place *= size
	}
	return elem{out, 1, 0}
}

// onlyGroup reports whether all kept digits come first.
func onlyGroup(d *layout.Dist, gone func(axis int) bool) bool {
	ended := false
	for _, m := range d.Value {
		if gone(m.Axis) {
			ended = true
		} else if ended {
			return false
		}
	}
	return true
}

// extent is the number of valid elements along an axis, nil where every element of the distribution is valid.
func (l *lowering) extent(s *ir.Span, axis int) thr.Expr {
	shape, ragged := s.Dist.Shape[axis], s.Dist.Covered(axis) > s.Dist.Shape[axis]
	var ext *ir.Value
	if axis < len(s.Extent) {
		ext = s.Extent[axis]
	}
	if ext == nil {
		if ragged {
			return i32(shape)
		}
		return nil
	}
	ext = l.flow.canonical(ext)
	if s.Dist.Covered(axis) == 1 && l.positive(ext) {
		return nil
	}
	e := l.scalarLocal(ext)
	if n, ok := intOf(e); ok {
		if n >= s.Dist.Covered(axis) {
			return nil
		}
		return e
	}
	if ragged && !bounded(ext, shape) {
		return l.capped(ext, e, shape)
	}
	return e
}

// extents computes a span's extents here, before the loops that test them.
func (l *lowering) extents(s *ir.Span) {
	for axis := range s.Rank() {
		l.extent(s, axis)
	}
}

// positive reports whether an extent is certain to be at least 1: what is left of a loop's range within its body.
func (l *lowering) positive(ext *ir.Value) bool {
	if ext.Op != ir.Sub {
		return false
	}
	i := ext.Args[1]
	if i.Op != ir.Invalid || i.In == nil || i.In.Owner == nil {
		return false
	}
	switch loop := i.In.Owner; loop.Op {
	case ir.Persistent:
		return l.flow.canonical(loop.Args[0]) == l.flow.canonical(ext.Args[0])
	case ir.Range:
		return l.flow.canonical(loop.Args[1]) == l.flow.canonical(ext.Args[0])
	}
	return false
}

// bounded reports whether the launch sees to it that an extent is at most n.
func bounded(ext *ir.Value, n int) bool {
	y, ok := ext.Attr.(*ir.Symbol)
	return ok && ext.Op == ir.Dim && y.Max > 0 && y.Max <= n
}

// capped is min(extent, shape): a tile whose distribution reaches past its shape must not serve what lies there.
func (l *lowering) capped(ext *ir.Value, e thr.Expr, shape int) thr.Expr {
	c := thr.Apply{Op: ir.Min, T: dtype.I32, R: dtype.I32, Args: []thr.Expr{e, i32(shape)}}
	if ext.In != nil { // lives in a region: a local here, not at the top
		return c
	}
	return l.atTop("extent", c)
}

// inside is the predicate that an element is valid along the given axes; nil: always.
func (l *lowering) inside(s *ir.Span, e elem, axes ...int) thr.Expr {
	var p thr.Expr
	for _, a := range axes {
		if ext := l.extent(s, a); ext != nil {
			p = and(p, less(l.coordOf(s, a, e), ext))
		}
	}
	return p
}

func allAxes(s *ir.Span) []int {
	out := make([]int, s.Rank())
	for i := range out {
		out[i] = i
	}
	return out
}

// firstCopy is the predicate that a thread is the first of those that hold copies of a tile; nil: no copies.
func (l *lowering) firstCopy(s *ir.Span) thr.Expr {
	var p thr.Expr
	pre := 1
	for _, m := range s.Dist.Thread {
		if m.Axis == layout.Replicated && m.Size > 1 {
			p = and(p, equal(l.threadDigit(s, pre, m.Size), i32(0)))
		}
		pre *= m.Size
	}
	return p
}
