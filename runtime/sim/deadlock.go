package sim

import (
	"fmt"

	"github.com/gotile/gotile/internal/waitfor"
)

// progress lets something happen when no warp can run: a copy arrives or a barrier of the cluster opens. It reports
// whether the run goes on; where warps wait that nobody can wake, that is reported.
func (c *cluster) progress() bool {
	if len(c.flying) > 0 {
		c.land()
		return true
	}
	for _, w := range c.warps {
		if w.state == stalled && (w.blocked != nil || w.meets != nil || w.lacks > 0) {
			c.deadlocked(w)
			return false
		}
	}
	return c.release()
}

// deadlocked reports that nobody can go on, where a warp waits; the rest of the cluster is not run.
func (c *cluster) deadlocked(w *warp) {
	w.report(Deadlock, w.waits, none, 0, "%s", c.waitFor())
	c.abandoned = true
}

// waitFor is the table of who waits where, for what, and who could still come: a line a warp.
func (c *cluster) waitFor() string {
	var t waitfor.Table
	for _, w := range c.warps {
		p := w.block.program
		b, waits := w.blocked, "waits"
		if b == nil && w.state == yielded {
			b, waits = w.asked, "asks"
		}
		name := waitfor.WarpName(p.kernel, w.id) + w.whose()
		switch {
		case w.state == waiting || w.state == meeting:
			t.Meets(name, p.sites[w.waits].what, p.sites[w.waits].pos)
		case w.state == exited:
			t.Left(name)
		case w.lacks > 0:
			t.Registers(name, p.sites[w.waits].pos, w.lacks, w.block.freeRegs)
		case w.meets != nil:
			t.Named(name, p.sites[w.waits].pos, w.meets.id, w.meets.lacks(), w.meets.threads/warpSize)
		case b != nil:
			t.Phase(name, waits, p.sites[w.waits].pos, fmt.Sprintf("phase %d (parity %d)", w.wants, w.wants&1), b.name()+w.whose(), b.lacks)
		}
	}
	return "nobody can go on\n" + t.String("  ")
}

// lacks says what a phase lacks, and where it could come from.
func (b *mbar) lacks() waitfor.State {
	p := b.block.program
	buf := p.bars[b.slot].buf
	s := waitfor.State{Phase: fmt.Sprintf("phase %d", b.phase), Pending: b.pending, Count: b.count, Array: buf.Name, Lines: waitfor.LinesOf(p.kernel.Body, buf)}
	if b.tx != 0 || b.expected > 0 || b.issued > 0 {
		s.Bytes = fmt.Sprintf("%d bytes expected, %d copied", b.expected, b.issued)
	}
	return s
}

// finishAsync reports, at the end of a cluster, the copies whose phase nobody has seen to be over, and lets all arrive.
func (c *cluster) finishAsync() {
	for _, k := range c.flying {
		k.arrive()
	}
	c.flying = c.flying[:0]
	for _, b := range c.blocks {
		b.finishRegs()
		for _, n := range b.named {
			if n.come > 0 {
				b.warps[0].report(BadBarrier, n.site, none, 0, "the kernel ends, and at named barrier %d %s", n.id, waitfor.Lacks(n.lacks(), n.threads/warpSize))
			}
		}
		for _, m := range b.bars {
			m.finish()
			for _, k := range m.unseen {
				k.w.report(NotAwaited, k.site, none, 0, "the kernel ends, and nobody has waited for phase %d of %s, in which this copy arrives", k.phase, m.name())
			}
		}
	}
}

// finish reports, at the end of a cluster, an mbarrier of a pipeline of which some have filled or released a slot, and the
// others have not.
func (b *mbar) finish() {
	buf, w := b.block.program.bars[b.slot].buf, b.block.warps[0]
	switch {
	case !b.live || !buf.Slots || len(b.unseen) > 0:
	case b.pending < b.count:
		w.report(MissedPhase, b.last, none, 0, "the kernel ends in phase %d of %s, in which %d of %d arrivals have come: not all roles fill or read as many slots", b.phase, b.name(), b.count-b.pending, b.count)
	case buf.Filled && b.observed < b.phase:
		w.report(MissedPhase, b.last, none, 0, "the kernel ends, and nobody has waited for phase %d of %s: a slot is filled that nobody reads", b.observed, b.name())
	}
}
