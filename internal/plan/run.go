package plan

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// joins reports whether a sink can share the loop of the batch: the same distribution, and nothing it needs comes
// from the batch itself.
func (l *lowering) joins(v *ir.Value) bool {
	if len(l.batch) == 0 {
		return true
	}
	x, s := operand(v)
	if _, t := operand(l.batch[0]); !s.SameShape(t) {
		return false
	}
	return !l.dependsOn(x, map[*ir.Value]bool{})
}

// dependsOn reports whether a pending value needs a result of the batch. A read of a variable that the batch assigns
// does not count: within a loop it sees the new value, element by element.
func (l *lowering) dependsOn(v *ir.Value, seen map[*ir.Value]bool) bool {
	v = l.flow.canonical(v)
	if slices.Contains(l.batch, v) {
		return true
	}
	if seen[v] || l.tiles[v] != nil || v.Op == ir.Get {
		return false
	}
	seen[v] = true
	if !ir.Table[v.Op].Pure() {
		return false
	}
	for _, a := range v.Args {
		if l.dependsOn(a, seen) {
			return true
		}
	}
	return false
}

// flush emits the batch.
func (l *lowering) flush() {
	if len(l.batch) == 0 {
		return
	}
	batch := l.batch
	l.batch = nil
	l.cur = batch[0]
	l.run(batch, l.overwritten(batch))
	for _, b := range batch {
		l.done[b] = true
	}
	l.finishReductions(batch)
	for _, b := range batch {
		if b.Op == ir.Store {
			l.cur = b
			l.storeTile(b)
		}
	}
}

// overwritten lists the pending reads of variables that the batch assigns after them and that something beyond the
// batch needs: the batch's loop keeps them, each at its place among the assignments.
func (l *lowering) overwritten(batch []*ir.Value) []*ir.Value {
	in := append(l.gather(batch, nil), batch...)
	var out []*ir.Value
	for _, g := range l.gets {
		assigned := func(b *ir.Value) bool { return b.Op == ir.Set && b.Args[0] == g.Args[0] && b.ID > g.ID }
		if l.tiles[g] == nil && slices.ContainsFunc(batch, assigned) && l.usedLater(g, in) {
			out = append(out, g)
		}
	}
	return out
}

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
	case ir.Broadcast, ir.Coord:
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

// usedLater reports whether somebody other than the given ops still needs a value.
func (l *lowering) usedLater(v *ir.Value, in []*ir.Value) bool {
	for _, u := range l.flow.users[v] {
		if l.done[u] || slices.Contains(in, u) {
			continue
		}
		// A pending pure op counts only if something needs it in turn, through virtual ops too.
		if !ir.Table[u.Op].Pure() || l.usedLater(u, in) {
			return true
		}
	}
	return false
}

// gather lists the pending tile ops that sinks and keeps need, of their distribution, in program order.
func (l *lowering) gather(sinks, keeps []*ir.Value) []*ir.Value {
	var ops []*ir.Value
	seen := map[*ir.Value]bool{}
	var visit func(v *ir.Value)
	visit = func(v *ir.Value) {
		v = l.flow.canonical(v)
		if v.Type.Span == nil || seen[v] || l.tiles[v] != nil {
			return
		}
		seen[v] = true
		if v.Op != ir.Broadcast && v.Op != ir.Get {
			for _, a := range v.Args {
				visit(a)
			}
		}
		ops = append(ops, v)
	}
	for _, s := range sinks {
		x, _ := operand(s)
		visit(x)
	}
	for _, k := range keeps {
		visit(k)
	}
	slices.SortFunc(ops, func(a, b *ir.Value) int { return a.ID - b.ID })
	return ops
}

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
			} else if v.Op == ir.Broadcast {
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

	n, width := span.Dist.Values(), 1
	if n%2 == 0 && slices.ContainsFunc(all, func(v *ir.Value) bool { return l.touchesPairs(v) }) {
		width = 2
	}
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
			if kept[v] && v.Op == ir.Get && width == 2 && paired(v.Type) {
				l.emit(thr.Assign{At: l.at(), Dst: at(l.tiles[v], i), Src: at(l.vars[v.Args[0]], i)})
				continue
			}
			xs := make([]thr.Expr, width)
			for p := range lanes {
				e := elem{i, width, p}
				operandAt := func(a *ir.Value) thr.Expr { return l.read(a, span, lanes[p], e) }
				switch {
				case v.Op == ir.Coord:
					xs[p] = l.coordOf(v.Type.Span, v.Attr.(int), e)
				case v.Op == ir.Get:
					xs[p] = l.readArray(l.vars[v.Args[0]], v.Type, e)
				case v.Op == ir.Broadcast:
					xs[p] = l.broadcastAt(v, e)
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
					if width == 2 {
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
	case ir.Coord:
		return l.coordOf(v.Type.Span, v.Attr.(int), e)
	case ir.Get:
		return l.readArray(l.vars[v.Args[0]], v.Type, e)
	case ir.Fill:
		return l.filled(v, e, func(a *ir.Value) thr.Expr { return l.reduced(a, e) })
	}
	return l.elementwise(v, func(a *ir.Value) thr.Expr { return l.reduced(a, e) })
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
		if !zero || !l.zeroMasked(x, axis, 0) {
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

// sink emits a sink's part of the loop body.
func (l *lowering) sink(v *ir.Value, span *ir.Span, lanes []element, i thr.Expr, accs map[*ir.Value]*thr.Local) {
	if v.Op == ir.Store {
		return // after the loop, from registers
	}
	x, _ := operand(v)
	if dst := l.assigned(v); dst != nil && len(lanes) == 2 {
		if src := l.packed(x, lanes[0]); src != nil { // whole registers
			l.emit(thr.Assign{At: l.at(), Dst: at(dst, i), Src: at(src, i)})
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
