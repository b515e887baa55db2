package sim

import "math/bits"

// cluster is the blocks that run together, in one scheduler: those of a cluster, or one block of a kernel without
// clusters. A worker owns one and uses it for all its clusters.
type cluster struct {
	program *Program
	launch  launch
	blocks  []*block // by rank
	warps   []*warp  // of all blocks, by their clocks' index
	ready   []*warp  // those that can run
	rng     rng
	// arrivals are at the barrier in two halves.
	arrivals arrivals
	agents   int                     // entries of a clock: the warps, then the asynchronous agents
	storers  int                     // warps that may have bulk stores, and
	storing  int                     // have had some
	scratch  seen                    // of joinClocks
	flying   []*bulk                 // bulk copies under way
	written  map[written]record      // what threads wrote of global memory that bulk copies read
	stores   map[*allocation]*stores // what bulk stores write of it
	held     []*bulk                 // bulk stores that have read, the oldest first, some of which have not written
	x, y     []float64               // room for the operands of a multiply
	vain     int                     // steps of warps, one after the other, that only asked for phases in vain
	// abandoned: a warp ran away, the rest of the cluster is not worth running.
	abandoned bool
}

func newCluster(p *Program, mem *Memory, pool func() pool, l launch) *cluster {
	c := &cluster{program: p, launch: l, written: map[written]record{}, stores: map[*allocation]*stores{}}
	for rank := range max(p.kernel.Cluster, 1) {
		b := newBlock(p, mem, pool(), l)
		b.cluster, b.rank = c, rank
		for _, w := range b.warps {
			w.index = len(c.warps)
			c.warps = append(c.warps, w)
		}
		b.peers = make([]record, len(b.warps)*max(p.kernel.Cluster, 1))
		c.blocks = append(c.blocks, b)
	}
	c.agents, c.storers = p.countAgents(len(c.warps), len(c.blocks)), p.storers(len(c.warps), len(c.blocks))
	for _, b := range c.blocks {
		if old, ok := p.rooms.Get().(*shared); ok {
			b.shared.data, b.shared.shadow = old.data, old.shadow
		} else {
			b.shared.init(p.kernel.SharedBytes, p.granule, c.agents)
		}
		for _, m := range b.bars {
			m.byWarp, m.used = make([]uint32, len(c.warps)), make([]record, len(c.warps))
		}
	}
	return c
}

// run executes the blocks of cluster id. It returns false if the run was cancelled.
func (c *cluster) run(id int, seed uint64) bool {
	c.abandoned = false
	c.rng = newRNG(seed, uint64(id)+1)
	c.ready = c.ready[:0]
	c.arrivals = arrivals{}
	for _, b := range c.blocks {
		b.reset(id*len(c.blocks) + b.rank)
		b.pool.set(poolCluster, uint64(id))
		c.ready = append(c.ready, b.warps...)
	}
	c.flying, c.vain = c.flying[:0], 0
	clear(c.written)
	clear(c.stores)
	c.held = nil
	for !c.abandoned && (len(c.ready) > 0 || c.progress()) {
		if c.launch.stop.Load() {
			return false
		}
		if c.program.copies {
			c.arrive()
		}
		if len(c.ready) == 0 || c.blocks[0].completion == AtRandom && len(c.flying) > 0 && c.rng.below(2) == 0 {
			if len(c.flying) > 0 {
				c.land()
			}
			continue
		}
		i := c.rng.below(len(c.ready))
		w := c.ready[i]
		w.step()
		if w.state != yielded || w.asked == nil {
			c.vain = 0
		} else if c.vain++; c.vain > 64*len(c.ready) && len(c.flying) == 0 {
			c.deadlocked(w)
			break
		}
		if w.state != yielded {
			last := len(c.ready) - 1
			c.ready[i] = c.ready[last]
			c.ready = c.ready[:last]
			w.block.stopped()
		} else if len(c.flying) > 0 { // it may be asking whether a copy has arrived
			c.land()
		}
	}
	if !c.abandoned {
		c.finishAsync()
	}
	return true
}

// arrive completes copies of blocks whose copies arrive at random.
func (c *cluster) arrive() {
	for _, b := range c.blocks {
		if b.completion == AtRandom {
			b.arriveOne()
		}
	}
}

// release opens the cluster's barrier once no warp can run, and reports whether one waited. All warps of all blocks must
// have come to the same barrier; otherwise that is reported, and those that wait go on.
func (c *cluster) release() bool {
	var first *warp
	for _, w := range c.warps {
		if w.state == meeting && first == nil {
			first = w
		}
	}
	if first == nil {
		return c.stuck()
	}
	for _, w := range c.warps {
		switch {
		case w.state == exited:
			first.report(BarrierDivergence, first.waits, none, 0, "warp %d of block %d waits here, warp %d of block %d has left the kernel", first.id, first.block.id, w.id, w.block.id)
		case w.pc != first.pc:
			w.report(BarrierDivergence, first.waits, w.waits, 0, "warp %d of block %d waits at the first, warp %d of block %d at the second", first.id, first.block.id, w.id, w.block.id)
		}
	}
	joinClocks(c.warps, meeting)
	for _, w := range c.warps {
		if w.state == meeting {
			w.toPeers = nowhere
			c.resume(w)
		}
	}
	return true
}

// resume lets a warp run that waited.
func (c *cluster) resume(w *warp) {
	w.state = running
	w.block.running++
	c.ready = append(c.ready, w)
}

// joinClocks orders everything that the waiting warps did before everything they will do.
func joinClocks(warps []*warp, waits state) {
	c := warps[0].block.cluster
	c.scratch.reset(len(c.warps), c.agents)
	for _, w := range warps {
		if w.state == waits {
			w.ended()
			c.scratch.join(&w.seen, c.agents)
		}
	}
	for _, w := range warps {
		if w.state == waits {
			w.seen.set(&c.scratch, c.agents)
			w.settle()
		}
	}
}

// runPeer is an access to the shared memory of blocks of the cluster, by rank.
func (a *access) runPeer(w *warp) {
	m := a.lanes(w)
	ranks, addr := *w.vec(a.rank), *w.vec(a.addr) // the destination may be one of these registers
	if m != allLanes {
		a.zero(w)
	}
	var off offsets
	for m != 0 {
		first := bits.TrailingZeros32(m)
		rank := int(int32(ranks[first]))
		var same uint32 // the lanes that go to one block
		for rest := m; rest != 0; rest &= rest - 1 {
			if l := bits.TrailingZeros32(rest) & 31; ranks[l] == ranks[first] {
				same |= 1 << l
			}
		}
		m &^= same
		blocks := w.block.cluster.blocks
		if rank < 0 || rank >= len(blocks) {
			w.report(OutOfBounds, a.site, none, first, "%s of block %d of a cluster of %d", w.block.program.sites[a.site].what, rank, len(blocks))
			a.zero(w)
			continue
		}
		peer := blocks[rank]
		if same = a.offsets(w, &addr, same, &off); same == 0 {
			continue
		}
		peer.touched(w, a.site, first)
		if a.write {
			w.toPeers = toPeer(a.site + 1)
		}
		a.checkFlight(w, &peer.shared, same, &off)
		a.check(w, &peer.shared, same, &off)
		if a.write {
			a.put(w, peer.shared.data, same, &off)
		} else {
			a.get(w, peer.shared.data, same, &off)
		}
	}
}

// touched checks that a block runs when a warp of a peer accesses its shared memory: that its start is ordered before
// the access, and, once it is known, that its end is ordered after it.
func (b *block) touched(w *warp, site int32, lane int) {
	if w.block != b && b.runs(w, site, lane) {
		b.peers[w.index] = newRecord(w.epoch, site, w.index, lane)
	}
}

// runs checks that a block has started and has not left, and reports the latter.
func (b *block) runs(w *warp, site int32, lane int) bool {
	started := false
	for _, v := range b.warps {
		started = started || w.clock[v.index] > 1 // some epoch of v is known to be over
	}
	if !started {
		w.report(NotRunning, site, none, lane, "%s of block %d, whose start is not ordered before: put a barrier of the cluster first", b.program.sites[site].what, b.id)
	}
	if b.left() {
		b.outlived(w, site, lane)
		return false
	}
	return true
}

func (b *block) outlived(w *warp, site int32, lane int) {
	w.report(NotRunning, site, none, lane, "%s of block %d, which may have left: put a barrier of the cluster behind", b.program.sites[site].what, b.id)
}

// left reports whether all warps of a block have exited.
func (b *block) left() bool {
	for _, w := range b.warps {
		if w.state != exited {
			return false
		}
	}
	return true
}

// leave reports the accesses of peers that no barrier orders before the block's end, which is the end of its last warp.
func (b *block) leave() {
	for i, r := range b.peers {
		if r != 0 && !b.ordered(r) {
			b.outlived(b.cluster.warps[i], r.site(), r.lane())
		}
	}
	for i := range b.bars {
		b.bars[i].leave()
	}
}

// ordered reports whether a warp of the block knows of an access that it is over.
func (b *block) ordered(r record) bool {
	for _, v := range b.warps {
		if r.over(&v.clock) {
			return true
		}
	}
	return false
}
