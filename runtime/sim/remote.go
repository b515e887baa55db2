package sim

import (
	"encoding/binary"
	"math/bits"

	"github.com/gotile/gotile/internal/thr"
)

// What threads do to other blocks of their cluster beside loads and stores: they arrive at mbarriers there, and store
// asynchronously.

// remote is the mbarrier of another block that an instruction names.
type remote struct {
	site       int32
	buf        *thr.SharedBuf
	addr, rank int32 // registers: offset of the mbarrier, number of the block
}

func (c *compiler) remote(s thr.Do, site int32, bar, rank thr.Expr) remote {
	c.barriers(s.Bar)
	return remote{site: site, buf: s.Bar, addr: c.vec(bar).i, rank: c.vec(rank).i}
}

// find is the mbarrier that a lane names; nil: it is none, which is reported.
func (o *remote) find(w *warp, lane int) *mbar {
	blocks, rank := w.block.cluster.blocks, int(int32(w.vec(o.rank)[lane]))
	what := w.block.program.sites[o.site].what
	if rank < 0 || rank >= len(blocks) {
		w.report(OutOfBounds, o.site, none, lane, "%s of block %d of a cluster of %d", what, rank, len(blocks))
		return nil
	}
	b := blocks[rank].barrierAt(w, o.site, o.buf, int(uint32(w.vec(o.addr)[lane])), lane)
	if b == nil || !w.usable(b, o.site, lane) {
		return nil
	}
	if !b.fenced && b.block != w.block {
		w.report(MissingFence, o.site, b.init.site(), lane, "%s of %s of another block, whose init no fence has made visible to the cluster", what, b.name())
	}
	return b
}

// remoteArrive compiles an arrival at another block's mbarrier. A relaxed one passes on what a FenceCluster before it has
// ordered, no more.
func remoteArrive(relaxed bool) func(*compiler, thr.Do) {
	return func(c *compiler, s thr.Do) {
		o := c.remote(s, c.site(s.Fn.String(), 0), s.Args[0], s.Args[1])
		pred := c.chosen(s.Pred)
		c.emit(warpSize, func(w *warp) {
			for m := pred.mask(w); m != 0; {
				l := bits.TrailingZeros32(m)
				at, ranks := w.vec(o.addr), w.vec(o.rank)
				var same uint32
				for rest := m; rest != 0; rest &= rest - 1 {
					if i := bits.TrailingZeros32(rest) & 31; at[i] == at[l] && ranks[i] == ranks[l] {
						same |= 1 << i
					}
				}
				m &^= same
				if b := o.find(w, l); b != nil {
					b.visited(w, o.site, l)
					b.arrivedFrom(w, o.site, same, relaxed)
				}
			}
		})
	}
}

// guest is an arrival from another block.
type guest struct {
	arrival record
	phase   uint32
}

// visited checks that the mbarrier's block runs when a warp arrives there. It has not left before if it sees that the
// phase is over, or if it is known otherwise that the end of the block comes after.
func (b *mbar) visited(w *warp, site int32, lane int) {
	if w.block != b.block && b.block.runs(w, site, lane) {
		if b.guests == nil {
			b.guests = map[int]guest{}
		}
		b.guests[w.index] = guest{newRecord(w.epoch, site, w.index, lane), b.phase}
	}
}

// leave reports the arrivals of other blocks that the end of its own may not come after.
func (b *mbar) leave() {
	for i, g := range b.guests {
		if b.observed <= g.phase && !b.block.ordered(g.arrival) {
			b.block.outlived(b.block.cluster.warps[i], g.arrival.site(), g.arrival.lane())
		}
	}
	clear(b.guests)
}

// arrivedFrom takes an arrival of each lane of m.
func (b *mbar) arrivedFrom(w *warp, site int32, m uint32, relaxed bool) {
	b.last, b.brought = site, site
	switch {
	case !relaxed:
		w.publish(&b.arriving, m)
	case w.ahead != nil:
		b.arriving.join(w.ahead, w.block.cluster.agents)
	}
	if b.pending -= bits.OnesCount32(m); b.pending < 0 {
		w.report(BadBarrier, site, b.init.site(), bits.TrailingZeros32(m), "%d arrivals in phase %d of %s, which expects %d", b.count-b.pending, b.phase, b.name(), b.count)
		b.pending = 0
	}
	b.complete(w)
}

// fenceLoads does nothing: simulated loads are over when they have been executed.
func (c *compiler) fenceLoads(s thr.Do) {
	if s.Pred != nil {
		c.fail("%s for some lanes", s.Fn)
	}
}

// fenceCluster keeps what relaxed arrivals pass on.
func (c *compiler) fenceCluster(s thr.Do) {
	if s.Pred != nil {
		c.fail("%s for some lanes", s.Fn)
	}
	c.emit(0, func(w *warp) {
		w.fence()
	})
}

// fence keeps what relaxed arrivals pass on.
func (w *warp) fence() {
	if w.ahead == nil {
		w.ahead = new(seen)
	}
	w.ahead.reset(len(w.block.cluster.warps), w.block.cluster.agents)
	w.publish(w.ahead, allLanes)
}

// toPeer is the site of a store to another block's shared memory, and 1.
type toPeer int32

const nowhere toPeer = 0

// fenceShared is fenceCluster for the block's own shared memory: stores to that of others are reported, those of this
// warp at least.
func (c *compiler) fenceShared(s thr.Do) {
	if s.Pred != nil {
		c.fail("%s for some lanes", s.Fn)
	}
	at := c.site(s.Fn.String(), 0)
	c.emit(0, func(w *warp) {
		if w.toPeers != nowhere {
			w.report(MissingFence, at, int32(w.toPeers-1), 0, "the arrival orders what its block did in its own shared memory, and not the store to a peer's: put a FenceCluster and arrive at each peer")
		}
		w.fence()
	})
}

// storeAsync compiles an asynchronous store of each lane. It is a copy of one value, by no proxy of its own.
func (c *compiler) storeAsync(s thr.Do) {
	bytes := s.DT.Size()
	if c.kernel.Cluster == 0 || bytes < 4 {
		c.fail("%s of %v in a cluster of %d", s.Fn, s.DT, c.kernel.Cluster)
	}
	c.program.async = true
	a := c.access(bytes, thr.Shared, true, "remote store", s.Args[0], s.Pred, s.Buf)
	c.program.sites[a.site].generic = true
	x, o := c.vec(s.Args[1]).i, c.remote(s, a.site, s.Args[3], s.Args[2])
	c.emit(warpSize, func(w *warp) {
		for m := a.lanes(w); m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			var off offsets
			bar := o.find(w, l)
			if bar == nil || a.offsets(w, w.vec(a.addr), 1<<l, &off) == 0 {
				continue
			}
			if bar.block != w.block {
				bar.block.runs(w, a.site, l)
			}
			a.checkFlight(w, &bar.block.shared, 1<<l, &off)
			k := &bulk{w: w, site: a.site, shared: off[l], bytes: bytes, bar: bar,
				value: binary.LittleEndian.AppendUint64(nil, w.vec(x)[l])[:bytes]}
			k.load(l)
			w.block.cluster.fly(k)
		}
	})
}
