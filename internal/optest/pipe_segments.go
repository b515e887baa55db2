package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// segmentArgs: Y = X + W, segment by segment of rows, as a list has them: where each begins, and how many rows it has.
type segmentArgs[T tile.Number] struct {
	X, W, Y tile.Global[T]        `tile:"rows,n"`
	List    tile.Global[tile.I32] `tile:"items,2"`
}

// The box of a slot.
const (
	segmentRows = 8
	segmentCols = 64
)

// sumSlot is a box of results.
type sumSlot[T tile.Number] struct {
	tile.Slot
	Y tile.Shared[T]
}

// segments adds segments, of which some have no rows and most end within a box: a producer fills slots with what is valid, a
// consumer releases their members one by one and fills other slots from registers, a storer stores what is valid by tensor
// copies, or by its threads.
func segments[T tile.Number](name string, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a segmentArgs[T]) {
			box := func(sw layout.Swizzle) tile.Shared[T] {
				return tile.NewShared[T](k, segmentRows, segmentCols).Swizzle(sw)
			}
			in := tile.NewPipeline(k, pipeStages, pipeSlot[T]{X: box(layout.Swizzle128), W: box(layout.NoSwizzle)})
			out := tile.NewPipeline(k, 2, sumSlot[T]{Y: box(layout.Swizzle128)})
			work := k.Schedule(tile.WorkList(a.List))
			each := func(s tile.Scope, f func(row, left, col tile.Index)) {
				for t := range work.Tiles(s) {
					for i := range tile.Range(s, 0, t.Fields[1], segmentRows) {
						for col := range tile.Range(s, 0, a.Y.Dim(1), segmentCols) {
							f(t.Row.Add(i), t.Fields[1].Sub(i), col)
						}
					}
				}
			}
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
				span := c.Striped2(segmentRows, segmentCols, vec, segmentCols/vec)
				each(c, func(_, _, _ tile.Index) {
					s := in.Wait(c)
					x := tile.Load(c, s.X, span)
					s.X.Release(c)
					sum := x.Add(tile.Load(c, s.W, span))
					s.Release(c)
					tile.Store(c, out.Acquire(c).Y, sum)
				})
			}), tile.Producer(0, func(p tile.Warp) {
				each(p, func(row, left, col tile.Index) {
					s := in.Acquire(p)
					tile.CopyAsync(s, s.X, a.X.At(row, col), tile.Valid(left))
					tile.CopyAsync(s, s.W, a.W.At(row, col), tile.Valid(left))
				})
			}), tile.ConsumerWarps(1, 0, func(w tile.Warp) {
				each(w, func(row, left, col tile.Index) {
					s := out.Wait(w)
					tile.StoreTensor(w, a.Y.At(row, col), s.Y, tile.Valid(left))
					s.Release(w)
				})
			}))
		}, tile.Threads(192), tile.Targets(bulkTargets...), tile.Doc("y = x + w, segment by segment of a list, through two pipelines in a chain."))
	}}
}

func segmentKernels() tile.Set {
	return family(segments[tile.F32]("op_pipe_segments_f32", 4), segments[tile.BF16]("op_pipe_segments_bf16", 8))
}
