package sim

import "sync/atomic"

// launch is what the blocks of a run share.
type launch struct {
	steps  int64        // instructions that a warp may execute
	stop   *atomic.Bool // the run was cancelled
	global *globalShadow
}

// pool is the values that all warps of a block share.
type pool struct {
	uni []uint64
	vec []lanes
}

func (p *pool) set(i int, v uint64) {
	p.uni[i] = v
	for l := range p.vec[i] {
		p.vec[i][l] = v
	}
}

// block runs one block at a time. A worker owns one and uses it for all its blocks.
type block struct {
	program *Program
	mem     *Memory
	launch  launch
	pool    pool
	id      int
	warps   []*warp
	ready   []*warp // those that can run
	rng     rng
	shared  shared
	cache   []*allocation // by site: the allocation it last accessed
	banks   banks
	log     log
	// abandoned: a warp ran away, the rest of the block is not worth running.
	abandoned bool
}

func newBlock(p *Program, mem *Memory, pool pool, l launch) *block {
	b := &block{program: p, mem: mem, launch: l, pool: pool,
		cache: make([]*allocation, len(p.sites)), banks: banks{sites: make([]bankCount, len(p.sites))}}
	n := p.kernel.Threads / warpSize
	for i := range n {
		b.warps = append(b.warps, &warp{block: b, id: i, r: make([]lanes, p.vecs), u: make([]uint64, p.unis)})
	}
	b.shared.init(p.kernel.SharedBytes, p.granule)
	return b
}

// run executes block id. It returns false if the run was cancelled.
func (b *block) run(id int, seed uint64) bool {
	b.id, b.abandoned, b.log = id, false, log{}
	b.rng = newRNG(seed, uint64(id)+1)
	b.pool.set(poolBlock, uint64(id))
	b.shared.reset()
	b.ready = b.ready[:0]
	for _, w := range b.warps {
		w.reset()
		b.ready = append(b.ready, w)
	}
	for !b.abandoned && (len(b.ready) > 0 || b.release()) {
		if b.launch.stop.Load() {
			return false
		}
		i := b.rng.below(len(b.ready))
		w := b.ready[i]
		if w.step(); w.state != yielded {
			last := len(b.ready) - 1
			b.ready[i] = b.ready[last]
			b.ready = b.ready[:last]
		}
	}
	return true
}

// release opens the block's barrier once no warp can run, and reports whether one waited. All warps must have come to
// the same barrier; otherwise that is reported, and those that wait go on, as they do on a GPU.
func (b *block) release() bool {
	var first *warp
	for _, w := range b.warps {
		if w.state == waiting && first == nil {
			first = w
		}
	}
	if first == nil {
		return false
	}
	for _, w := range b.warps {
		switch {
		case w.state == exited:
			first.report(BarrierDivergence, first.waits, none, 0, "warp %d waits here, warp %d has left the kernel", first.id, w.id)
		case w.pc != first.pc:
			w.report(BarrierDivergence, first.waits, w.waits, 0, "warp %d waits at the first, warp %d at the second", first.id, w.id)
		}
	}
	b.join()
	for _, w := range b.warps {
		if w.state == waiting {
			b.ready = append(b.ready, w)
		}
	}
	return true
}

// join orders everything that the waiting warps did before everything they will do.
func (b *block) join() {
	var all clock
	for _, w := range b.warps {
		if w.state == waiting {
			w.clock[w.id]++ // ends the epoch
			for i, c := range w.clock[:len(b.warps)] {
				all[i] = max(all[i], c)
			}
		}
	}
	var known knowledge
	for _, w := range b.warps {
		if w.state == waiting {
			w.clock = all
			w.settle()
			w.passOn()
			known = known.join(w.known)
		}
	}
	for _, w := range b.warps {
		if w.state == waiting && len(known) > 0 {
			w.known = append(knowledge(nil), known...)
		}
	}
}

// rng is SplitMix64.
type rng uint64

func newRNG(seed, stream uint64) rng {
	r := rng(seed ^ stream*0x9e3779b97f4a7c15)
	r.next()
	return r
}

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number in [0, n).
func (r *rng) below(n int) int { return int(r.next() % uint64(n)) }
