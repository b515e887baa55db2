package optest

import "github.com/gotile/gotile/tile"

// tellArgs: Y = the sums of the rows of X, of at most tellSize*tellPart elements.
type tellArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"rows"`
}

const (
	tellSize    = 4  // blocks of a cluster
	tellPart    = 96 // most elements of a row that a block has
	tellThreads = 64
)

// tell has each block of a cluster add up a part of a row and tell all others, who do not meet but by what they are told.
func tell[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return clustered(name, tellThreads, tellSize, "Sums of rows by clusters, whose blocks tell one another theirs.", func(k *tile.Builder, a tellArgs[T]) {
			cluster, block, n := k.Cluster(), k.Block(), a.X.Dim(1)
			n.AtMost(tellSize * tellPart)
			parts := tile.NewShared[T](k, 2, tellSize).Manual() // of two rows in turn
			told := tile.NewMBarriers(k, 2, 1+tellSize)         // all have told, and have read what was told before
			rank := cluster.Rank()
			first := rank.Scale(tellPart)
			mine := block.Striped(tellPart, 1).Clip(n.Sub(first).MaxInt(0).MinInt(tellPart))
			told.At(0).ArriveEverywhere(block)
			count := tile.NewVar(cluster, tile.I32(0))
			for row := range tile.Persistent(cluster, a.X.Dim(0)) {
				turn := tile.AsIndex(count.Get())
				side := turn.RemInt(2)
				bar := told.At(side)
				bytes := tile.BroadcastAsync(block, parts.At(side, rank), tile.Load(block, a.X.At(row, first), mine).Sum(), bar)
				bar.ArriveExpect(block, bytes.Scale(tellSize))
				bar.Wait(block, turn.DivInt(2).RemInt(2))
				sum := tile.LoadScalar(block, parts.At(side, 0))
				for i := 1; i < tellSize; i++ {
					sum = sum.Add(tile.LoadScalar(block, parts.At(side, i)))
				}
				tile.If(block, rank.EqInt(0), func() { tile.Store(block, a.Y.At(row), sum) })
				told.At(turn.AddInt(1).RemInt(2)).ArriveEverywhere(block)
				count.Set(count.Get().Add(tile.I32(1)))
			}
			cluster.Sync() // nobody leaves while others still arrive
		})
	}}
}

func tellKernels() tile.Set {
	return family(tell[tile.F32]("op_tell_f32"), tell[tile.I64]("op_tell_i64"))
}
