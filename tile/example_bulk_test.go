package tile_test

import "github.com/gotile/gotile/tile"

// Bulk copies in and out, which the author orders. An mbarrier says when a chunk is there: a phase is over when one
// thread has arrived, saying how many bytes it expects, and the copy has brought them. Groups say when stores are done.
func ExampleCopyBulk() {
	show(tile.Define("twice", func(k *tile.Builder, a chunkArgs) {
		const chunk = 256
		block := k.Block()
		span := block.Striped(chunk, 1)
		in, out := tile.NewShared[tile.F32](k, chunk).Manual(), tile.NewShared[tile.F32](k, chunk).Manual()
		full := tile.NewMBarriers(k, 1, 1).At(0)
		for col := range tile.Range(k, 0, a.X.Dim(0), chunk) {
			full.ArriveExpect(block, tile.CopyBulk(block, in, a.X.At(col), full))
			full.Wait(block, col.DivInt(chunk).RemInt(2)) // phases have parities 0, 1, 0, 1 and so on
			x := tile.Load(block, in, span)
			tile.WaitBulkRead(block, 0) // the store before has read its tile
			block.Sync()
			tile.Store(block, out, x.Add(x))
			tile.FenceAsync(block) // what threads wrote comes before what the bulk store reads
			block.Sync()
			tile.StoreBulk(block, a.Y.At(col), out)
			tile.CommitBulk(block)
		}
		tile.WaitBulk(block, 0)
	}, tile.WholeVectors()))
	// Output:
	// kernel twice(x f32[n] r, y f32[n] w, a f32) threads 256
	//   shared s0 f32[256] manual
	//   shared s1 f32[256] manual
	//   mbarrier bar0[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   mbar_init bar0 1
	//   range 0, n, 256 { %2
	//     %3 = sub n, %2 : i32
	//     %4 = min %3, 256 : i32
	//     %5 = max %4, 0 : i32
	//     copy_bulk s0[0], x[%2], %5, 0 bar0
	//     %7 = mul %5, 4 : i32
	//     mbar_arrive_tx bar0 0, %7 leader
	//     %9 = div %2, 256 : i32
	//     %10 = rem %9, 2 : i32
	//     mbar_wait bar0 0, %10
	//     %12 = load s0[0] : f32 #0
	//     wait_bulk_read 0
	//     barrier
	//     %15 = add %12, %12 : f32 #0
	//     store %15 s1[0] : #0
	//     fence_async
	//     barrier
	//     %19 = sub n, %2 : i32
	//     %20 = min %19, 256 : i32
	//     %21 = max %20, 0 : i32
	//     store_bulk s1[0], y[%2], %21
	//     %23 = mul %21, 4 : i32
	//     commit_bulk
	//   }
	//   wait_bulk 0
}

// A thread may arrive and go on: its token says for which phase to wait later.
func ExampleMBarrier() {
	show(tile.Define("exchange", func(k *tile.Builder, a chunkArgs) {
		block := k.Block()
		span, all := block.Striped(256, 1), tile.NewShared[tile.F32](k, 256).Manual()
		ready := tile.NewMBarriers(k, 1, k.Threads()).At(0)
		tile.Store(block, all, tile.Load(block, a.X, span))
		token := ready.Arrive(block)
		y := tile.Load(block, a.Y, span) // while others still store
		ready.Wait(block, token)
		tile.Store(block, a.Y, y.Add(tile.LoadScalar(block, all.At(255))))
	}))
	// Output:
	// kernel exchange(x f32[n] r, y f32[n] r w, a f32) threads 256
	//   n <= 256
	//   shared s0 f32[256] manual
	//   mbarrier bar0[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   mbar_init bar0 256
	//   %1 = load x[0] : f32 #0{n}
	//   store %1 s0[0] : #0{n}
	//   %3 = mbar_arrive bar0 0, 1 : i64
	//   %4 = load y[0] : f32 #0{n}
	//   mbar_wait bar0 0, %3
	//   %6 = load s0[255] : f32
	//   %7 = add %4, %6 : f32 #0{n}
	//   store %7 y[0] : #0{n}
}

// The first warp fills a tile for the others. Those that use it wait at the barrier; the one that fills it only arrives.
func ExampleNamedBarrier() {
	show(tile.Define("first_warp", func(k *tile.Builder, a chunkArgs) {
		warp := k.Warp()
		part := tile.NewShared[tile.F32](k, 1).Manual()
		full := tile.NewNamedBarrier(k, k.Threads())
		tile.If(warp, warp.Index().EqInt(0), func() {
			tile.Store(warp, part, tile.Load(warp, a.X, warp.Striped(32, 1)).Sum())
			full.Arrive(warp)
		}, func() {
			full.Sync(warp)
			tile.Store(warp, a.Y.At(warp.Index()), tile.LoadScalar(warp, part))
		})
	}))
	// Output:
	// kernel first_warp(x f32[n] r, y f32[n] w, a f32) threads 256
	//   n <= 32
	//   shared s0 f32[1] manual
	//   #0 = warp [32] thread (32:1@0) value ()
	//   %0 = warp_id : i32 warp
	//   %1 = eq %0, 0 : bool warp
	//   if %1 warp {
	//     %3 = load x[0] : f32 #0{n}
	//     %4 = sum %3 axes [0] : f32 warp
	//     store %4 s0[0] warp
	//     named_arrive 1 for 256 warp
	//   } {
	//     named_sync 1 for 256 warp
	//     %8 = warp_id : i32 warp
	//     %9 = load s0[0] : f32 warp
	//     store %9 y[%8] warp
	//   }
}
