package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

var wrongTensors = []wrong{
	{name: "swizzle of a row that it does not divide", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewShared[tile.BF16](k, 64, 48).Swizzle(layout.Swizzle128) // ERR the shared tile 64x48 bf16 cannot use the 128-byte swizzle: a row is 96 bytes; use a multiple of 64 columns, or Swizzle32
		tile.NewShared[tile.F32](k, 8, 6).Swizzle(layout.Swizzle32)     // ERR the shared tile 8x6 f32 cannot use the 32-byte swizzle: a row is 24 bytes; use a multiple of 8 columns, or no swizzle
	}},
	{name: "rows of a swizzle's panels", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewShared[tile.BF16](k, 12, 128).Swizzle(layout.Swizzle128) // ERR the shared tile 12x128 bf16 cannot use the 128-byte swizzle: its panels have 12 rows of 128 bytes, and each begins at a multiple of 1024; make the rows a multiple of 8
	}},
	{name: "swizzle that tensor copies have not", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		sw, _ := layout.NewSwizzle(2, 4, 2)
		tile.NewShared[tile.F32](k, 8, 32).Swizzle(sw) // ERR the shared tile 8x32 f32 with the swizzle Sw<2,4,2>: tensor copies have layout.Swizzle128, Swizzle64, Swizzle32 and NoSwizzle; use one of them
	}},
	{name: "swizzle after the first access", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 8, 32)
		tile.Store(k, s.At(0, 0), a.Eps)
		s.Swizzle(layout.Swizzle128) // ERR Swizzle of the shared tile of @-2 after its first access: the tile lies as its first access finds it; call Swizzle where the tile is made
	}},
	{name: "bulk copy of a swizzled tile", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 32).Swizzle(layout.Swizzle128).Manual()
		tile.StoreBulk(k, a.X, s) // ERR StoreBulk of the shared tile of @-1, which has a swizzle: a bulk copy moves bytes as they lie; use CopyTensor and StoreTensor, or drop the swizzle
	}},
	{name: "tensor copy of the planner's tile", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 8, 32)
		tile.CopyTensor(k, s, a.X, m) // ERR CopyTensor of the shared tile of @-1, which the planner synchronises: it cannot see mbarriers and bulk groups; make the tile with Manual, and order its accesses
	}},
	{name: "box of a tensor copy", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		m := tile.NewMBarriers(k, 1, 1).At(0)
		tile.CopyTensor(k, tile.NewShared[tile.F32](k, 8, 6).Manual(), a.X, m)    // ERR CopyTensor of a box with rows of 6 f32, which are 24 bytes: rows are multiples of 16 bytes; make the last size of the shared tile a multiple of 4
		tile.CopyTensor(k, tile.NewShared[tile.F32](k, 2, 320).Manual(), a.X, m)  // ERR CopyTensor of a box with rows of 320 elements: a side of a box has at most 256; give the tile a swizzle, which cuts its rows into panels, or copy narrower tiles
		tile.CopyTensor(k, tile.NewShared[tile.F32](k, 300, 8).Manual(), a.X, m)  // ERR CopyTensor of a box of 300 elements along dimension 0 of the shared tile: a side of a box has at most 256; make the copy in parts, of a tile with one dimension more
		tile.CopyTensor(k, tile.NewShared[tile.F32](k, 2, 2, 8).Manual(), a.X, m) // ERR CopyTensor of a box of rank 3 of X, which has 2 dimensions: the box is what At leaves of the shared tile; leave 1 to 2
	}},
	{name: "boxes of a tensor copy that are not aligned", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 4, 3, 8).Manual()
		tile.CopyTensor(k, s.At(1), a.X, m) // ERR CopyTensor of one of several boxes of 96 bytes: each begins at a multiple of 128 bytes in shared memory; make a box larger, or a tile of each
	}},
	{name: "tensor copy between the wrong memories", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 8, 32).Manual()
		tile.CopyTensor(k, a.X, s, m) // ERR CopyTensor between the shared tile of @-1 and X: a tensor copy goes between a shared tile and global memory; use Load and Store for others
	}},
	{name: "multicast without a cluster", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 8, 32).Manual()
		tile.MulticastTensor(k, s, a.X, m, 3) // ERR MulticastTensor in a kernel without clusters: a block has no peers; use CopyTensor, or give Define tile.ClusterSize(2), 4 or 8
	}},
	{name: "minimum of f32 by a tensor copy", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 8, 32).Manual()
		tile.ReduceTensor(k, a.X, s, tile.ReduceMin) // ERR ReduceTensor by min of f32: the hardware adds f32, bf16, f16, i32 and u32, and has min and max of integers, bf16 and f16; use an atomic
	}},
	{name: "tensor copy of what is written", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		m, s := tile.NewMBarriers(k, 1, 1).At(0), tile.NewShared[tile.F32](k, 8, 32).Manual()
		tile.CopyTensor(k, s, a.X, m) // ERR CopyTensor of X, which the kernel reads and writes: the planner does not order the two; use Load and Store, or a tensor for what is read
		tile.StoreTensor(k, a.X, s)   // ERR StoreTensor of X, which the kernel reads and writes: the planner does not order the two; use Load and Store, or a tensor for what is read
	}},
	{name: "a tensor store that ends early", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 8, 32).Manual()
		tile.StoreTensor(k, a.X, s, tile.Valid(3, nil, 2)) // ERR StoreTensor with 3 extents of a box of rank 2; give one an axis, nil for none
	}},
	{name: "a tensor store in pieces", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.StoreTensor(k, a.X, tile.NewShared[tile.F32](k, 8, 32).Manual(), tile.Pieces(8)) // ERR StoreTensor in pieces of 8 bytes: a tensor copy has none; drop the option
	}},
	{name: "a tensor store that ends where warps differ", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		w := k.Warp()
		tile.StoreTensor(k, a.X, tile.NewShared[tile.F32](k, 8, 32).Manual(), tile.Valid(w.Index())) // ERR an extent of StoreTensor differs among the block's warps (it comes from @+0); use the warp as the scope
	}},
}
