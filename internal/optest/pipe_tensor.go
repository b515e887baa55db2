package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// pipeTensorArgs: Y = X + W, all matrices.
type pipeTensorArgs[T tile.Number] struct {
	X, W, Y tile.Global[T] `tile:"rows,n"`
}

// The boxes of the matrices, of which each slot has one of X and one of W. A tile of Y has more of them than there are slots.
const (
	pipeTensorRows = 16
	pipeTensorCols = 64
	pipeTensorTile = (pipeStages + 1) * pipeTensorRows
)

// pipeTensor adds tiles of matrices that a producer copies into slots with swizzles: by CopyTensor, which takes no other
// tensors than it can copy, or by CopyAsync, which finds out.
func pipeTensor[T tile.Number](name string, vec int, only bool) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a pipeTensorArgs[T]) {
			member := func(sw layout.Swizzle) tile.Shared[T] {
				return tile.NewShared[T](k, pipeTensorRows, pipeTensorCols).Swizzle(sw)
			}
			pipe := tile.NewPipeline(k, pipeStages, pipeSlot[T]{X: member(layout.Swizzle128), W: member(layout.Swizzle64)})
			work := k.Schedule(tile.SuperRows(a.Y, pipeTensorTile, pipeTensorCols, 2))
			k.Roles(tile.Producer(0, func(p tile.Warp) {
				for t := range work.Tiles(p) {
					for down := range tile.Range(p, 0, pipeTensorTile, pipeTensorRows) {
						s, row := pipe.Acquire(p), t.Row.Add(down)
						if only {
							tile.CopyTensor(p, s.X, a.X.At(row, t.Col), s)
							tile.CopyTensor(p, s.W, a.W.At(row, t.Col), s)
						} else {
							tile.CopyAsync(s, s.X, a.X.At(row, t.Col))
							tile.CopyAsync(s, s.W, a.W.At(row, t.Col))
						}
					}
				}
			}), tile.Consumers(1, 0, func(c tile.Warpgroup) {
				span := c.Striped2(pipeTensorRows, pipeTensorCols, vec, pipeTensorCols/vec)
				for t := range work.Tiles(c) {
					for down := range tile.Range(c, 0, pipeTensorTile, pipeTensorRows) {
						s := pipe.Wait(c)
						sum := tile.Load(c, s.X, span).Add(tile.Load(c, s.W, span))
						s.Release(c)
						tile.Store(c, a.Y.At(t.Row.Add(down), t.Col), sum)
					}
				}
			}))
		}, tile.Threads(160), tile.Targets(bulkTargets...), tile.Doc("y = x + w, tile by tile through a pipeline that tensor copies fill."))
	}}
}

// Of each type the first takes tensors that tensor copies can read, the second all.
func pipeTensorKernels() tile.Set {
	return family(pipeTensor[tile.F32]("op_pipe_tensor_f32_v", 4, true), pipeTensor[tile.F32]("op_pipe_tensor_f32", 4, false),
		pipeTensor[tile.BF16]("op_pipe_tensor_bf16_v", 8, true), pipeTensor[tile.BF16]("op_pipe_tensor_bf16", 8, false))
}
