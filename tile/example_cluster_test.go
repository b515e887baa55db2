package tile_test

import "github.com/gotile/gotile/tile"

var withClusters = tile.Targets("sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a")

// A row spread over the four blocks of a cluster: Sum combines what all of them hold. The loop is the cluster's, too, so
// that its blocks come to the same rows.
func ExampleCluster() {
	type args struct {
		X    tile.Global[tile.BF16] `tile:"rows,n"`
		Norm tile.Global[tile.F32]  `tile:"rows"`
	}
	show(tile.Define("norm", func(k *tile.Builder, a args) {
		cluster := k.Cluster()
		span := cluster.Striped(16384, 8)
		for row := range tile.Persistent(cluster, a.X.Dim(0)) {
			x := tile.Cast[tile.F32](tile.Load(cluster, a.X.Row(row), span))
			tile.Store(cluster, a.Norm.At(row), x.Mul(x).Sum().Sqrt())
		}
	}, tile.ClusterSize(4), withClusters))
	// Output:
	// kernel norm(x bf16[rows,n] r, norm f32[rows] w) threads 256 cluster 4 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   n <= 16384
	//   #0 = cluster [16384] thread (1024:8@0) value (8:1@0,2:8192@0)
	//   persistent rows, 1 cluster { %1
	//     %2 = load x[%1, 0] : bf16 #0{n}
	//     %3 = cast %2 : f32 #0{n}
	//     %4 = mul %3, %3 : f32 #0{n}
	//     %5 = sum %4 axes [0] : f32 cluster
	//     %6 = sqrt %5 : f32
	//     store %6 norm[%1] cluster
	//   }
}

// The two blocks of a cluster exchange rows: each loads one into its own shared memory and stores the other's. The
// planner places the barriers.
func ExamplePeer() {
	type args struct {
		X, Y tile.Global[tile.F32] `tile:"pairs,2,256"`
	}
	show(tile.Define("exchange", func(k *tile.Builder, a args) {
		cluster, block := k.Cluster(), k.Block()
		span := block.Striped(256, 1)
		rank := cluster.Rank()
		mine := tile.NewShared[tile.F32](k, 256)
		for pair := range tile.Persistent(cluster, a.X.Dim(0)) {
			tile.Store(block, mine, tile.Load(block, a.X.At(pair, rank), span))
			other := tile.Load(block, tile.Peer(mine, rank.AddInt(1).RemInt(2)), span)
			tile.Store(block, a.Y.At(pair, rank), other)
		}
	}, tile.ClusterSize(2), withClusters))
	// Output:
	// kernel exchange(x f32[pairs,2,256] r, y f32[pairs,2,256] w) threads 256 cluster 2 targets sm_90a,sm_100a,sm_103a,sm_120a,sm_121a
	//   shared s0 f32[256]
	//   #0 = block [256] thread (256:1@0) value ()
	//   %0 = cluster_rank : i32
	//   persistent pairs, 1 cluster { %2
	//     %3 = load x[%2, %0, 0] : f32 #0
	//     store %3 s0[0] : #0
	//     %5 = add %0, 1 : i32
	//     %6 = rem %5, 2 : i32
	//     %7 = load peer s0[%6, 0] : f32 #0
	//     store %7 y[%2, %0, 0] : #0
	//   }
}
