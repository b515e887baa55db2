package tile_test

import "github.com/gotile/gotile/tile"

var wrongBarriers = []wrong{
	{name: "mbarriers in a loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 0, 4, 1) {
			tile.NewMBarriers(k, 1, 1) // ERR NewMBarriers in the Range at @-1: an mbarrier is initialised once, before anybody uses it; make it at the top level of the kernel
		}
	}},
	{name: "numbers of mbarriers", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewMBarriers(k, 65, 1)      // ERR NewMBarriers of 65: make 1 to 64
		tile.NewMBarriers(k, 0, 1)       // ERR NewMBarriers of 0: make 1 to 64
		tile.NewMBarriers(k, 1, 0)       // ERR NewMBarriers with 0 arrivals, which an mbarrier cannot count; use 1 to 1048575
		tile.NewMBarriers(k, 1, 1048576) // ERR NewMBarriers with 1048576 arrivals, which an mbarrier cannot count; use 1 to 1048575
	}},
	{name: "index of an mbarrier", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 2, 1)
		m.At(2).Arrive(k) // ERR MBarrier.Arrive of mbarrier 2 of the 2 made at @-1: use an index from 0 to 1
	}},
	{name: "arrivals, bytes, parities", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 1).At(0)
		m.ArriveCount(k, 0)      // ERR MBarrier.Arrive with 0 arrivals, which an mbarrier cannot count; use 1 to 1048575
		m.ArriveExpect(k, -16)   // ERR MBarrier.ArriveExpect with -16 bytes, which an mbarrier cannot count; use 0 to 1048575
		m.Expect(k, 1<<20)       // ERR MBarrier.Expect with 1048576 bytes, which an mbarrier cannot count; use 0 to 1048575
		m.Wait(k, 2)             // ERR MBarrier.Wait of parity 2: the phases of an mbarrier have parities 0, 1, 0, 1 and so on; use 0 or 1
		m.TestWait(k.Warp(), -1) // ERR MBarrier.TestWait of parity -1: the phases of an mbarrier have parities 0, 1, 0, 1 and so on; use 0 or 1
	}},
	{name: "scopes of mbarriers", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		m, w := tile.NewMBarriers(k, 1, 1).At(0), k.Warp()
		m.TestWait(k, 0)       // ERR MBarrier.TestWait at scope block: its warps may see different answers; use the warp as the scope, or Wait
		m.TryWait(k, 0)        // ERR MBarrier.TryWait at scope block: its warps may see different answers; use the warp as the scope, or Wait
		m.Wait(k, m.Arrive(w)) // ERR MBarrier.Wait at scope block with the token of an arrival at scope warp: each thread has its own; name one scope for both
		m.Wait(k, w.Index())   // ERR the parity of MBarrier.Wait differs among the block's warps (it comes from @+0); use the warp as the scope
		tile.If(w, w.Index().EqInt(0), func() {
			m.Arrive(k) // ERR MBarrier.Arrive of scope block stands in the warp's If at @-1: the other warps do not come here; move it out, or give the If scope block
		})
	}},
	{name: "bulk copy of the planner's tile", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 64)
		tile.CopyBulk(k, s, a.X, m) // ERR CopyBulk of the shared tile of @-1, which the planner synchronises: it cannot see mbarriers and bulk groups; make the tile with Manual, and order its accesses
		tile.StoreBulk(k, a.X, s)   // ERR StoreBulk of the shared tile of @-2, which the planner synchronises: it cannot see mbarriers and bulk groups; make the tile with Manual, and order its accesses
	}},
	{name: "box of a bulk copy", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		m, s, odd := tile.NewMBarriers(k, 1, 1), tile.NewShared[tile.F32](k, 2, 8).Manual(), tile.NewShared[tile.F32](k, 66).Manual()
		tile.CopyBulk(k, s, a.X, m.At(0))       // ERR CopyBulk of a box of rank 2: it is what At leaves of the shared tile, and a bulk copy moves one row; leave one dimension
		tile.CopyBulk(k, odd, a.X, m.At(0))     // ERR CopyBulk of a row of 66 f32, which are 264 bytes: bulk copies move multiples of 16 bytes, at most 1048575; make the last size of the shared tile a multiple of 4
		tile.CopyBulk(k, s.At(1), a.X, m.At(1)) // ERR CopyBulk with mbarrier 1 of the 1 made at @-3: use an index from 0 to 0
	}},
	{name: "bulk copy between the wrong memories", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 64).Manual()
		tile.CopyBulk(k, a.X, s, m) // ERR CopyBulk between the shared tile of @-1 and X: a bulk copy goes between a shared tile and global memory; use Load and Store for others
		tile.StoreBulk(k, s, s)     // ERR StoreBulk between the shared tile of @-2 and the shared tile of @-2: a bulk copy goes between a shared tile and global memory; use Load and Store for others
	}},
	{name: "bulk copy of what is written", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 64).Manual()
		tile.CopyBulk(k, s, a.X, m) // ERR CopyBulk from X, but the kernel writes X: the copy may read before a store or after it; use Load and Store, or order them by FenceAsyncGlobal
		tile.StoreBulk(k, a.X, s)   // ERR StoreBulk to X, but the kernel reads X: the planner does not order the two; use Store, or a tile for what is read
	}},
	{name: "named barriers", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewNamedBarrier(k, 48)  // ERR NewNamedBarrier for 48 threads of a block of 256: warps come to it as a whole; use a multiple of 32 up to 256
		tile.NewNamedBarrier(k, 512) // ERR NewNamedBarrier for 512 threads of a block of 256: warps come to it as a whole; use a multiple of 32 up to 256
		for range 15 {
			tile.NewNamedBarrier(k, 64)
		}
		tile.NewNamedBarrier(k, 64) // ERR a named barrier beyond the 15 that a block has; use one for several purposes, or mbarriers
	}},
	{name: "named barrier in a loop", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		for range tile.Range(k, 0, 4, 1) {
			tile.NewNamedBarrier(k, 64) // ERR NewNamedBarrier in the Range at @-1: a barrier belongs to the whole kernel; make it at the top level
		}
	}},
	{name: "bulk groups", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.WaitBulk(k, -1)     // ERR WaitBulk with -1 groups in flight: use 0 to 64; 0 waits for all
		tile.WaitBulkRead(k, 65) // ERR WaitBulkRead with 65 groups in flight: use 0 to 64; 0 waits for all
	}},
}
