package optest

import "github.com/gotile/gotile/tile"

// wholeArgs: Y = 2*X + W, by chunks of columns.
type wholeArgs[T tile.Number] struct {
	X, Y tile.Global[T] `tile:"rows,n"`
	W    tile.Global[T] `tile:"n"`
}

// wholeKernel is for rows of up to most elements, with whole only of whole vectors.
func wholeKernel[T tile.Number](name string, vec, most int, whole bool) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		opts := []tile.Option{tile.Threads(32), tile.Doc("y = 2*x + w, in chunks of columns.")}
		if whole {
			opts = append(opts, tile.WholeVectors())
		}
		return tile.Define(name, func(k *tile.Builder, a wholeArgs[T]) {
			block, n := k.Block(), a.X.Dim(1)
			n.AtMost(most)
			span := block.Striped(wholeChunk, vec)
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				for col := range tile.Columns(block, n, span) {
					x, w := tile.Load(block, a.X.At(row, col), span), tile.Load(block, a.W.At(col), span)
					tile.Store(block, a.Y.At(row, col), x.Add(x).Add(w))
				}
			}
		}, opts...)
	}}
}

// The rows that the kernels hold, and how many columns they take at a time.
const (
	wholeMost  = 600 // of whole vectors
	otherMost  = 1000
	wholeChunk = 128
)

// wholeKernels have, for each type, the kernel for whole vectors first and one for others behind it.
func wholeKernels() tile.Set {
	return family(
		wholeKernel[tile.F32]("op_whole_f32_v", 4, wholeMost, true), wholeKernel[tile.F32]("op_whole_f32", 4, otherMost, false),
		wholeKernel[tile.BF16]("op_whole_bf16_v", 8, wholeMost, true), wholeKernel[tile.BF16]("op_whole_bf16", 8, otherMost, false),
	)
}
