package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// lcsfArgs: Y = 2X, and the sums of its rows.
type lcsfArgs[T tile.Number] struct {
	X, Y tile.Global[T] `tile:"rows,n"`
	Sums tile.Global[T] `tile:"rows"`
}

// The chunks of a piece of work, of whose rows each of two consumers has half.
const (
	lcsfRows = 16
	lcsfCols = 64
)

// lcsfSlot is a chunk.
type lcsfSlot[T tile.Number] struct {
	tile.Slot
	Chunk tile.Shared[T]
}

// lcsf doubles rows in the load-compute-store-finish form.
func lcsf[T tile.Number](k *tile.Builder, a lcsfArgs[T], vec, producer, consumers int) {
	slot := func() lcsfSlot[T] {
		return lcsfSlot[T]{Chunk: tile.NewShared[T](k, lcsfRows, lcsfCols).Swizzle(layout.Swizzle128)}
	}
	tile.LCSF[lcsfSlot[T], lcsfSlot[T]]{
		Work:   tile.Linear(a.X.Dim(0), lcsfRows),
		Chunks: func(tile.Piece) tile.Index { return a.X.Dim(1).AddInt(lcsfCols - 1).DivInt(lcsfCols) },
		Input:  slot(), Stages: 3,
		Output: slot(), OutStages: 2,
		Consumers: 2, ProducerRegs: producer, ConsumerRegs: consumers,
		Load: func(p tile.Warp, in lcsfSlot[T], t tile.Piece, i tile.Index) {
			tile.CopyAsync(in, in.Chunk, a.X.At(t.Row, i.Scale(lcsfCols)))
		},
		Compute: func(c tile.Warpgroup, t tile.Piece) tile.Steps[lcsfSlot[T], lcsfSlot[T]] {
			half := c.Striped2(lcsfRows/2, lcsfCols, vec, 8)
			mine := c.Index().Scale(lcsfRows / 2)
			sums := tile.NewVar(c, tile.Full(c, half.Axis(0), tile.Const[T](0)))
			return tile.Steps[lcsfSlot[T], lcsfSlot[T]]{
				Chunk: func(in, out lcsfSlot[T], i tile.Index) {
					x := tile.Load(c, in.Chunk.At(mine), half)
					y := x.Add(x)
					tile.Store(c, out.Chunk.At(mine), y)
					sums.Set(sums.Get().Add(y.Sum(1)))
				},
				Finish: func() { tile.Store(c, a.Sums.At(t.Row.Add(mine)), sums.Get()) },
			}
		},
		Store: func(s tile.Warp, out lcsfSlot[T], t tile.Piece, i tile.Index) {
			tile.StoreTensor(s, a.Y.At(t.Row, i.Scale(lcsfCols)), out.Chunk)
		},
	}.Record(k)
}

func lcsfKernel[T tile.Number](name string, vec, threads, producer, consumers int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a lcsfArgs[T]) { lcsf(k, a, vec, producer, consumers) },
			tile.Threads(threads), tile.Targets(bulkTargets...), tile.Doc("y = 2x and the sums of its rows: load, compute, store, finish."))
	}}
}

func lcsfKernels() tile.Set {
	return family(lcsfKernel[tile.F32]("op_lcsf_f32", 4, 320, 0, 0), lcsfKernel[tile.BF16]("op_lcsf_bf16", 8, 416, 24, 176))
}
