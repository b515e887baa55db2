package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// Copies in flight. A CopyAsync is a write that begins at the op and ends at a WaitGroup; then it is as any write of
// its threads, and the others wait for it at a barrier. Between the two nobody may access what it writes, and no barrier
// helps. Which stage of a tile an access means is often known at run time only. The planner reports what is certain: an
// access of the same place, and one of any place when the copy is of an earlier iteration and no WaitGroup followed it.
// The rest the simulator finds.

// commit counts the groups that are younger than each copy, up to more than any WaitGroup asks for.
func (h hazards) commit(most int) {
	h.change(func(t *touch) { t.flight = min(t.flight+1, most+2) })
}

// wait ends the copies with at least n younger groups.
func (h hazards) wait(groups thr.Expr) {
	n, _ := intOf(groups)
	h.change(func(t *touch) {
		switch {
		case t.flight >= n+2:
			t.flight, t.waited = 0, false
		case t.flight >= 2:
			t.waited = true
		}
	})
}

// change applies f to the copies in flight. Copies that differ only in age may become each other's like.
func (h hazards) change(f func(t *touch)) {
	changed := hazards{}
	for t, pos := range h {
		if t.flight > 0 {
			delete(h, t)
			f(&t)
			changed[t] = pos
		}
	}
	maps.Copy(h, changed)
}

// refuseInFlight notes an access of what a copy may still be writing.
func (y *syncer) refuseInFlight(h hazards, at thr.At, t touch) {
	if y.err != nil {
		return
	}
	var worst *touch
	for o := range h {
		if o.flight == 0 || o.mem != t.mem || o.op == t.op && o.lap == t.lap {
			continue
		}
		same, apart := y.slot(o).meets(y.slot(t), o.lap == t.lap && !t.peer) // blocks may differ in an index
		if apart || !same && (o.lap <= t.lap || o.waited) {
			continue
		}
		if worst == nil || cmp.Or(o.op-worst.op, o.flight-worst.flight, o.lap-worst.lap, awaited(o)-awaited(*worst)) < 0 {
			worst = &o // the same one in every run
		}
	}
	switch {
	case worst == nil:
	case worst.flight == 1:
		y.err = positioned(ir.ErrScope, at.Pos, "%s is used here, but the copy to it of %s is not committed; put tile.Commit and tile.WaitGroup between the two", t.name(), h[*worst])
	case worst.waited:
		y.err = positioned(ir.ErrScope, at.Pos, "%s is used here, but the copy to it of %s may be in flight: the tile.WaitGroup between the two leaves its group; wait with a smaller number", t.name(), h[*worst])
	default:
		y.err = positioned(ir.ErrScope, at.Pos, "%s is used here, but the copy to it of %s may be in flight; put a tile.WaitGroup between the two", t.name(), h[*worst])
	}
}

// awaited is 1 after a WaitGroup that left the copy in flight.
func awaited(t touch) int {
	if t.waited {
		return 1
	}
	return 0
}

// slot is which part of a shared tile an op accesses: its offsets in the dimensions before the op's own.
type slot []string

// meets compares two parts of one tile: the same for certain, or apart for certain. Values that are no constants are
// the same only within one iteration.
func (a slot) meets(b slot, iteration bool) (same, apart bool) {
	same = true
	for i := range min(len(a), len(b)) {
		constant := a[i][0] == '#' && b[i][0] == '#'
		switch {
		case a[i] != b[i] && constant:
			return false, true
		case a[i] != b[i] || !constant && !iteration:
			same = false
		}
	}
	return same, false
}

// use is an op's access of a shared tile.
type use struct {
	op   int
	tile *ir.SharedTile
}

// slot is the part that a touch is of.
func (y *syncer) slot(t touch) slot {
	b, _ := t.mem.(*thr.SharedBuf)
	return y.slots[use{t.op, y.origins[b].tile}]
}

// sharedSlots finds the parts of shared tiles that ops access.
func sharedSlots(k *ir.Kernel, f *flow) map[use]slot {
	out := map[use]slot{}
	ir.EachOp(k.Body, func(v *ir.Value) {
		add := func(t *ir.SharedTile, offsets []*ir.Value, rank int) {
			if t == nil {
				return
			}
			var s slot
			for _, o := range offsets[:len(offsets)-rank] {
				o = f.canonical(o)
				if o.Op == ir.Const {
					s = append(s, fmt.Sprint("#", o.Attr))
				} else {
					s = append(s, fmt.Sprintf("%p", o))
				}
			}
			out[use{v.ID, t}] = s
		}
		switch a := v.Attr.(type) {
		case *ir.Access:
			if a.Shared != nil {
				add(a.Shared, v.Args[len(v.Args)-len(a.Shared.Shape):], v.Type.Span.Rank()) // without a peer's rank
			}
		case *ir.CopyInfo:
			add(a.Dst, v.Args[:len(a.Dst.Shape)], v.Type.Span.Rank())
		case *ir.MMAInfo:
			const matrix = 2
			_, x, y := v.Operands()
			add(a.A, x, matrix)
			if b := out[use{v.ID, a.B}]; a.A == nil || a.A != a.B {
				add(a.B, y, matrix)
			} else if add(a.B, y, matrix); !slices.Equal(b, out[use{v.ID, a.B}]) { // two parts of one tile: neither for certain
				out[use{v.ID, a.B}] = slot{"two"}
			}
		}
	})
	return out
}

// byCopy begins touch.where of a copy.
const byCopy = "a copy"

// copyUses says which thread writes what of the box of a copy. Boxes of one tile coincide or lie apart, so that copies
// of one distribution never write each other's elements, whichever stages they mean.
func copyUses(k *ir.Kernel) map[int]string {
	out := map[int]string{}
	ir.EachOp(k.Body, func(v *ir.Value) {
		if i, ok := v.Attr.(*ir.CopyInfo); ok {
			out[v.ID] = ownBox(i.Dst, v.Scope, v.Type.Span.Dist)
		}
	})
	return out
}

// ownBox names who has what of a box of a shared tile.
func ownBox(t *ir.SharedTile, s ir.Scope, d *layout.Dist) string {
	return fmt.Sprint(byCopy, len(t.Shape), s, d)
}

// wholeUses says the same of loads and stores of whole boxes, so that a thread which copies what it alone reads and writes
// needs no barrier between the two.
func wholeUses(k *ir.Kernel) map[int]string {
	out := map[int]string{}
	ir.EachOp(k.Body, func(v *ir.Value) {
		a, ok := v.Attr.(*ir.Access)
		if !ok || a.Shared == nil || a.Peer || v.Type.Span == nil {
			return
		}
		d, shape := v.Type.Span.Dist, a.Shared.Shape
		first := len(shape) - d.Rank()
		whole := d.Copies() == 1 && slices.Equal(d.Shape, shape[first:])
		for _, o := range v.Args[len(v.Args)-d.Rank():] {
			n, constant := constInt(o)
			whole = whole && constant && n == 0
		}
		if whole {
			out[v.ID] = ownBox(a.Shared, v.Scope, d)
		}
	})
	return out
}

// mostGroups is the largest number of groups that a WaitGroup leaves in flight.
func mostGroups(k *ir.Kernel) int {
	most := 0
	ir.EachOp(k.Body, func(v *ir.Value) {
		if n, ok := v.Attr.(ir.Groups); ok {
			most = max(most, int(n))
		}
	})
	return most
}
