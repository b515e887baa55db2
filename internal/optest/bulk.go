package optest

import "github.com/gotile/gotile/tile"

// bulkArgs: Y = X + W, the same W for all rows.
type bulkArgs[T tile.Number] struct {
	X, Y tile.Global[T] `tile:"rows,n"`
	W    tile.Global[T] `tile:"n"`
}

// The stages of a ring of bulk copies, and the columns of each, a half for each consumer.
const (
	bulkStages = 3
	bulkChunk  = 64
	bulkHalf   = bulkChunk / 2
)

// bulkRing has one warp that fills stages by bulk copies and two that add and store by bulk copies: a pipeline written
// by hand.
func bulkRing[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a bulkArgs[T]) {
			warp, n := k.Warp(), a.X.Dim(1)
			x, w := tile.NewShared[T](k, bulkStages, bulkChunk).Manual(), tile.NewShared[T](k, bulkStages, bulkChunk).Manual()
			y := tile.NewShared[T](k, 2, bulkHalf).Manual()
			full, empty := tile.NewMBarriers(k, bulkStages, 1), tile.NewMBarriers(k, bulkStages, 2)
			count := tile.NewVar(warp, tile.I32(0))
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				for col := range tile.Range(warp, 0, n, bulkChunk) {
					i := tile.AsIndex(count.Get())
					stage, parity := i.RemInt(bulkStages), i.DivInt(bulkStages).RemInt(2)
					tile.If(warp, warp.Index().EqInt(0), func() {
						empty.At(stage).Wait(warp, parity.AddInt(1).RemInt(2)) // the first ones pass
						full.At(stage).Expect(warp, tile.CopyBulk(warp, x.At(stage), a.X.At(row, col), full.At(stage)))
						full.At(stage).ArriveExpect(warp, tile.CopyBulk(warp, w.At(stage), a.W.At(col), full.At(stage)))
					}, func() {
						me := warp.Index().SubInt(1)
						mine := me.Scale(bulkHalf)
						half := warp.Striped(bulkHalf, 1).Clip(n.Sub(col).Sub(mine).MaxInt(0).MinInt(bulkHalf))
						full.At(stage).Wait(warp, parity)
						sum := tile.Load(warp, x.At(stage, mine), half).Add(tile.Load(warp, w.At(stage, mine), half))
						tile.WaitBulkRead(warp, 0) // of the store before
						tile.Store(warp, y.At(me), sum)
						empty.At(stage).ArriveOnce(warp)
						tile.FenceAsync(warp)
						warp.Sync()
						tile.StoreBulk(warp, a.Y.At(row, col.Add(mine)), y.At(me))
						tile.CommitBulk(warp)
					})
					count.Set(count.Get().Add(tile.I32(1)))
				}
			}
			tile.WaitBulk(warp, 0)
		}, tile.Threads(96), tile.WholeVectors(), tile.Targets(bulkTargets...), tile.Doc("y = x + w, through a ring of shared memory by bulk copies."))
	}}
}

func bulkKernels() tile.Set {
	return family(bulkRing[tile.F32]("op_bulk_f32"), bulkRing[tile.BF16]("op_bulk_bf16"))
}
