package plan

import (
	"slices"

	"github.com/gotile/gotile/internal/ir"
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
			l.fenceOperand(b)
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

// usedLater reports whether somebody other than the given ops still needs a value.
func (l *lowering) usedLater(v *ir.Value, in []*ir.Value) bool {
	for _, u := range l.flow.users[v] {
		// A virtual op of the batch may be computed again after it.
		if l.done[u] || slices.Contains(in, u) && !virtual(u) {
			continue
		}
		// A pending pure op counts only if something needs it in turn, through virtual ops too.
		if !ir.Table[u.Op].Pure() || l.usedLater(u, in) {
			return true
		}
	}
	return false
}

// reshapes reports whether an op's operand has another distribution than its result: it is no part of the loop that the
// result is.
func reshapes(op ir.Op) bool { return op == ir.Broadcast || op == ir.Transpose || op == ir.Subtile }

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
		if !reshapes(v.Op) && v.Op != ir.Get {
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
