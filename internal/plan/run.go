package plan

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// element is what a run knows of one value at one element.
type element map[*ir.Value]thr.Expr

// run emits one loop over a thread's elements that computes what sinks and keeps need.
func (l *lowering) run(sinks, keeps []*ir.Value) {
	var span *ir.Span
	if len(sinks) > 0 {
		_, span = operand(sinks[0])
	} else {
		span = keeps[0].Type.Span
	}
	ops := l.gather(sinks, keeps)
	all := append(slices.Clone(ops), sinks...)
	slices.SortStableFunc(all, func(a, b *ir.Value) int { return a.ID - b.ID })

	// Everything from outside the loop first.
	for _, v := range all {
		l.extents(v.Type.Span)
		for _, a := range v.Args {
			l.extents(a.Type.Span)
			if a = l.flow.canonical(a); a.Type.Span == nil {
				if a.Op != ir.Var {
					l.scalarLocal(a)
				}
			} else if reshapes(v.Op) {
				l.available(a)
			}
		}
	}
	kept := map[*ir.Value]bool{}
	for _, v := range ops {
		needed := slices.Contains(keeps, v) || slices.ContainsFunc(sinks, func(s *ir.Value) bool { return s.Op == ir.Store && l.flow.canonical(s.Args[0]) == v })
		if needed || !virtual(v) && l.usedLater(v, all) {
			kept[v] = true
			l.tiles[v] = l.tileArray(v)
		}
	}
	accs := map[*ir.Value]*thr.Local{}
	for _, s := range sinks {
		switch {
		case s.Op == ir.Var:
			l.vars[s] = l.tileArray(s)
		case ir.Table[s.Op].Class == ir.Reduction:
			accs[s] = l.startReduction(s)
		}
	}
	if len(ops) == 0 && !slices.ContainsFunc(sinks, func(s *ir.Value) bool { return s.Op != ir.Store }) {
		return // only stores of what is in registers already
	}

	n := span.Dist.Values()
	width := l.runWidth(n, all)
	uses := map[*ir.Value]int{}
	for _, v := range all {
		for _, a := range v.Args {
			uses[l.flow.canonical(a)]++
		}
	}
	l.unrolled(n/width, func(i thr.Expr) {
		lanes := make([]element, width)
		for p := range lanes {
			lanes[p] = element{}
		}
		for _, v := range all {
			l.cur = v
			if isSink(v) {
				l.sink(v, span, lanes, i, accs)
				continue
			}
			if kept[v] && v.Op == ir.Get && each(v.Type) > 1 && width >= each(v.Type) {
				l.moveRegisters(l.tiles[v], l.vars[v.Args[0]], i, width/each(v.Type))
				continue
			}
			if src := l.moved8(v, lanes[0]); kept[v] && src != nil {
				l.moveRegisters(l.tiles[v], src, i, width/each(v.Type))
				continue
			}
			xs := make([]thr.Expr, width)
			for p := range lanes {
				e := elem{i, width, p}
				operandAt := func(a *ir.Value) thr.Expr { return l.read(a, span, lanes[p], e) }
				switch {
				case v.Op == ir.Coord:
					xs[p] = l.coordOf(v.Type.Span, v.Attr.(int), e)
				case v.Op == ir.Elect:
					xs[p] = call(thr.Elect, dtype.Bool)
				case v.Op == ir.Get:
					xs[p] = l.readArray(l.vars[v.Args[0]], v.Type, e)
				case v.Op == ir.Broadcast:
					xs[p] = l.broadcastAt(v, e)
				case v.Op == ir.Transpose || v.Op == ir.Subtile:
					xs[p] = l.viewed(v, e)
				case v.Op == ir.Fill:
					xs[p] = l.filled(v, e, operandAt)
				case kept[v]:
					xs[p] = l.unrounded(v, operandAt) // rounded by the packing
				default:
					xs[p] = l.elementwise(v, operandAt)
				}
			}
			if kept[v] {
				l.writeArray(l.tiles[v], v.Type, i, xs)
				continue
			}
			for p := range lanes {
				if uses[v] > 1 && !trivial(xs[p]) || v.Op == ir.Get && l.outlives(v, sinks, all, kept, uses) {
					name := l.name(v, "t")
					if width > 1 {
						name += "_" + string(rune('0'+p))
					}
					xs[p] = ref(l.local(name, thr.Val(register(v.Type.DT)), xs[p]))
				}
				lanes[p][v] = xs[p]
			}
		}
	})
	for _, v := range ops {
		if kept[v] {
			l.done[v] = true
		}
	}
}

// outlives reports whether a read of a variable is used after the batch has assigned to it, so that it needs a local.
func (l *lowering) outlives(get *ir.Value, sinks, all []*ir.Value, kept map[*ir.Value]bool, uses map[*ir.Value]int) bool {
	var last func(v *ir.Value) int // where the expression of v is written for the last time
	last = func(v *ir.Value) int {
		id := v.ID
		for _, u := range all {
			if !slices.ContainsFunc(u.Args, func(a *ir.Value) bool { return l.flow.canonical(a) == v }) {
				continue
			}
			at := u.ID
			if !isSink(u) && !kept[u] && (uses[u] <= 1 || u.Op == ir.Cast || u.Op == ir.Fill) { // part of its users' expressions
				at = last(u)
			}
			id = max(id, at)
		}
		return id
	}
	end := last(get)
	return slices.ContainsFunc(sinks, func(s *ir.Value) bool {
		return s.Op == ir.Set && s.Args[0] == get.Args[0] && get.ID < s.ID && s.ID < end
	})
}

// sink emits a sink's part of the loop body.
func (l *lowering) sink(v *ir.Value, span *ir.Span, lanes []element, i thr.Expr, accs map[*ir.Value]*thr.Local) {
	if v.Op == ir.Store {
		return // after the loop, from registers
	}
	x, _ := operand(v)
	if dst := l.assigned(v); dst != nil && len(lanes) > 1 {
		if src := l.packed(x, lanes[0]); src != nil {
			l.moveRegisters(dst, src, i, len(lanes)/each(x.Type))
			return
		}
	}
	xs := make([]thr.Expr, len(lanes))
	for p := range lanes {
		e := elem{i, len(lanes), p}
		xs[p] = l.read(x, span, lanes[p], e)
		if acc := accs[v]; acc != nil {
			l.accumulate(v, acc, xs[p], e)
		}
	}
	if dst := l.assigned(v); dst != nil {
		l.writeArray(dst, ir.Type{DT: x.Type.DT, Span: span}, i, xs)
	}
}

// moveRegisters copies registers n*i to n*i + n-1 of an array.
func (l *lowering) moveRegisters(dst, src *thr.Local, i thr.Expr, n int) {
	for r := range n {
		e := elem{i, n, r}.expr()
		l.emit(thr.Assign{At: l.at(), Dst: at(dst, e), Src: at(src, e)})
	}
}
