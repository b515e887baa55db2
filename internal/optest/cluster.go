package optest

import "github.com/gotile/gotile/tile"

// clustered defines a kernel of clusters of size blocks, for the targets that have them.
func clustered[A any](name string, threads, size int, doc string, f func(k *tile.Builder, a A)) (*tile.Kernel, error) {
	return tile.Define(name, f, tile.Threads(threads), tile.ClusterSize(size),
		tile.Targets("sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a"), tile.Doc(doc))
}

// clusterRowArgs: the four reductions of each row of X, a row a cluster, and what every block makes of one.
type clusterRowArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"rows,4"`
	Z tile.Global[T] `tile:"rows,n"` // X minus the row's maximum
}

// clusterRow reduces rows of at most cap elements. A cluster has several rows, so the places of partial results are
// used again.
func clusterRow[T tile.Number](name string, threads, size, cap, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return clustered(name, threads, size, "Reductions of rows, a row a cluster.", func(k *tile.Builder, a clusterRowArgs[T]) {
			cluster := k.Cluster()
			span := cluster.Striped(cap, vec).Clip(a.X.Dim(1))
			for row := range tile.Persistent(cluster, a.X.Dim(0)) {
				x := tile.Load(cluster, a.X.Row(row), span)
				ys := reduceBy(x)
				for i, y := range ys {
					tile.Store(cluster, a.Y.At(row, i), y)
				}
				tile.Store(cluster, a.Z.Row(row), x.Sub(ys[1]))
			}
		})
	}}
}

func clusterRowKernels() tile.Set {
	return family(
		clusterRow[tile.F32]("op_cluster_row_f32_2x32", 32, 2, 128, 2),  // one warp a block
		clusterRow[tile.F32]("op_cluster_row_f32_4x96", 96, 4, 1000, 1), // three warps: no power of two
		clusterRow[tile.F32]("op_cluster_row_f32_8x256", 256, 8, 8192, 4),
		clusterRow[tile.BF16]("op_cluster_row_bf16_2x128", 128, 2, 4096, 8),
		clusterRow[tile.I32]("op_cluster_row_i32_8x64", 64, 8, 1024, 2),
		clusterRow[tile.I64]("op_cluster_row_i64_4x64", 64, 4, 600, 2),
	)
}

// clusterTileKernel reduces tiles spread over a cluster: across threads a row, so that of a block's number some bits
// count along rows and some along columns. The arguments are those of tileKernel.
func clusterTileKernel[T tile.Number](name string, threads, size, rows, cols, vec, across int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return clustered(name, threads, size, "Reductions of tiles, spread over a cluster, along rows, along columns and of everything.", func(k *tile.Builder, a clusterTileArgs[T]) {
			cluster := k.Cluster()
			span := cluster.Striped2(rows, cols, vec, across)
			for g := range tile.Persistent(cluster, a.X.Dim(0)) {
				x := tile.Load(cluster, a.X.At(g), span)
				byRow, byCol, all := reduceBy(x, 1), reduceBy(x, 0), reduceBy(x)
				for i := range reductions {
					tile.Store(cluster, a.ByRow.At(g, i), byRow[i])
					tile.Store(cluster, a.ByCol.At(g, i), byCol[i])
					tile.Store(cluster, a.All.At(g, i), all[i])
				}
			}
		})
	}}
}

// clusterTileArgs are tileArgs for kernels of clusters.
type clusterTileArgs[T tile.Number] struct {
	X     tile.Global[T] `tile:"groups,rows,n"`
	ByRow tile.Global[T] `tile:"groups,4,rows"`
	ByCol tile.Global[T] `tile:"groups,4,n"`
	All   tile.Global[T] `tile:"groups,4"`
}

func clusterTileKernels() tile.Set {
	return family(
		clusterTileKernel[tile.F32]("op_cluster_tile_f32_across16", 64, 4, 24, 60, 2, 16),     // rows within a block
		clusterTileKernel[tile.F32]("op_cluster_tile_f32_across128", 64, 4, 6, 300, 1, 128),   // two blocks a row, two along columns
		clusterTileKernel[tile.BF16]("op_cluster_tile_bf16_across256", 32, 8, 3, 700, 2, 256), // all blocks a row
		clusterTileKernel[tile.I32]("op_cluster_tile_i32_across8", 128, 2, 70, 13, 1, 8),      // four rows a warp
	)
}

// clusterGridArgs: where each block stands, and which cluster got which iteration.
type clusterGridArgs struct {
	Y    tile.Global[tile.I32] `tile:"clusters,4,5"` // cluster, clusters, rank, block, iterations of each block
	Mine tile.Global[tile.I32] `tile:"m"`            // the cluster of each iteration
}

func clusterGrid(name string) (*tile.Kernel, error) {
	return clustered(name, 32, 4, "Where a block of a cluster stands, and the clusters' shares of the grid's work.", func(k *tile.Builder, a clusterGridArgs) {
		cluster := k.Cluster()
		count := tile.NewVar(cluster, tile.I32(0))
		for i := range tile.Persistent(cluster, a.Mine.Dim(0), tile.Step(2), tile.Blocks(a.Y.Dim(0))) {
			count.Set(count.Get().Add(tile.I32(1)))
			tile.Store(cluster, a.Mine.At(i), tile.Full(cluster, cluster.Striped(2, 1), k.ClusterID().Int()))
		}
		for i, v := range []tile.Reg[tile.I32]{k.ClusterID().Int(), k.NumClusters().Int(), cluster.Rank().Int(), k.BlockID().Int(), count.Get()} {
			tile.Store(k, a.Y.At(k.ClusterID(), cluster.Rank(), i), v)
		}
	})
}

func clusterGridKernels() tile.Set { return family(kernel{"op_cluster_grid", clusterGrid}) }

// clusterShareArgs: rows that are shared out over the blocks of a grid of clusters.
type clusterShareArgs struct {
	Y tile.Global[tile.I32] `tile:"rows,2"` // the block that served a row and the number of blocks
}

func clusterShare(name string) (*tile.Kernel, error) {
	return clustered(name, 64, 2, "Rows shared out over the blocks of a grid of clusters.", func(k *tile.Builder, a clusterShareArgs) {
		for row := range tile.Persistent(k, a.Y.Dim(0)) {
			tile.Store(k, a.Y.At(row, 0), k.BlockID().Int())
			tile.Store(k, a.Y.At(row, 1), k.NumBlocks().Int())
		}
	})
}

func clusterShareKernels() tile.Set { return family(kernel{"op_cluster_share", clusterShare}) }

// clusterPeerArgs: tiles that go round in a cluster. X[g, r] belongs to block r.
type clusterPeerArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"groups,4,n"`
	Y tile.Global[T] `tile:"groups,4,n"` // what block r+1 has, fetched
	Z tile.Global[T] `tile:"groups,4,n"` // what block r-1 has, sent
	W tile.Global[T] `tile:"groups,4,n"` // what block r+1 has, fetched by the last warp
	S tile.Global[T] `tile:"groups,4,2"` // its first element; the first that block r-1 sent
}

func clusterPeer[T tile.Number](name string, cap, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		const size = 4
		return clustered(name, 64, size, "Tiles of other blocks of the cluster, fetched and sent.", func(k *tile.Builder, a clusterPeerArgs[T]) {
			cluster, block, warp := k.Cluster(), k.Block(), k.Warp()
			mine, sent, one := tile.NewShared[T](k, 2, cap), tile.NewShared[T](k, cap), tile.NewShared[T](k, 3)
			rank, n := cluster.Rank(), a.X.Dim(2)
			next := rank.AddInt(1).RemInt(size)
			thin := block.Striped(cap, 1).Clip(n)
			for g := range tile.Persistent(cluster, a.X.Dim(0)) {
				x := tile.Load(block, a.X.At(g, rank), block.Striped(cap, vec).Clip(n))
				tile.Store(block, mine.At(1), x)
				tile.Store(block, tile.Peer(sent, next), x)
				tile.Store(block, tile.Peer(one.At(2), next), tile.LoadScalar(block, a.X.At(g, rank)))
				tile.Store(block, a.Y.At(g, rank), tile.Load(block, tile.Peer(mine.At(1), next), x.Span()))
				tile.Store(block, a.Z.At(g, rank), tile.Load(block, sent, thin))
				tile.Store(block, a.S.At(g, rank, 0), tile.LoadScalar(block, tile.Peer(mine.At(1), next)))
				tile.Store(block, a.S.At(g, rank, 1), tile.LoadScalar(block, one.At(2)))
				tile.If(warp, warp.Index().EqInt(k.Warps()-1), func() {
					tile.Store(warp, a.W.At(g, rank), tile.Load(warp, tile.Peer(mine.At(1), next), warp.Striped(cap, 1).Clip(n)))
				})
			}
		})
	}}
}

func clusterPeerKernels() tile.Set {
	return family(clusterPeer[tile.F32]("op_cluster_peer_f32", 200, 4), clusterPeer[tile.BF16]("op_cluster_peer_bf16", 256, 8), clusterPeer[tile.I32]("op_cluster_peer_i32", 64, 1))
}

// clusterOrderArgs: global memory that blocks of a cluster write for one another.
type clusterOrderArgs struct {
	X tile.Global[tile.F32] `tile:"groups,n"`
	Y tile.Global[tile.F32] `tile:"groups,n"` // X, and
	Z tile.Global[tile.F32] `tile:"groups,n"` // Y read by other threads
	U tile.Global[tile.I32] `tile:"groups,4"` // 10 g + rank, and
	V tile.Global[tile.I32] `tile:"groups,4"` // what the other blocks wrote of it: block 0 the sum, the others that of block 0
}

func clusterOrder(name string) (*tile.Kernel, error) {
	return clustered(name, 32, 4, "Global memory that blocks of a cluster write for one another.", func(k *tile.Builder, a clusterOrderArgs) {
		cluster, block := k.Cluster(), k.Block()
		rank := cluster.Rank()
		for g := range tile.Persistent(cluster, a.X.Dim(0)) {
			x := tile.Load(cluster, a.X.Row(g), cluster.Striped(512, 4))
			tile.Store(cluster, a.Y.Row(g), x)
			tile.Store(cluster, a.Z.Row(g), tile.Load(cluster, a.Y.Row(g), cluster.Striped(512, 1)))

			tile.Store(block, a.U.At(g, rank), g.Scale(10).Add(rank).Int())
			cluster.Sync() // at block scope the planner knows of one block only
			sum := tile.Load(block, a.U.Row(g), block.Striped(4, 1)).Sum()
			tile.If(block, rank.EqInt(0), func() {
				tile.Store(block, a.V.At(g, 0), sum)
			}, func() {
				tile.Store(block, a.V.At(g, rank), tile.LoadScalar(block, a.U.At(g, 0)))
			})
		}
	})
}

func clusterOrderKernels() tile.Set { return family(kernel{"op_cluster_order", clusterOrder}) }

// clusterAtomicArgs: a ticket a cluster, which all its blocks get.
type clusterAtomicArgs struct {
	One tile.Global[tile.I32] `tile:"1"`
	Old tile.Global[tile.I32] `tile:"clusters,2"` // by block
	All tile.Global[tile.I32] `tile:"n"`          // 1 more by each cluster
}

func clusterAtomic(name string) (*tile.Kernel, error) {
	return clustered(name, 64, 2, "Atomics of a cluster.", func(k *tile.Builder, a clusterAtomicArgs) {
		cluster := k.Cluster()
		for range tile.Persistent(cluster, a.Old.Dim(0), tile.OneBlockEach()) {
			ticket := tile.AtomicAdd(cluster, a.One, tile.I32(1))
			tile.Store(k, a.Old.At(k.ClusterID(), cluster.Rank()), ticket)
			tile.AtomicAdd(cluster, a.All, tile.Full(cluster, cluster.Striped(256, 1), tile.I32(1)))
		}
	})
}

func clusterAtomicKernels() tile.Set { return family(kernel{"op_cluster_atomic", clusterAtomic}) }
