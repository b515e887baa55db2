package sim

import (
	"math/bits"
	"sync/atomic"

	"github.com/gotile/gotile/internal/thr"
)

// launch is what the blocks of a run share.
type launch struct {
	steps            int64        // instructions that a warp may execute
	stop             *atomic.Bool // the run was cancelled
	copies           Completion
	global           *globalShadow
	number, overlaps Launch
	maps             map[*thr.Arg]*TensorMap
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

// block runs one block at a time, as one of its cluster.
type block struct {
	program  *Program
	mem      *Memory
	launch   launch
	pool     pool
	cluster  *cluster
	id       int // in the grid
	rank     int // in the cluster
	warps    []*warp
	running  int // warps that can run
	shared   shared
	bars     []*mbar     // by slot
	named    []*namedBar // by number
	freeRegs int         // given back by setmaxnreg
	// warpgroups are the multiplies that they have issued.
	warpgroups [][]issued
	peers      []record // by warp of the cluster: its last access to this block's shared memory
	// completion is when copies arrive, never BySeed.
	completion Completion
	cache      []*allocation // by site: the allocation it last accessed
	banks      banks
	log        log
}

func newBlock(p *Program, mem *Memory, pool pool, l launch) *block {
	b := &block{program: p, mem: mem, launch: l, pool: pool,
		cache: make([]*allocation, len(p.sites)), banks: banks{sites: make([]bankCount, len(p.sites))}}
	n := p.kernel.Threads / warpSize
	for i := range n {
		b.warps = append(b.warps, &warp{block: b, id: i, r: make([]lanes, p.vecs), u: make([]uint64, p.unis)})
	}
	if p.named {
		for id := range maxNamed {
			b.named = append(b.named, &namedBar{id: id})
		}
	}
	if p.multiplies {
		b.warpgroups = make([][]issued, (n+groupWarps-1)/groupWarps)
	}
	for i := range p.bars {
		b.bars = append(b.bars, &mbar{block: b, slot: i})
	}
	if p.copies {
		b.shared.unit = bits.TrailingZeros(uint(p.unit))
		b.shared.flight = make([]int32, (p.kernel.SharedBytes+p.unit-1)/p.unit)
	}
	return b
}

// reset makes the block ready to run as block id of the grid.
func (b *block) reset(id int) {
	b.id, b.running, b.log = id, len(b.warps), log{}
	b.freeRegs = 0
	b.pool.set(poolBlock, uint64(id))
	b.pool.set(poolRank, uint64(b.rank))
	b.shared.reset()
	clear(b.peers)
	for i := range b.warpgroups {
		b.warpgroups[i] = b.warpgroups[i][:0]
	}
	for _, m := range b.bars {
		m.reset()
	}
	for _, n := range b.named {
		n.come = 0
	}
	if b.completion = b.launch.copies; b.completion == BySeed && (b.program.copies || b.program.async) {
		b.completion = Early + Completion(b.cluster.rng.below(3))
	}
	for _, w := range b.warps {
		w.reset()
		if b.program.elects {
			w.elected = uint64(b.cluster.rng.below(warpSize))
		}
	}
}

// stopped notes that a warp waits or has ended. With the last one the block's barrier opens, or the block ends.
func (b *block) stopped() {
	if b.running--; b.running > 0 {
		return
	}
	if !b.release() && b.left() {
		b.leave()
	}
}

// release opens the block's barrier once none of its warps can run, and reports whether one waited. All warps must have come to
// the same barrier; otherwise that is reported, and those that wait go on, as they do on a GPU.
func (b *block) release() bool {
	var first *warp
	for _, w := range b.warps {
		if w.state == stalled { // it may come yet
			return false
		}
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
	joinClocks(b.warps, waiting)
	for _, w := range b.warps {
		if w.state == waiting {
			b.cluster.resume(w)
		}
	}
	return true
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
