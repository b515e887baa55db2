package optest

import "github.com/gotile/gotile/tile"

// handOverArgs are exchangeArgs, of another family.
type handOverArgs[T tile.Number] exchangeArgs[T]

// handOver has one warp that fills a tile and three that read it, ordered by two named barriers: each side waits at one
// and only comes to the other.
func handOver[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a handOverArgs[T]) {
			warp, n := k.Warp(), a.X.Dim(1)
			s := tile.NewShared[T](k, relayChunk).Manual()
			full, empty := tile.NewNamedBarrier(k, k.Threads()), tile.NewNamedBarrier(k, k.Threads())
			tile.If(warp, warp.Index().EqInt(0), func() { // crosswise: who waited before it came would wait for ever
				full.Arrive(warp)
				empty.Sync(warp)
			}, func() {
				empty.Arrive(warp)
				full.Sync(warp)
			})
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				for col := range tile.Range(warp, 0, n, relayChunk) {
					tile.If(warp, warp.Index().EqInt(0), func() {
						empty.Sync(warp)
						tile.Store(warp, s, tile.Load(warp, a.X.At(row, col), warp.Striped(relayChunk, 1)))
						full.Arrive(warp)
					}, func() {
						empty.Arrive(warp)
						full.Sync(warp)
						mine := warp.Index().SubInt(1).Scale(32)
						y := tile.Load(warp, s.At(mine), warp.Striped(32, 1).Clip(n.Sub(col).Sub(mine).MaxInt(0).MinInt(32)))
						tile.Store(warp, a.Y.At(row, col.Add(mine)), y.Add(y))
					})
				}
			}
		}, tile.Threads(128), tile.Doc("Rows handed from one warp to three others by named barriers."))
	}}
}

func handOverKernels() tile.Set {
	return family(handOver[tile.F32]("op_hand_over_f32"), handOver[tile.BF16]("op_hand_over_bf16"))
}
