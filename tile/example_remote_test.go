package tile_test

import "github.com/gotile/gotile/tile"

// The two blocks of a cluster send each other rows by asynchronous stores. An mbarrier of the receiver's says when the
// bytes are there, one of the sender's when the receiver has read them; the fence orders the reads before the arrivals,
// which alone would release nothing.
func ExampleStoreAsync() {
	type args struct {
		X, Y tile.Global[tile.F32] `tile:"pairs,2,256"`
	}
	show(tile.Define("send", func(k *tile.Builder, a args) {
		cluster, block := k.Cluster(), k.Block()
		span, s := block.Striped(256, 1), tile.NewShared[tile.F32](k, 256).Manual()
		full, empty := tile.NewMBarriers(k, 1, 1).At(0), tile.NewMBarriers(k, 1, k.Threads()).At(0)
		rank := cluster.Rank()
		other := rank.AddInt(1).RemInt(2)
		rounds := tile.NewVar(cluster, tile.I32(0))
		for pair := range tile.Persistent(cluster, a.X.Dim(0)) {
			parity := tile.AsIndex(rounds.Get()).RemInt(2)
			x := tile.Load(block, a.X.At(pair, rank), span)
			empty.Wait(block, parity.AddInt(1).RemInt(2)) // the first one passes
			block.Sync()                                  // all threads have passed it
			full.ArriveExpect(block, tile.StoreAsync(block, tile.Peer(s, other), x, full.Peer(other)))
			full.Wait(block, parity)
			tile.Store(block, a.Y.At(pair, rank), tile.Load(block, s, span))
			tile.FenceCluster(block)
			empty.Peer(other).ArriveRelaxed(block)
			rounds.Set(rounds.Get().Add(tile.I32(1)))
		}
		cluster.Sync() // nobody leaves while others still arrive
	}, tile.ClusterSize(2), withClusters))
	// Output:
	// kernel send(x f32[pairs,2,256] r, y f32[pairs,2,256] w) threads 256 cluster 2 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   shared s0 f32[256] manual
	//   mbarrier bar0[1]
	//   mbarrier bar1[1]
	//   #0 = block [256] thread (256:1@0) value ()
	//   mbar_init bar0 1
	//   mbar_init bar1 256
	//   %2 = cluster_rank : i32
	//   %3 = add %2, 1 : i32
	//   %4 = rem %3, 2 : i32
	//   %5 = var 0 : i32 cluster
	//   persistent pairs, 1 cluster { %7
	//     %8 = get %5 : i32 cluster
	//     %9 = rem %8, 2 : i32
	//     %10 = load x[%7, %2, 0] : f32 #0
	//     %11 = add %9, 1 : i32
	//     %12 = rem %11, 2 : i32
	//     mbar_wait bar1 0, %12
	//     barrier
	//     store_async %10 peer s0[%4, 0], 0 bar0 : #0
	//     mbar_arrive_tx bar0 0, 1024 leader
	//     mbar_wait bar0 0, %9
	//     %18 = load s0[0] : f32 #0
	//     store %18 y[%7, %2, 0] : #0
	//     fence_cluster
	//     mbar_arrive_at bar1 0, %4 relaxed
	//     %22 = get %5 : i32 cluster
	//     %23 = add %22, 1 : i32
	//     set %5, %23 cluster
	//   }
	//   cluster_barrier cluster
}
