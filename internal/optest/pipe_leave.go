package optest

import "github.com/gotile/gotile/tile"

// leaveArgs: Y = X + 2W in the first rows of each item, as many as Count says. The other rows stay as they are.
type leaveArgs[T tile.Number] struct {
	X, W  tile.Global[T]        `tile:"items,rows,n"`
	Y     tile.Global[T]        `tile:"items,rows,n"`
	Count tile.Global[tile.I32] `tile:"items"`
}

// leaveCols are the columns of a slot, the most that a row has.
const leaveCols = 256

// leave has two producers, one that copies and one that computes, which fill a member each, and a consumer. All of them leave
// an item when memory says so, at the first row or later.
func leave[T tile.Number](name string, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a leaveArgs[T]) {
			pipe := tile.NewPipeline(k, pipeStages, pipeSlot[T]{X: tile.NewShared[T](k, leaveCols), W: tile.NewShared[T](k, leaveCols)})
			work := k.Schedule(tile.Linear(a.X.Dim(0), 1))
			each := func(s tile.Scope, f func(item, row tile.Index)) {
				for t := range work.Tiles(s) {
					row, end := tile.NewVar(s, tile.I32(0)), tile.LoadScalar(s, a.Count.At(t.Item))
					tile.While(s, func() tile.Reg[tile.Bool] { return row.Get().Lt(end) }, func() {
						f(t.Item, tile.AsIndex(row.Get()))
						row.Set(row.Get().Add(tile.I32(1)))
					})
				}
			}
			k.Roles(tile.Producer(0, func(p tile.Warp) {
				each(p, func(item, row tile.Index) {
					s := pipe.Acquire(p)
					tile.CopyAsync(s, s.X, a.X.At(item, row))
				})
			}), tile.ConsumerGroup(64, 0, func(p tile.Group) {
				span := p.Striped(leaveCols, vec)
				each(p, func(item, row tile.Index) {
					s := pipe.Acquire(p)
					w := tile.Load(p, a.W.At(item, row), span.Clip(a.X.Dim(2)))
					tile.Store(p, s.W, w.Add(w).Fill(tile.Const[T](0)))
				})
			}), tile.ConsumerWarps(1, 0, func(c tile.Warp) {
				span := c.Striped(leaveCols, vec)
				each(c, func(item, row tile.Index) {
					s := pipe.Wait(c)
					sum := tile.Load(c, s.X, span).Add(tile.Load(c, s.W, span))
					s.Release(c)
					tile.Store(c, a.Y.At(item, row), sum)
				})
			}))
		}, tile.Threads(128), tile.Targets(bulkTargets...), tile.Doc("y = x + 2w in the first rows of each item, through a pipeline of two producers."))
	}}
}

func leaveKernels() tile.Set {
	return family(leave[tile.F32]("op_pipe_leave_f32", 4), leave[tile.BF16]("op_pipe_leave_bf16", 8))
}

// heldArgs: Y = X + the box of rows before, of each item.
type heldArgs[T tile.Number] struct {
	X, Y tile.Global[T] `tile:"items,rows,n"`
}

// The box of a slot, of which the consumer holds two.
const (
	heldRows = 4
	heldCols = 64
)

// held has a consumer that keeps a slot while it reads the next one.
func held[T tile.Number](name string, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a heldArgs[T]) {
			pipe := tile.NewPipeline(k, pipeStages, sumSlot[T]{Y: tile.NewShared[T](k, heldRows, heldCols)})
			work := k.Schedule(tile.Linear(a.X.Dim(0), 1))
			k.Roles(tile.Producer(0, func(p tile.Warp) {
				for t := range work.Tiles(p) {
					for row := range tile.Range(p, 0, a.X.Dim(1), heldRows) {
						s := pipe.Acquire(p)
						tile.CopyAsync(s, s.Y, a.X.At(t.Item, row))
					}
				}
			}), tile.ConsumerWarps(1, 0, func(c tile.Warp) {
				span := c.Striped2(heldRows, heldCols, vec, min(32, heldCols/vec))
				for t := range work.Tiles(c) {
					last := pipe.NewVar(c, pipe.Wait(c))
					tile.Store(c, a.Y.At(t.Item), tile.Load(c, last.Get().Y, span.Clip(a.X.Dim(1).MinInt(heldRows), nil)))
					for row := range tile.Range(c, heldRows, a.X.Dim(1), heldRows) {
						next, before := pipe.Wait(c), last.Get()
						sum := tile.Load(c, next.Y, span).Add(tile.Load(c, before.Y, span))
						before.Release(c)
						last.Set(next)
						tile.Store(c, a.Y.At(t.Item, row), sum)
					}
					last.Get().Release(c)
				}
			}))
		}, tile.Threads(64), tile.Targets(bulkTargets...), tile.Doc("y = x + the box of rows before, through a pipeline of which a consumer holds two slots."))
	}}
}

func heldKernels() tile.Set {
	return family(held[tile.F32]("op_pipe_held_f32", 4), held[tile.BF16]("op_pipe_held_bf16", 8))
}
