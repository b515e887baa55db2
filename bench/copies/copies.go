// Package copies has plain copy kernels, the practical ceiling of memory-bound kernels with as many inputs and
// outputs: copy reads one tensor and writes one, copy2 reads two and writes one.
package copies

import "github.com/gotile/gotile/tile"

// Cols is the number of elements that a block copies.
const Cols = 8192

const threads = 256

type copyArgs struct {
	X, Y tile.Global[tile.BF16] `tile:"rows,8192"`
}

type copy2Args struct {
	X, Z, Y tile.Global[tile.BF16] `tile:"rows,8192"` // Y = max(X, Z): as little arithmetic as reads both
}

type config string

func (c config) KernelName() string { return string(c) }

func buildCopy(c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a copyArgs) {
		block := k.Block()
		span := block.Striped(Cols, 8)
		for row := range tile.Persistent(k, a.X.Dim(0), tile.OneBlockEach()) {
			tile.Store(block, a.Y.Row(row), tile.Load(block, a.X.Row(row), span, tile.Streaming), tile.Streaming)
		}
	}, tile.Threads(threads), tile.Doc("Copies a tensor."))
}

func buildCopy2(c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a copy2Args) {
		block := k.Block()
		span := block.Striped(Cols, 8)
		for row := range tile.Persistent(k, a.X.Dim(0), tile.OneBlockEach()) {
			x := tile.Load(block, a.X.Row(row), span, tile.Streaming)
			z := tile.Load(block, a.Z.Row(row), span, tile.Streaming)
			tile.Store(block, a.Y.Row(row), x.Max(z), tile.Streaming)
		}
	}, tile.Threads(threads), tile.Doc("Reads two tensors and writes one."))
}

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	return tile.Sets(tile.Configs(buildCopy, config("copy")), tile.Configs(buildCopy2, config("copy2")))
}
