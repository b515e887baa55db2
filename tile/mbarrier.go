package tile

import "github.com/gotile/gotile/internal/ir"

// MBarriers is an array of mbarriers in shared memory: barriers with phases, at which threads arrive and bulk copies
// complete bytes, and for which others wait. A phase is over when all its arrivals have come and as many bytes as were
// expected; the next one begins at once. Phases are numbered from 0; their parities are 0, 1, 0, 1 and so on.
//
// An arrival releases what its thread did before; a wait acquires what was released in the phase, and the bytes of its
// copies. Their author says what waits for what: tiles that are ordered by mbarriers are made with Manual. The simulator
// reports accesses that nothing orders, bytes that were not expected, phases that are missed, and who waits for whom when
// nobody can go on.
type MBarriers struct {
	_ [0]func()
	b *ir.Builder
	m *ir.MBarrier
}

// MBarrier is one of MBarriers.
type MBarrier struct {
	_ [0]func()
	b *ir.Builder
	m *ir.MBarrier
	i *ir.Value
}

// Token says which phase an arrival belongs to. Each thread has its own.
type Token struct {
	_ [0]func()
	b *ir.Builder
	v *ir.Value
}

// NewMBarriers makes n mbarriers, up to 64, that expect arrivals arrivals a phase each, an int or an Index. One thread
// initialises them, and the block meets: it stands at the top level of the kernel.
func NewMBarriers[N Int](k *Builder, n int, arrivals N) MBarriers {
	b := k.kernel()
	return MBarriers{b: b, m: b.NewMBarriers(n, indexOf(b, ir.MBarInit, "the number of arrivals", arrivals))}
}

// At is mbarrier i, an int or an Index.
func (m MBarriers) At(i any) MBarrier {
	if m.b == nil {
		ir.Fail(ErrScope, "the MBarriers were never assigned: they are the zero value of their type; make them with tile.NewMBarriers")
	}
	return MBarrier{b: m.b, m: m.m, i: indexOf(m.b, ir.MBarArrive, "the index of an mbarrier", i)}
}

func (m MBarrier) record(op ir.Op, s Scope, leader bool, what string, x any) *ir.Value {
	b, scope := scopeOf(s)
	if m.b != b {
		ir.Fail(ErrScope, "the MBarrier of %s was never assigned, or belongs to another kernel; make it with tile.NewMBarriers", ir.Table[op].Go)
	}
	var v *ir.Value
	switch x := x.(type) {
	case nil:
	case Token:
		v = owned(b, op, "the token", x.b, x.v)
	default:
		v = indexOf(b, op, what, x)
	}
	return b.Barrier(op, scope, ir.BarrierInfo{Bar: m.m, Leader: leader}, m.i, v)
}

// Arrive is an arrival of each thread of the scope.
func (m MBarrier) Arrive(s Scope) Token {
	return Token{b: m.b, v: m.record(ir.MBarArrive, s, false, "", 1)}
}

// ArriveCount is an arrival of each thread of the scope for n arrivals, an int or an Index.
func (m MBarrier) ArriveCount(s Scope, n any) Token {
	return Token{b: m.b, v: m.record(ir.MBarArrive, s, false, "the count", n)}
}

// ArriveOnce is one arrival for the whole scope: its threads meet, then one arrives.
func (m MBarrier) ArriveOnce(s Scope) { m.record(ir.MBarArrive, s, true, "", 1) }

// ArriveExpect is one arrival of one thread of the scope, with which the phase expects so many bytes more, an int or an
// Index: what the copies of the phase move. It may follow the copies.
func (m MBarrier) ArriveExpect(s Scope, bytes any) {
	m.record(ir.MBarArriveTx, s, true, "the number of bytes", bytes)
}

// Expect is ArriveExpect without the arrival.
func (m MBarrier) Expect(s Scope, bytes any) {
	m.record(ir.MBarExpectTx, s, true, "the number of bytes", bytes)
}

// TestWait asks whether the phase of a parity, an int or an Index, or of a Token is over. It is for a Warp.
func (m MBarrier) TestWait(s Scope, phase any) Reg[Bool] {
	return Reg[Bool]{b: m.b, v: m.record(ir.MBarTest, s, false, "the parity", phase)}
}

// TryWait is TestWait, but the warp may be suspended for a time that the hardware chooses.
func (m MBarrier) TryWait(s Scope, phase any) Reg[Bool] {
	return Reg[Bool]{b: m.b, v: m.record(ir.MBarTry, s, false, "the parity", phase)}
}

// Wait waits until the phase of a parity, an int or an Index, or of a Token is over: each thread of the scope for itself.
// For a parity that is the phase now under way or the one before it.
func (m MBarrier) Wait(s Scope, phase any) { m.record(ir.MBarWait, s, false, "the parity", phase) }

// ArriveAndWait arrives with each thread of the scope and waits for the phase.
func (m MBarrier) ArriveAndWait(s Scope) { m.Wait(s, m.Arrive(s)) }

// Track makes the phase wait for the copies by CopyAsync that each thread of the scope has begun, in place of Commit and
// WaitGroup. It is no arrival: each thread arrives after it.
//
//	tile.CopyAsync(block, s, a.X.At(row, col))
//	full.Track(block)
//	full.Arrive(block)
func (m MBarrier) Track(s Scope) { m.record(ir.MBarTrack, s, false, "", nil) }

// ArriveEverywhere is one arrival of the scope, which meets first, at the same mbarrier in each block of the cluster, its
// own included. Who waits there knows that the scope is done with what it did in its own block's shared memory: that it
// has read what others are to write next, or has written what others are to read. What it stored in that of others it
// does not say: a FenceCluster and PeerMBarrier.ArriveRelaxed do.
func (m MBarrier) ArriveEverywhere(s Scope) {
	b, scope := scopeOf(s)
	if m.b != b {
		ir.Fail(ErrScope, "the MBarrier of ArriveEverywhere was never assigned, or belongs to another kernel; take one of tile.NewMBarriers")
	}
	b.ArriveAll(scope, m.m, m.i)
}

// Inval ends the mbarrier. Nobody may use it any more.
func (m MBarrier) Inval(s Scope) { m.record(ir.MBarInval, s, true, "", nil) }
