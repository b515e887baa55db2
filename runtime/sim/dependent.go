package sim

import "github.com/gotile/gotile/internal/thr"

// Programmatic dependent launch. A kernel that waits for those before it may begin while the last of them still runs: what
// that one writes is then not there yet. The simulator runs launches one after the other all the same, and reports what
// would have been too early.

// Launch is the number of a launch, from 1 on; 0: it has none.
type Launch int64

// gridLaunch does nothing that this kernel could see; but it may not come before the wait, or a kernel would overlap with
// more than the one ahead of it.
func (c *compiler) gridLaunch(s thr.Do) {
	site := c.site(s.Fn.String(), 0)
	c.emit(0, func(w *warp) {
		if w.early {
			w.report(Premature, site, none, 0, "the next kernel may begin before those are over that this one has yet to wait for: put WaitPrerequisites before")
		}
	})
}

// gridWait is the wait for the kernels before.
func (c *compiler) gridWait(s thr.Do) {
	if s.Pred != nil {
		c.fail("%s for some lanes", s.Fn)
	}
	c.emit(0, func(w *warp) { w.early = false })
}

// checkEarly reports an access that may come before a kernel ahead is over. Writes are those of whatever follows; a read
// is of what it writes.
func (w *warp) checkEarly(al *allocation, site int32, lane int, write bool) {
	what := w.block.program.sites[site].what
	switch {
	case !w.early:
	case write:
		w.report(Premature, site, none, lane, "%s before the kernels ahead are known to be over: they may still use the memory; put WaitPrerequisites before", what)
	case Launch(al.writer.Load()) == w.block.launch.overlaps:
		w.report(Premature, site, none, lane, "%s of the allocation of %d bytes at %#x, which the kernel ahead writes and which may not be over: put WaitPrerequisites before", what, len(al.data), al.addr)
	}
}

// writes notes which launch wrote an allocation last.
func (a *allocation) writes(n Launch) {
	if n != 0 && a.writer.Load() != int64(n) {
		a.writer.Store(int64(n))
	}
}
