package sim

import "github.com/gotile/gotile/internal/thr"

// Asynchronous agents have entries of the clock like warps. An mbarrier is one: what the copies of its phase k write has
// epoch k, since all of a phase's copies are over with the phase. The bulk stores of a warp are another, with an epoch
// each, since groups end in order; what they read of shared memory and what they write of global memory are agents of
// their own, as a wait may be for the reads alone. So are a warp's multiplies. The warps come first, then the warps' reads
// and writes by bulk stores, then their multiplies, then the mbarriers by block.

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
	return p.warpAgents(warps) + blocks*len(p.bars)
}

// warpAgents is how many of them are warps, or of warps.
func (p *Program) warpAgents(warps int) int {
	n := warps
	if p.bulkStores {
		n += 2 * warps
	}
	if p.multiplies {
		n += warps
	}
	return n
}

// multipliesAgent is the agent of a warp's multiplies.
func (w *warp) multipliesAgent() int {
	warps := len(w.block.cluster.warps)
	return w.block.program.warpAgents(warps) - warps + w.index
}

// storesAgent is the agent of what a warp's bulk stores read of shared memory.
func (w *warp) storesAgent() int { return len(w.block.cluster.warps) + w.index }

// writesAgent is the agent of what they write of global memory.
func (w *warp) writesAgent() int { return 2*len(w.block.cluster.warps) + w.index }

// barAgent is the agent of an mbarrier by its slot.
func (b *block) barAgent(slot int) int {
	return b.program.warpAgents(len(b.cluster.warps)) + b.rank*len(b.program.bars) + slot
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
