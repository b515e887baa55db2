package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

type boxArgs struct {
	X, Y tile.Global[tile.BF16] `tile:"rows,n"`
}

// Tensor copies in and out, of tiles with a swizzle. The tensor maps that they need follow from the arguments and the tiles;
// the launch makes them. What lies outside of the tensor is zero in the tile, and is not stored.
func ExampleCopyTensor() {
	show(tile.Define("twice", func(k *tile.Builder, a boxArgs) {
		const rows, cols = 64, 64
		block := k.Block()
		in := tile.NewShared[tile.BF16](k, rows, cols).Swizzle(layout.Swizzle128).Manual()
		out := tile.NewShared[tile.BF16](k, rows, cols).Swizzle(layout.Swizzle128).Manual()
		full := tile.NewMBarriers(k, 1, 1).At(0)
		row := k.BlockID().Scale(rows)
		full.ArriveExpect(block, tile.CopyTensor(block, in, a.X.At(row), full))
		full.Wait(block, 0)
		x := tile.Load(block, in, block.Striped2(rows, cols, 8, 8))
		tile.Store(block, out, x.Add(x))
		tile.FenceAsync(block) // what threads wrote comes before what the copy reads
		block.Sync()
		tile.StoreTensor(block, a.Y.At(row), out)
		tile.CommitBulk(block)
		tile.WaitBulkRead(block, 0)
	}))
	// Output:
	// kernel twice(x bf16[rows,n] r, y bf16[rows,n] w) threads 256
	//   shared s0 bf16[64 64] manual swizzle 128
	//   shared s1 bf16[64 64] manual swizzle 128
	//   mbarrier bar0[1]
	//   #0 = block [64,64] thread (8:8@1,32:1@0) value (8:1@1,2:32@0)
	//   mbar_init bar0 1
	//   %1 = block_id : i32
	//   %2 = mul %1, 64 : i32
	//   copy_tensor s0[0, 0], x[%2, 0], box 64x64, 0 bar0
	//   mbar_arrive_tx bar0 0, 8192 leader
	//   mbar_wait bar0 0, 0
	//   %6 = load s0[0, 0] : bf16 #0
	//   %7 = add %6, %6 : bf16 #0
	//   store %7 s1[0, 0] : #0
	//   fence_async
	//   barrier
	//   store_tensor s1[0, 0], y[%2, 0], box 64x64
	//   commit_bulk
	//   wait_bulk_read 0
}

// One block of a cluster copies a tile into both; each expects its bytes at its own mbarrier. The next tile is on its way
// into the L2 cache. Each block then adds the tile to the result in global memory.
func ExampleMulticastTensor() {
	show(tile.Define("spread", func(k *tile.Builder, a boxArgs) {
		const rows, cols = 8, 64
		block, rank := k.Block(), k.Cluster().Rank()
		s := tile.NewShared[tile.BF16](k, rows, cols).Manual()
		full := tile.NewMBarriers(k, 1, 1).At(0)
		tile.If(block, rank.EqInt(0), func() {
			tile.PrefetchTensor(block, s, a.X.At(rows))
			tile.MulticastTensor(block, s, a.X, full, 0b11)
		})
		full.ArriveExpect(block, rows*cols*2)
		full.Wait(block, 0)
		how := tile.TensorReduction(tile.ReduceAdd)
		tile.ReduceTensor(block, a.Y.At(rank.Scale(rows)), s, how)
		tile.CommitBulk(block)
		tile.WaitBulkRead(block, 0)
	}, tile.ClusterSize(2)))
	// Output:
	// kernel spread(x bf16[rows,n] r, y bf16[rows,n] r w) threads 256 cluster 2
	//   shared s0 bf16[8 64] manual
	//   mbarrier bar0[1]
	//   %0 = cluster_rank : i32
	//   mbar_init bar0 1
	//   %2 = eq %0, 0 : bool
	//   if %2 {
	//     prefetch_tensor s0[0, 0], x[8, 0], box 8x64
	//     multicast_tensor s0[0, 0], x[0, 0], box 8x64, 0, 3 bar0
	//   }
	//   mbar_arrive_tx bar0 0, 1024 leader
	//   mbar_wait bar0 0, 0
	//   %8 = mul %0, 8 : i32
	//   reduce_tensor s0[0, 0], y[%8, 0], box 8x64 add
	//   commit_bulk
	//   wait_bulk_read 0
}
