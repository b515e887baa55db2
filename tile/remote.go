package tile

import "github.com/gotile/gotile/internal/ir"

// PeerMBarrier is an mbarrier of another block of the cluster.
type PeerMBarrier struct {
	_    [0]func()
	b    *ir.Builder
	m    *ir.MBarrier
	i    *ir.Value
	rank *ir.Value
}

// Peer is the same mbarrier in the block of the cluster with a rank, an int or an Index. Threads of this block arrive at
// it and complete bytes at it; only those of its own block can wait for it.
func (m MBarrier) Peer(rank any) PeerMBarrier {
	if m.b == nil {
		ir.Fail(ErrScope, "the MBarrier of Peer was never assigned: it is the zero value of its type; take one of tile.NewMBarriers")
	}
	return PeerMBarrier{b: m.b, m: m.m, i: m.i, rank: indexOf(m.b, ir.MBarArriveAt, "the rank of Peer", rank)}
}

func (p PeerMBarrier) arrive(s Scope, leader, relaxed bool) {
	b, scope := scopeOf(s)
	if p.b != b {
		ir.Fail(ErrScope, "the PeerMBarrier was never assigned, or belongs to another kernel; take MBarrier.Peer")
	}
	b.ArriveAt(scope, ir.BarrierInfo{Bar: p.m, Leader: leader, Relaxed: relaxed}, p.i, p.rank)
}

// Arrive is an arrival of each thread of the scope. It releases to the cluster what the thread did before, in the shared
// memory of any of its blocks. There is no token.
func (p PeerMBarrier) Arrive(s Scope) { p.arrive(s, false, false) }

// ArriveOnce is one arrival for the whole scope: its threads meet, then one arrives.
func (p PeerMBarrier) ArriveOnce(s Scope) { p.arrive(s, true, false) }

// ArriveRelaxed is Arrive that releases nothing but what a FenceCluster of the thread has ordered before: one fence, and
// then an arrival at each peer.
func (p PeerMBarrier) ArriveRelaxed(s Scope) { p.arrive(s, false, true) }

// StoreAsync stores a tile to a shared tile of another block of the cluster, dst being tile.Peer of a tile with Manual,
// without waiting for it. The bytes are completed at bar, an mbarrier of the same block, whose phase must expect them:
//
//	bytes := tile.StoreAsync(block, tile.Peer(s, next), x, full.Peer(next))
//	full.ArriveExpect(block, bytes) // of what this block gets, if that is as much
//	full.Wait(block, parity)
//
// Each thread stores the elements that it holds, 4 or 8 bytes each, clipped as by Store; the result is the number of bytes
// of all. Whoever read or wrote dst before must have arrived or met in a way that the storing threads know of. Threads
// that have waited for the phase see the bytes as if written by threads: bulk copies of them need FenceAsync.
func StoreAsync[T Number](s Scope, dst Source[T], x Operand[T], bar PeerMBarrier) Index {
	b, scope := scopeOf(s)
	p, v := place(b, ir.StoreAsync, dst), operand(b, ir.StoreAsync, x)
	if p == nil || v == nil {
		return Index{b: b}
	}
	if bar.b != b {
		ir.Fail(ErrScope, "the PeerMBarrier of StoreAsync was never assigned, or belongs to another kernel; take MBarrier.Peer")
	}
	return Index{b: b, v: b.StoreAsync(scope, *p, v, bar.m, bar.i, bar.rank)}
}

// BroadcastAsync stores one value to the same element of a shared tile with Manual in each block of the cluster, its own
// included, without waiting for it. In each the bytes are completed at its own mbarrier m, whose phase must expect those of
// all who store: the result is the number of one's own.
//
//	bytes := tile.BroadcastAsync(block, parts.At(rank), sum, told)
//	told.ArriveExpect(block, bytes.Scale(cluster.Size()))
//	told.Wait(block, parity)
//
// For the rest it is StoreAsync.
func BroadcastAsync[T Number](s Scope, dst Source[T], x Operand[T], m MBarrier) Index {
	b, scope := scopeOf(s)
	p, v := place(b, ir.BroadcastAsync, dst), operand(b, ir.BroadcastAsync, x)
	if p == nil || v == nil {
		return Index{b: b}
	}
	if m.b != b {
		ir.Fail(ErrScope, "the MBarrier of BroadcastAsync was never assigned, or belongs to another kernel; take one of tile.NewMBarriers")
	}
	return Index{b: b, v: b.BroadcastAsync(scope, *p, v, m.m, m.i)}
}

// FenceCluster orders what the threads of the scope did, and what they know of, before what they do afterwards, for all
// threads of the cluster. Arrivals, barriers and waits do so by themselves; PeerMBarrier.ArriveRelaxed does not.
func FenceCluster(s Scope) {
	b, scope := scopeOf(s)
	b.Fence(ir.FenceCluster, scope)
}
