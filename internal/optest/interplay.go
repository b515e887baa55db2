package optest

import "github.com/gotile/gotile/tile"

// clusterLastArgs: the columns of X are added up by clusters, and the last to finish adds what they have stored.
type clusterLastArgs struct {
	X     tile.Global[tile.F32] `tile:"rows,n"`
	Part  tile.Global[tile.F32] `tile:"clusters,n"` // scratch: a row of partial sums a cluster
	Count tile.Global[tile.U32] `tile:"1"`          // clusters that are done: 0 before the launch and after it
	Y     tile.Global[tile.F32] `tile:"n"`
	Sum   tile.Global[tile.F32] `tile:"1"` // of Y
}

// clusterLast copies rows into shared memory ahead of their use, half a row a block, and has each block add up the half
// that the other one copied: asynchronous copies, peers and releases of a cluster in one kernel.
func clusterLast(name string) (*tile.Kernel, error) {
	return clustered(name, 64, 2, "Column sums: clusters fetch rows ahead, each block what its peer adds up; the last adds up the others' rows.", func(k *tile.Builder, a clusterLastArgs) {
		const half, stages = 128, 2
		cluster, block := k.Cluster(), k.Block()
		mine := cluster.Rank()
		other := mine.AddInt(1).RemInt(2)
		s := tile.NewShared[tile.F32](k, stages, 1, half) // boxes of a row, which end where the rows of X do
		fetch := func(stage, row tile.Index) {
			tile.CopyAsync(block, s.At(stage), a.X.At(row, mine.Scale(half)))
			tile.Commit(block)
		}
		step := tile.NewVar(cluster, tile.I32(0))
		sum := tile.NewVar(block, tile.Full(block, block.Striped(half, 1), tile.F32(0)))
		fetch(tile.AsIndex(step.Get()), k.ClusterID())
		for row := range tile.Persistent(cluster, a.X.Dim(0), tile.Blocks(a.Part.Dim(0))) {
			now := tile.AsIndex(step.Get())
			step.Set(now.AddInt(1).Int())
			fetch(now.AddInt(1).RemInt(stages), row.Add(k.NumClusters()))
			tile.WaitGroup(block, stages-1)
			sum.Set(sum.Get().Add(tile.Load(block, tile.Peer(s.At(now.RemInt(stages), 0), other), block.Striped(half, 1))))
		}
		tile.WaitGroup(block, 0)
		tile.Store(block, a.Part.At(k.ClusterID(), other.Scale(half)), sum.Get())
		tile.If(cluster, isLast(tile.AtomicAdd(cluster, a.Count, tile.U32(1), tile.AcqRel), k.NumClusters()), func() {
			span := cluster.Striped(2*half, 1).Clip(a.X.Dim(1))
			all := tile.NewVar(cluster, tile.Full(cluster, span, tile.F32(0)))
			for c := range tile.Range(cluster, 0, a.Part.Dim(0), 1) {
				all.Set(all.Get().Add(tile.Load(cluster, a.Part.Row(c), span)))
			}
			tile.Store(cluster, a.Y, all.Get())
			tile.Store(cluster, a.Sum, all.Get().Fold().Sum())
			tile.Store(cluster, a.Count, tile.U32(0))
		})
	})
}

func clusterLastKernels() tile.Set { return family(kernel{"op_cluster_last", clusterLast}) }
