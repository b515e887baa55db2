package optest

import "github.com/gotile/gotile/tile"

// pipeArgs are bulkArgs, of another family.
type pipeArgs[T tile.Number] bulkArgs[T]

// The stages of a pipeline, and the columns of a slot, a half for each consumer.
const (
	pipeStages = 3
	pipeChunk  = 512
	pipeHalf   = pipeChunk / 2
)

// pipeSlot is a chunk of a row and what is added to it.
type pipeSlot[T tile.Number] struct {
	tile.Slot
	X, W tile.Shared[T]
}

// pipe has a producer warp that fills slots and two consumer warpgroups that add: bulkRing without a barrier, a parity or
// a number of bytes.
func pipe[T tile.Number](name string, vec, producer, consumers int, opts ...tile.Option) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		opts := append([]tile.Option{tile.Doc("y = x + w, through a pipeline from a producer to two consumers.")}, opts...)
		return tile.Define(name, func(k *tile.Builder, a pipeArgs[T]) {
			n := a.X.Dim(1)
			pipe := tile.NewPipeline(k, pipeStages, pipeSlot[T]{X: tile.NewShared[T](k, pipeChunk), W: tile.NewShared[T](k, pipeChunk)})
			work := k.Schedule(tile.Linear(a.X.Dim(0), 1))
			k.Roles(tile.Producer(producer, func(p tile.Warp) {
				for t := range work.Tiles(p) {
					for col := range tile.Range(p, 0, n, pipeChunk) {
						s := pipe.Acquire(p)
						tile.CopyAsync(s, s.X, a.X.At(t.Row, col))
						tile.CopyAsync(s, s.W, a.W.At(col))
					}
				}
			}), tile.Consumers(2, consumers, func(c tile.Warpgroup) {
				mine := c.Index().Scale(pipeHalf)
				half := c.Striped(pipeHalf, vec)
				for t := range work.Tiles(c) {
					for col := range tile.Range(c, 0, n, pipeChunk) {
						s := pipe.Wait(c)
						sum := tile.Load(c, s.X.At(mine), half).Add(tile.Load(c, s.W.At(mine), half))
						s.Release(c)
						tile.Store(c, a.Y.At(t.Row, col.Add(mine)), sum)
					}
				}
			}))
		}, opts...)
	}}
}

// The first of each type has slots filled by bulk copies alone and moves registers to its consumers; the second copies as
// tensors allow. What targets without bulk copies get has no GPU here to run on: a test of package tile simulates it.
func pipeKernels() tile.Set {
	return family(
		pipe[tile.F32]("op_pipe_f32_v", 4, 24, 240, tile.Threads(384), tile.WholeVectors(), tile.Targets(bulkTargets...)), pipe[tile.F32]("op_pipe_f32", 4, 0, 0, tile.Threads(288), tile.Targets(bulkTargets...)),
		pipe[tile.BF16]("op_pipe_bf16_v", 8, 40, 232, tile.Threads(384), tile.WholeVectors(), tile.Targets(bulkTargets...)), pipe[tile.BF16]("op_pipe_bf16", 8, 0, 0, tile.Threads(288), tile.Targets(bulkTargets...)))
}

// electArgs: S = the first of the equal elements of each row of X, and the number of lanes that a warp elects.
type electArgs struct {
	X tile.Global[tile.I32] `tile:"rows,32"`
	S tile.Global[tile.I32] `tile:"rows,2"`
}

// elect gives each warp rows, of which one lane has its element.
func elect(name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a electArgs) {
			warp := k.Warp()
			span := warp.Striped(32, 1)
			for row := range tile.Persistent(warp, a.X.Dim(0)) {
				x, mine := tile.Load(warp, a.X.Row(row), span), warp.Elect()
				tile.Store(warp, a.S.At(row), tile.Select(mine, x, tile.I32(0)).Sum())
				tile.Store(warp, a.S.At(row, 1), tile.Select(mine, tile.Full(warp, span, tile.I32(1)), tile.I32(0)).Sum())
			}
		}, tile.Threads(64), tile.Targets(bulkTargets...), tile.Doc("A lane of each warp, elected."))
	}}
}

func electKernels() tile.Set { return family(elect("op_elect")) }
