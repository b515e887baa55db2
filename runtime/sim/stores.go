package sim

import (
	"math/bits"
	"slices"
	"sort"
)

// What bulk and tensor stores write of global memory. It is under way until the store's group has been waited for: a wait
// for the group's reads alone says that shared memory may be written again, and nothing of the destination. What other
// clusters do there is for globalShadow.

// stored is a run of bytes that a bulk store writes, as its warp's writesAgent.
type stored struct {
	from, to int // offsets in the allocation
	by       record
	combines bool // by a reduction, whose order with other atomics does not matter
}

// stores is what the bulk stores of a cluster write of one allocation.
type stores struct {
	runs      []stored // by from; they may overlap
	widest    int      // bytes of the longest
	low, high int      // all lie here
	many      int      // runs from which on those are dropped that are over for all
}

// fewRuns is the least number of runs that are worth a look for those that are over.
const fewRuns = 256

// meet visits the runs that have bytes in common with [from, to).
func (s *stores) meet(from, to int, f func(r stored)) {
	if to <= s.low || from >= s.high {
		return
	}
	first := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].from > from-s.widest })
	for _, r := range s.runs[first:] {
		if r.from >= to {
			return
		}
		if r.to > from {
			f(r)
		}
	}
}

// add notes a store that begins.
func (s *stores) add(c *cluster, r stored) {
	if s.runs == nil {
		s.low, s.many = r.from, fewRuns
	}
	if len(s.runs) >= s.many {
		s.runs = slices.DeleteFunc(s.runs, c.knowAll)
		s.many = max(fewRuns, 2*len(s.runs))
	}
	i := len(s.runs)
	if i > 0 && s.runs[i-1].from > r.from {
		i = sort.Search(i, func(i int) bool { return s.runs[i].from > r.from })
	}
	s.runs = slices.Insert(s.runs, i, r)
	s.widest, s.low, s.high = max(s.widest, r.to-r.from), min(s.low, r.from), max(s.high, r.to)
}

// knowAll reports whether all warps know that a store is over.
func (c *cluster) knowAll(r stored) bool {
	for _, w := range c.warps {
		if !r.by.over(&w.clock) {
			return false
		}
	}
	return true
}

// checkStores reports the lanes of an access to global memory that meet a bulk store under way.
func (a *access) checkStores(w *warp, al *allocation, m uint32, off *offsets, atomic bool) {
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		w.checkStores(a.site, source{al, off[l], a.bytes}, l, atomic)
	}
}

// checkStores reports a lane's access to bytes of global memory that a bulk store under way writes. Atomic accesses and
// the reductions of tensors are ordered with one another.
func (w *warp) checkStores(site int32, at source, lane int, atomic bool) {
	s := w.block.cluster.stores[at.al]
	if s == nil {
		return
	}
	s.meet(at.off, at.off+at.bytes, func(r stored) {
		if atomic && r.combines || r.by.over(&w.view(lane).clock) {
			return
		}
		sites := w.block.program.sites
		w.report(InFlight, site, r.by.site(), lane, "%s at byte %d of the allocation of %d bytes at %#x, where a %s may be under way: wait for its group to be over (WaitBulk), and order the wait before",
			sites[site].what, max(at.off, r.from), len(at.al.data), at.al.addr, sites[r.by.site()].what)
	})
}

// storeTo begins what a copy writes of global memory: bytes in a row, which are poison until it arrives.
func (k *bulk) storeTo(global *access, to source, lane int) {
	w, c := k.w, k.w.block.cluster
	combines := k.tensor != nil && k.tensor.combine != nil
	w.checkEarly(to.al, global.site, lane, true)
	to.al.writes(w.block.launch.number)
	w.checkStores(global.site, to, lane, combines)
	k.checkWritten(global.site, to, lane)
	if w.block.launch.global != nil {
		a, off := *global, offsets{}
		a.bytes, off[lane] = to.bytes, to.off
		a.checkBlocks(w, to.al, 1<<lane, &off, combines, k)
	}
	s := c.stores[to.al]
	if s == nil {
		s = &stores{}
		c.stores[to.al] = s
	}
	s.add(c, stored{to.off, to.off + to.bytes, newRecord(k.epoch, global.site, w.writesAgent(), 0) | recordAgent, combines})
	if !combines {
		poison(to.al.data[to.off:][:to.bytes])
	}
}

// maxHeld bounds the bytes of stores that have read and not yet written.
const maxHeld = 64

// read makes a store have read shared memory. Whether it has written too depends on when copies arrive: late ones write
// when they are waited for, or when many others have read after them.
func (k *bulk) read() {
	b := k.w.block
	c := b.cluster
	if k.done || k.held != nil {
		return
	}
	if b.completion == Early || b.completion == AtRandom && c.rng.below(2) == 0 {
		k.arrive()
		return
	}
	k.held = slices.Clone(k.to().shared.data[k.shared:][:k.bytes])
	if c.held = append(c.held, k); len(c.held) > maxHeld {
		c.held[0].arrive()
		c.held = c.held[1:]
	}
}
