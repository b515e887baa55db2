package plan

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// A consumer that multiplies by wgmma gives the slot of the iteration before back when it has issued the multiplies of this
// one, and goes on without waiting for them. The first iteration has none to give back, and the last slot is given back
// behind the loop.

// deferReleases declares, before a loop, the slots that its body gives back an iteration later.
func (l *lowering) deferReleases(body *ir.Region) []*ir.Value {
	var out []*ir.Value
	for _, v := range body.Ops {
		if v.Op == ir.SlotRelease && l.defers(v, body) {
			p := l.pipes[v.Attr.(*ir.SlotInfo).Pipe]
			l.deferred[v] = l.local(p.Name+"_prev", thr.Val(dtype.I32), i32(-1))
			out = append(out, v)
		}
	}
	return out
}

// releaseLast gives back, behind the loop, what its last iteration read.
func (l *lowering) releaseLast(releases []*ir.Value) {
	for _, v := range releases {
		l.cur = v
		prev := ref(l.deferred[v])
		l.giveBack(v, l.pipes[v.Attr.(*ir.SlotInfo).Pipe], prev, 0, compare(ir.Ge, prev, i32(0)))
	}
}

// defers reports whether a release may wait for the next iteration: MMAs read the slot, which is waited for in the same
// body, the only one of its pipeline there; and there are more stages than the slot that is read, the one before and one to
// be filled meanwhile. Where something uses an accumulator before the release, the MMA is over anyway.
func (l *lowering) defers(v *ir.Value, body *ir.Region) bool {
	info := v.Attr.(*ir.SlotInfo)
	p := l.pipes[info.Pipe]
	slot := v.Args[0]
	if !p.multiply[body.InRole()] || p.Stages < 3 || slot.Op != ir.SlotWait || slot.In != body {
		return false
	}
	reads, alone, over := false, true, false
	var accs []*ir.Value // of MMAs in flight
	ir.EachOp(body, func(w *ir.Value) {
		if i, ok := w.Attr.(*ir.SlotInfo); ok && i.Pipe == info.Pipe {
			alone = alone && (w == slot || w == v || w.Op == ir.SlotRelease && w.Args[0] == slot && w.In == body)
		}
		if i, ok := w.Attr.(*ir.MMAInfo); ok && byWarpgroup(l.t, w) {
			acc, as, bs := w.Operands()
			if i.A != nil && as[0] == slot || i.B != nil && bs[0] == slot {
				reads, over = true, false
				accs = append(accs, acc)
			}
		}
		if w.ID < v.ID && (w.Op == ir.WaitMMA || (w.Op == ir.Get || w.Op == ir.Set) && slices.Contains(accs, w.Args[0])) {
			over = true
		}
	})
	return alone && reads && !over
}
