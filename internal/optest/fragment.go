package optest

import "github.com/gotile/gotile/tile"

// fragmentArgs: Y = 2X and Z = X, tile by tile in the registers of tensor cores.
type fragmentArgs[T tile.Float] struct {
	X tile.Global[T]        `tile:"rows,n"`
	Y tile.Global[tile.F32] `tile:"rows,n"`
	Z tile.Global[T]        `tile:"rows,n"` // through shared memory, written as a fragment and read as the transpose of one
}

// fragmentGroupArgs are fragmentArgs, of another family.
type fragmentGroupArgs[T tile.Float] fragmentArgs[T]

const (
	fragmentRows = 32
	fragmentCols = 48
	fragmentSide = 64 // of the tiles of a warpgroup
)

// fragmentTile is what a scope does with one tile; s is where it passes through shared memory.
func fragmentTile[T tile.Float](scope tile.TensorScope, a fragmentArgs[T], s tile.Source[T], row, col tile.Index, span, across tile.Span) {
	shape := span.Shape()
	x := tile.Load(scope, a.X.At(row, col), span)
	acc := tile.NewAcc[tile.F32](scope, shape[0], shape[1])
	for range tile.Range(scope, 0, 2, 1) {
		acc.Set(acc.Get().Add(tile.Cast[tile.F32](x).Fill(tile.F32(0))))
	}
	tile.Store(scope, a.Y.At(row, col), acc.Get())
	tile.Store(scope, s, x.Fill(tile.Const[T](0)))
	tile.Store(scope, a.Z.At(row, col), tile.Load(scope, s, across))
}

// fragmentWarp gives each warp tiles of its own.
func fragmentWarp[T tile.Float](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a fragmentArgs[T]) {
			warp := k.Warp()
			s := tile.NewShared[T](k, k.Warps(), fragmentRows, fragmentCols)
			for row := range tile.Persistent(warp, a.X.Dim(0), tile.Step(fragmentRows)) {
				for col := range tile.Range(warp, 0, a.X.Dim(1), fragmentCols) {
					fragmentTile(warp, a, s.At(warp.Index()), row, col, warp.Fragment(fragmentRows, fragmentCols), warp.Fragment(fragmentCols, fragmentRows).Transpose())
				}
			}
		}, tile.Threads(64), tile.Doc("Tiles in the registers of tensor cores, of warps."))
	}}
}

// fragmentGroup does the same with warpgroups.
func fragmentGroup[T tile.Float](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a fragmentGroupArgs[T]) {
			s := tile.NewShared[T](k, fragmentSide, fragmentSide)
			work := k.Schedule(tile.Linear(a.X.Dim(0), fragmentSide))
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
				span := c.Fragment(fragmentSide, fragmentSide)
				for t := range work.Tiles(c) {
					for col := range tile.Range(c, 0, a.X.Dim(1), fragmentSide) {
						fragmentTile(c, fragmentArgs[T](a), s, t.Row, col, span, span.Transpose())
					}
				}
			}))
		}, tile.Threads(128), tile.Doc("Tiles in the registers of tensor cores, of warpgroups."))
	}}
}

func fragmentKernels() tile.Set {
	return tile.Sets(
		family(fragmentWarp[tile.F32]("op_fragment_f32"), fragmentWarp[tile.BF16]("op_fragment_bf16"), fragmentWarp[tile.F16]("op_fragment_f16")),
		family(fragmentGroup[tile.F32]("op_fragment_group_f32"), fragmentGroup[tile.BF16]("op_fragment_group_bf16")))
}
