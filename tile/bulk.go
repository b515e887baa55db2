package tile

import "github.com/gotile/gotile/internal/ir"

// Manual makes the tile one that its author orders: the planner places no barriers for it. Bulk copies take no others,
// since nothing but the kernel's text says who waits for which mbarrier. The simulator reports accesses that nothing
// orders.
func (s Shared[T]) Manual() Shared[T] {
	if s.s != nil {
		s.s.Manual = true
	}
	return s
}

// CopyBulk copies a row from global memory to a shared tile. One thread of the scope issues it; the bytes come by the
// asynchronous proxy and are completed at an mbarrier, whose phase must expect them. The row is what dst leaves open, a
// multiple of 16 bytes; what lies past the end of src's last dimension is not written. The result is the number of bytes:
//
//	bytes := tile.CopyBulk(block, s.At(i), a.X.At(row, col), full.At(i))
//	full.At(i).ArriveExpect(block, bytes)
//	...
//	full.At(i).Wait(block, parity)
//
// Addresses and sizes are multiples of 16 bytes, to which the launch sees: the kernel is defined with WholeVectors. What
// threads did with the tile before must be ordered before the copy, and their writes by FenceAsync too.
func CopyBulk[T Number](s Scope, dst, src Source[T], bar MBarrier) Index {
	b, scope := scopeOf(s)
	to, from := place(b, ir.CopyBulk, dst), place(b, ir.CopyBulk, src)
	if to == nil || from == nil {
		return Index{b: b}
	}
	if bar.b != b {
		ir.Fail(ErrScope, "the MBarrier of CopyBulk was never assigned, or belongs to another kernel; make it with tile.NewMBarriers")
	}
	return Index{b: b, v: b.Bulk(ir.CopyBulk, scope, *to, *from, bar.m, bar.i)}
}

// StoreBulk copies a row of a shared tile to global memory, as CopyBulk does the other way: what lies past the end of
// dst's last dimension is not written. It belongs to the group that the next CommitBulk of the scope closes. What threads
// wrote into the tile must be ordered before by FenceAsync and a barrier, in this order. The kernel must not read dst.
func StoreBulk[T Number](s Scope, dst, src Source[T]) {
	b, scope := scopeOf(s)
	if to, from := place(b, ir.StoreBulk, dst), place(b, ir.StoreBulk, src); to != nil && from != nil {
		b.Bulk(ir.StoreBulk, scope, *from, *to, nil, nil)
	}
}

// CommitBulk ends a group of bulk stores of the scope: those since the last one, which may be none.
func CommitBulk(s Scope) {
	b, scope := scopeOf(s)
	b.BulkGroup(ir.CommitBulk, scope, 0)
}

// WaitBulk waits until at most n of the scope's newest groups, 0 to 64, are in flight: the others are in global memory.
func WaitBulk(s Scope, n int) {
	b, scope := scopeOf(s)
	b.BulkGroup(ir.WaitBulk, scope, n)
}

// WaitBulkRead waits until at most n of the scope's newest groups have yet to read their tiles, which may then be written
// again. A kernel that ends must have waited so for all of them.
func WaitBulkRead(s Scope, n int) {
	b, scope := scopeOf(s)
	b.BulkGroup(ir.WaitBulkRead, scope, n)
}

// FenceAsync orders what the threads of the scope wrote to shared memory, and what they know of, before what bulk copies
// will do there. A barrier or an mbarrier then orders it for the thread that issues them.
func FenceAsync(s Scope) {
	b, scope := scopeOf(s)
	b.Fence(ir.FenceAsync, scope)
}

// FenceAsyncGlobal is FenceAsync for global memory: it orders what the threads of the scope wrote there, and what they
// know of, before what bulk copies will read. A kernel that has it may CopyBulk from an argument that it writes; the
// simulator reports copies of what no fence or no barrier has ordered before.
func FenceAsyncGlobal(s Scope) {
	b, scope := scopeOf(s)
	b.Fence(ir.FenceAsyncGlobal, scope)
}
