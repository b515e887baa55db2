package tile_test

import "github.com/gotile/gotile/tile"

var wrongCopies = []wrong{
	{name: "copy to global memory", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.CopyAsync(k, a.X, a.Y) // ERR CopyAsync to X: its destination is a shared tile; Load and Store copy to global memory
	}},
	{name: "copy from shared memory", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 64)
		tile.CopyAsync(k, s, s) // ERR CopyAsync from the shared tile of @-1: its source is global memory; Load and Store copy shared tiles
	}},
	{name: "box", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.CopyAsync(k, tile.NewShared[tile.F32](k, 64).At(3), a.X) // ERR CopyAsync to a box of rank 0: it is what At leaves of the shared tile; leave one dimension or two
		tile.CopyAsync(k, tile.NewShared[tile.F32](k, 2, 2, 8), a.X)  // ERR CopyAsync to a box of rank 3: it is what At leaves of the shared tile; leave one dimension or two
		tile.CopyAsync(k, tile.NewShared[tile.F32](k, 2, 8), a.V)     // ERR CopyAsync of a tile of 2x8 on V, which has 1 dimension; use a span of rank 1
		tile.CopyAsync(k, tile.NewShared[tile.BF16](k, 5), a.H)       // ERR CopyAsync to rows of 5 bf16, which are 10 bytes: they are copied 16, 8 or 4 bytes at a time; make the last size of the shared tile a multiple of 2
	}},
	{name: "pieces of a copy", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.CopyAsync(k, tile.NewShared[tile.F32](k, 66), a.X, tile.Pieces(16)) // ERR CopyAsync to rows of 66 f32, which are 264 bytes, in pieces of 16; use smaller pieces, or make the last size of the shared tile a multiple of 4
	}},
	{name: "sizes of pieces", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 64)
		tile.CopyAsync(k, s, a.X, tile.Pieces(12))                 // ERR CopyAsync of f32 in pieces of 12 bytes: a thread copies 4, 8 or 16 bytes at once, and whole elements; use one of these
		tile.CopyAsync(k, s, a.X, tile.Pieces(0))                  // ERR CopyAsync of f32 in pieces of 0 bytes: a thread copies 4, 8 or 16 bytes at once, and whole elements; use one of these
		tile.CopyAsync(k, s, a.X, tile.Pieces(4), tile.Pieces(16)) // ERR CopyAsync with 2 sizes of pieces; give one
	}},
	{name: "copy of what is written", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		tile.CopyAsync(k, tile.NewShared[tile.F32](k, 64), a.S) // ERR CopyAsync from S, but the kernel writes S: the copy may read before a store or after it; use Load and Store
		tile.Store(k, a.S, tile.F32(0))
	}},
	{name: "groups", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.WaitGroup(k, -1) // ERR WaitGroup with -1 groups in flight: use 0 to 64; 0 waits for all
		tile.WaitGroup(k, 65) // ERR WaitGroup with 65 groups in flight: use 0 to 64; 0 waits for all
	}},
	{name: "copies of the block in a warp's branch", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		w, s := k.Warp(), tile.NewShared[tile.F32](k, 64)
		tile.If(w, w.Index().EqInt(0), func() {
			tile.CopyAsync(k, s, a.X) // ERR CopyAsync of scope block stands in the warp's If at @-1: the other warps do not come here; move it out, or give the If scope block
			tile.Commit(k)            // ERR Commit of scope block stands in the warp's If at @-2: the other warps do not come here; move it out, or give the If scope block
			tile.WaitGroup(k, 0)      // ERR WaitGroup of scope block stands in the warp's If at @-3: the other warps do not come here; move it out, or give the If scope block
		})
	}},
}
