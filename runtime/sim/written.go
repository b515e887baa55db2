package sim

import "math/bits"

// Bulk and tensor copies of global memory that threads of the kernel itself write, from it or to it: what they wrote must be
// ordered before, and fenced.

// written is a word of global memory.
type written struct {
	al   *allocation
	word int
}

// noteWrites notes the writes of lanes to global memory, for copies that read or write there.
func (a *access) noteWrites(w *warp, al *allocation, m uint32, off *offsets) {
	c, now := w.block.cluster, newRecord(w.epoch, a.site, w.index, 0)
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for i := off[l] / c.program.word; i < (off[l]+a.bytes)/c.program.word; i++ {
			c.written[written{al, i}] = now | record(l)
		}
	}
}

// checkWritten reports a copy from or to bytes of global memory that a thread of the cluster wrote if the two are not
// ordered, or not fenced. site says which of the two.
func (k *bulk) checkWritten(site int32, at source, lane int) {
	w, c := k.w, k.w.block.cluster
	if len(c.written) == 0 {
		return
	}
	view, now := w.view(lane), newRecord(w.epoch, site, w.index, lane)
	what := c.program.sites[site].what
	for i := at.off / c.program.word; i < (at.off+at.bytes)/c.program.word; i++ {
		was := c.written[written{at.al, i}]
		switch {
		case was == 0:
		case !view.has(was, now):
			by := c.warps[was.warp()]
			w.report(GlobalRace, site, was.site(), lane, "%s at byte %d of the allocation of %d bytes at %#x, not ordered after the store of warp %d lane %d%s",
				what, i*c.program.word, len(at.al.data), at.al.addr, by.id, was.lane(), by.whose())
			return
		case was.epoch() >= view.fencedGlobal[was.warp()]:
			w.report(MissingFence, site, was.site(), lane, "%s at byte %d of the allocation of %d bytes at %#x, which a thread has written: put FenceAsyncGlobal between the two",
				what, i*c.program.word, len(at.al.data), at.al.addr)
			return
		}
	}
}
