package tile_test

import "github.com/gotile/gotile/tile"

// Rows go round in a cluster: each block sends its row to the next one, without waiting for it, and adds what it gets. The
// bytes are completed at the receiver's mbarrier, which expects as many as this block sends.
func ExampleStoreAsync() {
	type args struct {
		X, Y tile.Global[tile.F32] `tile:"4,256"`
	}
	show(tile.Define("round", func(k *tile.Builder, a args) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.F32](k, 256).Manual()
		full := tile.NewMBarriers(k, 1, 1).At(0)
		rank := cluster.Rank()
		next := rank.AddInt(1).RemInt(4)
		x := tile.Load(block, a.X.Row(rank), block.Striped(256, 1))
		full.ArriveExpect(block, tile.StoreAsync(block, tile.Peer(s, next), x, full.Peer(next)))
		full.Wait(block, 0)
		tile.Store(block, a.Y.Row(rank), x.Add(tile.Load(block, s, block.Striped(256, 1))))
	}, tile.ClusterSize(4), withClusters))
	// Output:
	// kernel round(x f32[4,256] r, y f32[4,256] w) threads 256 cluster 4 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   shared s0 f32[256] manual
	//   mbarrier bar0[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   mbar_init bar0 1
	//   %1 = cluster_rank : i32
	//   %2 = add %1, 1 : i32
	//   %3 = rem %2, 4 : i32
	//   %4 = load x[%1, 0] : f32 #0
	//   store_async %4 peer s0[%3, 0], 0 bar0 : #0
	//   mbar_arrive_tx bar0 0, 1024 leader
	//   mbar_wait bar0 0, 0
	//   %8 = load s0[0] : f32 #0
	//   %9 = add %4, %8 : f32 #0
	//   store %9 y[%1, 0] : #0
}

// Each block writes to the next one's shared memory and says so by an arrival there. One fence orders what came before it
// for any number of relaxed arrivals behind it.
func ExampleFenceCluster() {
	type args struct {
		X, Y tile.Global[tile.F32] `tile:"2,256"`
	}
	show(tile.Define("swap", func(k *tile.Builder, a args) {
		cluster, block := k.Cluster(), k.Block()
		s := tile.NewShared[tile.F32](k, 256).Manual()
		full := tile.NewMBarriers(k, 1, k.Threads()).At(0)
		rank := cluster.Rank()
		other := rank.AddInt(1).RemInt(2)
		tile.Store(block, tile.Peer(s, other), tile.Load(block, a.X.Row(rank), block.Striped(256, 1)))
		tile.FenceCluster(block)
		full.Peer(other).ArriveRelaxed(block)
		full.Wait(block, 0)
		tile.Store(block, a.Y.Row(rank), tile.Load(block, s, block.Striped(256, 1)))
		cluster.Sync() // nobody leaves while the other still writes
	}, tile.ClusterSize(2), withClusters))
	// Output:
	// kernel swap(x f32[2,256] r, y f32[2,256] w) threads 256 cluster 2 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   shared s0 f32[256] manual
	//   mbarrier bar0[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   mbar_init bar0 256
	//   %1 = cluster_rank : i32
	//   %2 = add %1, 1 : i32
	//   %3 = rem %2, 2 : i32
	//   %4 = load x[%1, 0] : f32 #0
	//   store %4 peer s0[%3, 0] : #0
	//   fence_cluster
	//   mbar_arrive_at bar0 0, %3 relaxed
	//   mbar_wait bar0 0, 0
	//   %9 = load s0[0] : f32 #0
	//   store %9 y[%1, 0] : #0
	//   cluster_barrier cluster
}

// A bulk copy of what threads wrote to global memory: fenced, and ordered by a barrier.
func ExampleFenceAsyncGlobal() {
	type args struct {
		X, T, Y tile.Global[tile.F32] `tile:"256"`
	}
	show(tile.Define("again", func(k *tile.Builder, a args) {
		block := k.Block()
		span := block.Striped(256, 1)
		s := tile.NewShared[tile.F32](k, 256).Manual()
		full := tile.NewMBarriers(k, 1, 1).At(0)
		tile.Store(block, a.T, tile.Load(block, a.X, span))
		tile.FenceAsyncGlobal(block)
		block.Sync()
		full.ArriveExpect(block, tile.CopyBulk(block, s, a.T, full))
		full.Wait(block, 0)
		tile.Store(block, a.Y, tile.Load(block, s, span))
	}, tile.WholeVectors(), withClusters))
	// Output:
	// kernel again(x f32[256] r, t f32[256] r w, y f32[256] w) threads 256 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   shared s0 f32[256] manual
	//   mbarrier bar0[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   mbar_init bar0 1
	//   %1 = load x[0] : f32 #0
	//   store %1 t[0] : #0
	//   fence_async_global
	//   barrier
	//   copy_bulk s0[0], t[0], 256, 0 bar0
	//   mbar_arrive_tx bar0 0, 1024 leader
	//   mbar_wait bar0 0, 0
	//   %8 = load s0[0] : f32 #0
	//   store %8 y[0] : #0
}

// A kernel that may begin while the one ahead of it on the stream still runs, and lets the next one do so. W is written
// by none of them, so it may be loaded before the wait.
func ExampleBuilder_WaitPrerequisites() {
	type args struct {
		X, Y tile.Global[tile.F32] `tile:"rows,256"`
		W    tile.Global[tile.F32] `tile:"256"`
	}
	show(tile.Define("add", func(k *tile.Builder, a args) {
		block := k.Block()
		span := block.Striped(256, 1)
		w := tile.Load(block, a.W, span)
		k.WaitPrerequisites()
		k.LaunchDependents()
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			tile.Store(block, a.Y.Row(row), tile.Load(block, a.X.Row(row), span).Add(w))
		}
	}, withClusters))
	// Output:
	// kernel add(x f32[rows,256] r, y f32[rows,256] w, w f32[256] r) threads 256 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = load w[0] : f32 #0
	//   wait_prerequisites
	//   launch_dependents
	//   persistent rows, 1 { %4
	//     %5 = load x[%4, 0] : f32 #0
	//     %6 = add %5, %0 : f32 #0
	//     store %6 y[%4, 0] : #0
	//   }
}
