package optest

import "github.com/gotile/gotile/tile"

// shifts are by how many rows the outputs of the kernels of shiftArgs lie behind or, below 0, ahead.
var shifts = []int{1, 2, 3, -1, -2}

// shiftArgs: Y[i] is X, shifts[i] rows behind, with zeros before its first row and after its last; Z is the same of tiles
// in shared memory, whose neighbours are not there.
type shiftArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"5,rows,n"`
	Z tile.Global[T] `tile:"5,rows,n"`
}

// shiftSpread is a tile of shiftKernel: more rows than one tile, and more columns.
type shiftSpread struct {
	name                    string
	fragment                bool
	rows, cols, vec, across int
}

func shiftKernel[T tile.Number](t string, p shiftSpread) kernel {
	return kernel{"op_shift_" + t + "_" + p.name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a shiftArgs[T]) {
			warp := k.Warp()
			span := warp.Fragment(16, 16)
			if !p.fragment {
				span = warp.Striped2(p.rows, p.cols, p.vec, p.across)
			}
			s := tile.NewShared[T](k, k.Warps(), p.rows, p.cols)
			for row := range tile.Persistent(warp, a.X.Dim(0), tile.Step(p.rows)) {
				for col := range tile.Range(warp, 0, a.X.Dim(1), p.cols) {
					x := tile.Load(warp, a.X.At(row, col), span)
					tile.Store(warp, s.At(warp.Index()), x.Fill(tile.Const[T](0)))
					for i, by := range shifts {
						tile.Store(warp, a.Y.At(i, row, col), tile.LoadShifted(warp, a.X.At(row, col), span, by))
						tile.Store(warp, a.Z.At(i, row, col), tile.LoadShifted(warp, s.At(warp.Index()), span.Clip(a.X.Dim(0).Sub(row).MinInt(p.rows), nil), by))
					}
				}
			}
		}, tile.Threads(64), tile.Doc("Tiles whose rows lie before or behind, with zeros where there are none."))
	}}
}

var (
	shiftFragment = shiftSpread{name: "fragment", fragment: true, rows: 16, cols: 16}
	shiftStriped  = shiftSpread{name: "striped", rows: 12, cols: 32, vec: 4, across: 8}
)

func shiftKernels() tile.Set {
	return family(shiftKernel[tile.F32]("f32", shiftFragment), shiftKernel[tile.BF16]("bf16", shiftFragment), shiftKernel[tile.F16]("f16", shiftStriped))
}
