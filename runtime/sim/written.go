package sim

import "math/bits"

// Bulk copies of global memory that the kernel itself writes: what threads wrote must be ordered before, and fenced.

// written is a word of global memory.
type written struct {
	al   *allocation
	word int
}

// noteWrites notes the writes of lanes to global memory, for bulk copies that read there.
func (a *access) noteWrites(w *warp, al *allocation, m uint32, off *offsets) {
	c, now := w.block.cluster, newRecord(w.epoch, a.site, w.index, 0)
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for i := off[l] / c.program.word; i < (off[l]+a.bytes)/c.program.word; i++ {
			c.written[written{al, i}] = now | record(l)
		}
	}
}

// checkWritten reports a bulk copy of what a thread of the cluster wrote if the two are not ordered, or not fenced.
func (k *bulk) checkWritten(lane int) {
	w, c := k.w, k.w.block.cluster
	if !c.program.asyncReads {
		return
	}
	view, now := w.view(lane), newRecord(w.epoch, k.site, w.index, lane)
	for i := k.global / c.program.word; i < (k.global+k.bytes)/c.program.word; i++ {
		was := c.written[written{k.al, i}]
		switch {
		case was == 0:
		case !view.has(was, now):
			by := c.warps[was.warp()]
			w.report(GlobalRace, k.site, was.site(), lane, "bulk copy from byte %d of the allocation of %d bytes at %#x, not ordered after the store of warp %d lane %d%s",
				i*c.program.word, len(k.al.data), k.al.addr, by.id, was.lane(), by.whose())
			return
		case was.epoch() >= view.fencedGlobal[was.warp()]:
			w.report(MissingFence, k.site, was.site(), lane, "bulk copy from byte %d of the allocation of %d bytes at %#x, which a thread has written: put FenceAsyncGlobal between the two",
				i*c.program.word, len(k.al.data), k.al.addr)
			return
		}
	}
}
