package optest

import "github.com/gotile/gotile/tile"

// refetchArgs: T = 2 X, Y = 2 T.
type refetchArgs[T tile.Number] struct {
	X, T, Y tile.Global[T] `tile:"rows,n"`
}

const refetchChunk = 128

// refetch has threads write rows to global memory that a bulk copy then reads.
func refetch[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a refetchArgs[T]) {
			block, n := k.Block(), a.X.Dim(1)
			s := tile.NewShared[T](k, refetchChunk).Manual()
			full := tile.NewMBarriers(k, 1, 1).At(0)
			count := tile.NewVar(block, tile.I32(0))
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				for col := range tile.Range(block, 0, n, refetchChunk) {
					span := block.Striped(refetchChunk, 1).Clip(n.Sub(col).MinInt(refetchChunk))
					x := tile.Load(block, a.X.At(row, col), span)
					tile.Store(block, a.T.At(row, col), x.Add(x))
					tile.FenceAsyncGlobal(block)
					block.Sync()
					full.ArriveExpect(block, tile.CopyBulk(block, s, a.T.At(row, col), full))
					full.Wait(block, tile.AsIndex(count.Get()).RemInt(2))
					t := tile.Load(block, s, span)
					tile.Store(block, a.Y.At(row, col), t.Add(t))
					count.Set(count.Get().Add(tile.I32(1)))
				}
			}
		}, tile.Threads(64), tile.WholeVectors(), tile.Targets(bulkTargets...), tile.Doc("Rows that threads write and bulk copies read again."))
	}}
}

func refetchKernels() tile.Set {
	return family(refetch[tile.F32]("op_refetch_f32"), refetch[tile.BF16]("op_refetch_bf16"))
}
