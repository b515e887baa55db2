package optest

import "github.com/gotile/gotile/tile"

// trackArgs are exchangeArgs, of another family.
type trackArgs[T tile.Number] exchangeArgs[T]

const trackChunk = 256

// track is rows that threads copy asynchronously and others read, ordered by an mbarrier that tracks the copies. Where
// the source is not aligned, the copies go through registers.
func track[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a trackArgs[T]) {
			block, n := k.Block(), a.X.Dim(1)
			s := tile.NewShared[T](k, trackChunk).Manual()
			bars := tile.NewMBarriers(k, 2, k.Threads())
			full, empty := bars.At(0), bars.At(1)
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				for col := range tile.Range(block, 0, n, trackChunk) {
					tile.CopyAsync(block, s, a.X.At(row, col))
					full.Track(block)
					full.ArriveAndWait(block)
					y := tile.Load(block, s, block.Striped(trackChunk, 1).Clip(n.Sub(col).MinInt(trackChunk)))
					tile.Store(block, a.Y.At(row, col), y.Add(y))
					empty.ArriveAndWait(block)
				}
			}
		}, tile.Threads(64), tile.Doc("Rows through shared memory by asynchronous copies that an mbarrier tracks."))
	}}
}

func trackKernels() tile.Set {
	return family(track[tile.F32]("op_track_f32"), track[tile.BF16]("op_track_bf16"))
}
