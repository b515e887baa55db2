package optest

import "github.com/gotile/gotile/tile"

// overwriteArgs: Y = 2X.
type overwriteArgs[T tile.Number] struct {
	X, Y tile.Global[T] `tile:"rows,n"`
}

const overwriteChunk = 128

// overwrite stores each row twice by bulk copies, x and then 2x: the first has to be over when the second begins.
func overwrite[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a overwriteArgs[T]) {
			block, n := k.Block(), a.X.Dim(1)
			s := tile.NewShared[T](k, overwriteChunk).Manual()
			store := func(row, col tile.Index, x tile.Reg[T]) {
				tile.Store(block, s, x)
				tile.FenceAsync(block)
				block.Sync()
				tile.StoreBulk(block, a.Y.At(row, col), s)
				tile.CommitBulk(block)
			}
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				for col := range tile.Range(block, 0, n, overwriteChunk) {
					x := tile.Load(block, a.X.At(row, col), block.Striped(overwriteChunk, 1).Clip(n.Sub(col).MinInt(overwriteChunk)))
					store(row, col, x)
					tile.WaitBulk(block, 0)
					store(row, col, x.Add(x))
					tile.WaitBulkRead(block, 0)
				}
			}
		}, tile.Threads(64), tile.WholeVectors(), tile.Targets(bulkTargets...), tile.Doc("y = x, and then y = 2x, by bulk copies of which the second waits for the first."))
	}}
}

func overwriteKernels() tile.Set {
	return family(overwrite[tile.F32]("op_overwrite_f32"), overwrite[tile.BF16]("op_overwrite_bf16"))
}
