package sim

import "github.com/gotile/gotile/internal/thr"

// Asynchronous agents have entries of the clock like warps. An mbarrier is one: what the copies of its phase k write has
// epoch k, since all of a phase's copies are over with the phase. The bulk stores of a warp are another, with an epoch
// each, since groups end in order; what they read of shared memory and what they write of global memory are agents of
// their own, as a wait may be for the reads alone. So are a warp's multiplies. The warps come first, then the reads and
// the writes by bulk stores, of warps in the order of their first ones, then the warps' multiplies, then the mbarriers by
// block.

// barSlot is an mbarrier of each block.
type barSlot struct {
	buf *thr.SharedBuf
	i   int // in buf
}

// barriers notes that the kernel uses an array of mbarriers.
func (c *compiler) barriers(buf *thr.SharedBuf) {
	if buf == nil {
		c.fail("an mbarrier of no array")
	}
	p := c.program
	if _, ok := p.barAt[buf]; ok {
		return
	}
	p.barAt[buf] = len(p.bars)
	for i := range buf.Bytes / barBytes {
		p.bars = append(p.bars, barSlot{buf, i})
	}
}

// countAgents is the number of entries of a clock.
func (p *Program) countAgents(warps, blocks int) int {
	return p.warpAgents(warps, blocks) + blocks*len(p.bars)
}

// storers is how many warps may have bulk stores: all, or as many as a clock has room for, which is enough where few
// store for the others.
func (p *Program) storers(warps, blocks int) int {
	if !p.bulkStores {
		return 0
	}
	room := maxAgents - warps - blocks*len(p.bars)
	if p.multiplies {
		room -= warps
	}
	return max(1, min(warps, room/2))
}

// warpAgents is how many of them are warps, or of warps.
func (p *Program) warpAgents(warps, blocks int) int {
	n := warps + 2*p.storers(warps, blocks)
	if p.multiplies {
		n += warps
	}
	return n
}

// multipliesAgent is the agent of a warp's multiplies.
func (w *warp) multipliesAgent() int {
	c := w.block.cluster
	return w.block.program.warpAgents(len(c.warps), len(c.blocks)) - len(c.warps) + w.index
}

// storesAgent is the agent of what a warp's bulk stores read of shared memory.
func (w *warp) storesAgent() int { return len(w.block.cluster.warps) + w.nthStorer() }

// writesAgent is the agent of what they write of global memory.
func (w *warp) writesAgent() int { return w.storesAgent() + w.block.cluster.storers }

// nthStorer numbers the warps of a cluster that have bulk stores. Those without a number of their own, which is reported,
// have the last one's.
func (w *warp) nthStorer() int {
	if c := w.block.cluster; w.storer == 0 && c.storing < c.storers {
		c.storing++
		w.storer = c.storing
	}
	if w.storer == 0 {
		return w.block.cluster.storers - 1
	}
	return w.storer - 1
}

// checkStorer reports a warp that has bulk stores and no number.
func (w *warp) checkStorer(site int32, lane int) {
	if c := w.block.cluster; w.storer == 0 && c.storing == c.storers {
		w.report(TooManyStorers, site, none, lane, "bulk stores by more than %d warps of a cluster: let fewer store for the others", c.storers)
	}
}

// barAgent is the agent of an mbarrier by its slot.
func (b *block) barAgent(slot int) int {
	return b.program.warpAgents(len(b.cluster.warps), len(b.cluster.blocks)) + b.rank*len(b.program.bars) + slot
}

// raceWithAgent reports an access that nothing orders after a bulk copy.
func (b *block) raceWithAgent(w *warp, site int32, other record, lane, offset int) {
	sites := b.program.sites
	what := "no wait for its group orders the two"
	if other.warp() >= b.barAgent(0)-b.rank*len(b.program.bars) {
		what = "no wait for its phase orders the two"
	}
	w.report(InFlight, site, other.site(), lane, "%s at byte %d, where a %s may be under way: %s", sites[site].what, offset, sites[other.site()].what, what)
}

// checkAgents refuses kernels with more of them than a clock has.
func (c *compiler) checkAgents() {
	blocks := max(c.kernel.Cluster, 1)
	if n := c.program.countAgents(blocks*c.kernel.Threads/warpSize, blocks); n > maxAgents {
		c.fail("%d warps and mbarriers in a cluster; at most %d are possible", n, maxAgents)
	}
}
