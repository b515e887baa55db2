package tile_test

import "github.com/gotile/gotile/tile"

// The two blocks of a cluster exchange vectors by stores that nobody waits for but the one who gets the bytes: an mbarrier
// of his counts them.
func ExampleStoreAsync() {
	type args struct {
		X, Y tile.Global[tile.F32] `tile:"2,256"`
	}
	show(tile.Define("exchange", func(k *tile.Builder, a args) {
		block, rank := k.Block(), k.Cluster().Rank()
		other := rank.AddInt(1).RemInt(2)
		got := tile.NewShared[tile.F32](k, 256).Manual()
		bars := tile.NewMBarriers(k, 1, 1)
		full := bars.At(0)
		span := block.Striped(256, 1)
		x := tile.Load(block, a.X.Row(rank), span)
		full.ArriveExpect(block, tile.StoreAsync(block, tile.Peer(got, other), x, full.Peer(other))) // it gets as much as it sends
		full.Wait(block, 0)
		tile.Store(block, a.Y.Row(rank), tile.Load(block, got, span))
		k.Cluster().Sync() // nobody leaves while others still store
	}, tile.ClusterSize(2), withClusters))
	// Output:
	// kernel exchange(x f32[2,256] r, y f32[2,256] w) threads 256 cluster 2 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   shared s0 f32[256] manual
	//   mbarrier bar0[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = cluster_rank : i32
	//   %1 = add %0, 1 : i32
	//   %2 = rem %1, 2 : i32
	//   mbar_init bar0 1
	//   %4 = load x[%0, 0] : f32 #0
	//   store_async %4 peer s0[%2, 0], 0 bar0 : #0
	//   mbar_arrive_tx bar0 0, 1024 leader
	//   mbar_wait bar0 0, 0
	//   %8 = load s0[0] : f32 #0
	//   store %8 y[%0, 0] : #0
	//   cluster_barrier cluster
}

// The blocks of a cluster add up what each has: each tells all of them its own part, and waits for theirs. One that tells
// again, in the same places, would first wait until all have come by ArriveEverywhere behind what they have read.
func ExampleBroadcastAsync() {
	type args struct {
		X tile.Global[tile.F32] `tile:"2,256"`
		Y tile.Global[tile.F32] `tile:"1"`
	}
	show(tile.Define("total", func(k *tile.Builder, a args) {
		block, rank := k.Block(), k.Cluster().Rank()
		parts := tile.NewShared[tile.F32](k, 2).Manual()
		told := tile.NewMBarriers(k, 1, 1).At(0)
		sum := tile.Load(block, a.X.Row(rank), block.Striped(256, 1)).Sum()
		bytes := tile.BroadcastAsync(block, parts.At(rank), sum, told)
		told.ArriveExpect(block, bytes.Scale(2))
		told.Wait(block, 0)
		total := tile.LoadScalar(block, parts.At(0)).Add(tile.LoadScalar(block, parts.At(1)))
		tile.If(block, rank.EqInt(0), func() { tile.Store(block, a.Y.At(0), total) })
	}, tile.ClusterSize(2), withClusters))
	// Output:
	// kernel total(x f32[2,256] r, y f32[1] w) threads 256 cluster 2 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   shared s0 f32[2] manual
	//   mbarrier bar0[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = cluster_rank : i32
	//   mbar_init bar0 1
	//   %2 = load x[%0, 0] : f32 #0
	//   %3 = sum %2 axes [0] : f32
	//   broadcast_async %3 each block's s0[%0], 0 bar0
	//   mbar_arrive_tx bar0 0, 8 leader
	//   mbar_wait bar0 0, 0
	//   %7 = load s0[0] : f32
	//   %8 = load s0[1] : f32
	//   %9 = add %7, %8 : f32
	//   %10 = eq %0, 0 : bool
	//   if %10 {
	//     store %9 y[0]
	//   }
}

// Block 1 reads what block 0 has put into its own shared memory. The arrival orders nothing by itself: the fence before it
// does.
func ExampleFenceCluster() {
	type args struct {
		X, Y tile.Global[tile.F32] `tile:"256"`
	}
	show(tile.Define("hand_over", func(k *tile.Builder, a args) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.F32](k, 256).Manual()
		full := tile.NewMBarriers(k, 1, k.Threads()).At(0)
		span := block.Striped(256, 1)
		tile.If(block, cluster.Rank().EqInt(0), func() {
			tile.Store(block, s, tile.Load(block, a.X, span))
			tile.FenceCluster(block)
			full.Peer(1).ArriveRelaxed(block)
		}, func() {
			full.Wait(block, 0)
			tile.Store(block, a.Y, tile.Load(block, tile.Peer(s, 0), span))
		})
		cluster.Sync() // a block whose memory others read is still there
	}, tile.ClusterSize(2), withClusters))
	// Output:
	// kernel hand_over(x f32[256] r, y f32[256] w) threads 256 cluster 2 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   shared s0 f32[256] manual
	//   mbarrier bar0[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   mbar_init bar0 256
	//   %1 = cluster_rank : i32
	//   %2 = eq %1, 0 : bool
	//   if %2 {
	//     %4 = load x[0] : f32 #0
	//     store %4 s0[0] : #0
	//     fence_cluster
	//     mbar_arrive_at bar0 0, 1 relaxed
	//   } {
	//     mbar_wait bar0 0, 0
	//     %9 = load peer s0[0, 0] : f32 #0
	//     store %9 y[0] : #0
	//   }
	//   cluster_barrier cluster
}

// A bulk copy reads what threads wrote to global memory: it is of another proxy, so a barrier does not do.
func ExampleFenceAsyncGlobal() {
	show(tile.Define("again", func(k *tile.Builder, a chunkArgs) {
		block := k.Block()
		s := tile.NewShared[tile.F32](k, 256).Manual()
		full := tile.NewMBarriers(k, 1, 1).At(0)
		span := block.Striped(256, 1)
		x := tile.Load(block, a.X, span)
		tile.Store(block, a.X, x.Add(x))
		tile.FenceAsyncGlobal(block)
		block.Sync()
		full.ArriveExpect(block, tile.CopyBulk(block, s, a.X.At(0), full))
		full.Wait(block, 0)
		tile.Store(block, a.Y, tile.Load(block, s, span))
	}, tile.WholeVectors()))
	// Output:
	// kernel again(x f32[n] r w, y f32[n] w, a f32) threads 256
	//   n <= 256
	//   shared s0 f32[256] manual
	//   mbarrier bar0[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   mbar_init bar0 1
	//   %1 = load x[0] : f32 #0{n}
	//   %2 = add %1, %1 : f32 #0{n}
	//   store %2 x[0] : #0{n}
	//   fence_async_global
	//   barrier
	//   %6 = min n, 256 : i32
	//   %7 = max %6, 0 : i32
	//   copy_bulk s0[0], x[0], %7, 0 bar0
	//   %9 = mul %7, 4 : i32
	//   mbar_arrive_tx bar0 0, %9 leader
	//   mbar_wait bar0 0, 0
	//   %12 = load s0[0] : f32 #0
	//   store %12 y[0] : #0{n}
}
