package optest

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile"
)

// reductions are the four, in the order of the outputs.
var reductions = []ir.Op{ir.Sum, ir.MaxOf, ir.MinOf, ir.Prod}

func reduceBy[T tile.Elem](x tile.Reg[T], axes ...int) []tile.Reg[T] {
	return []tile.Reg[T]{x.Sum(axes...), x.MaxOf(axes...), x.MinOf(axes...), x.Prod(axes...)}
}

// vectorArgs: the four reductions of each row of X, at once.
type vectorArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"rows,4"`
}

// vectorKernel reduces rows of at most cap elements, spread over a warp or over a block of threads.
func vectorKernel[T tile.Number](name string, warp bool, threads, cap, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a vectorArgs[T]) {
			s, span := tile.Scope(k.Block()), k.Block().Striped(cap, vec)
			if warp {
				s, span = k.Warp(), k.Warp().Striped(cap, vec)
			}
			span = span.Clip(a.X.Dim(1))
			for row := range tile.Persistent(s, a.X.Dim(0)) {
				for i, y := range reduceBy(tile.Load(s, a.X.Row(row), span)) {
					tile.Store(s, a.Y.At(row, i), y)
				}
			}
		}, tile.Threads(threads), tile.Doc("Sum, maximum, minimum and product of rows."))
	}}
}

// vectorCaps are the capacities of the vector kernels by type: smaller ones first, so that lengths choose among them.
func vectorKernels() tile.Set {
	return family(
		vectorKernel[tile.F32]("op_vector_f32_warp", true, 96, 100, 1), // ragged capacity, three warps
		vectorKernel[tile.F32]("op_vector_f32_96", false, 96, 1000, 4), // three warps: no power of two
		vectorKernel[tile.F32]("op_vector_f32_1024", false, 1024, 4096, 4),
		vectorKernel[tile.BF16]("op_vector_bf16_warp", true, 64, 96, 1), // an odd number of values a thread
		vectorKernel[tile.BF16]("op_vector_bf16_256", false, 256, 2048, 8),
		vectorKernel[tile.F16]("op_vector_f16_160", false, 160, 700, 2), // five warps
		vectorKernel[tile.I32]("op_vector_i32_1024", false, 1024, 1024, 1),
		vectorKernel[tile.U32]("op_vector_u32_32", false, 32, 64, 2), // one warp
		vectorKernel[tile.U32]("op_vector_u32_512", false, 512, 1500, 1),
		vectorKernel[tile.I64]("op_vector_i64_warp", true, 128, 128, 2),
		vectorKernel[tile.I64]("op_vector_i64_256", false, 256, 600, 2),
	)
}

// tileArgs: the four reductions of the tiles X[g] along rows, along columns and of everything.
type tileArgs[T tile.Number] struct {
	X     tile.Global[T] `tile:"groups,rows,n"`
	ByRow tile.Global[T] `tile:"groups,4,rows"`
	ByCol tile.Global[T] `tile:"groups,4,n"`
	All   tile.Global[T] `tile:"groups,4"`
}

func tileKernel[T tile.Number](name string, warp bool, threads, rows, cols, vec, across int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a tileArgs[T]) {
			s, span := tile.Scope(k.Block()), k.Block().Striped2(rows, cols, vec, across)
			if warp {
				s, span = k.Warp(), k.Warp().Striped2(rows, cols, vec, across)
			}
			for g := range tile.Persistent(s, a.X.Dim(0)) {
				x := tile.Load(s, a.X.At(g), span)
				byRow, byCol, all := reduceBy(x, 1), reduceBy(x, 0), reduceBy(x)
				for i := range reductions {
					tile.Store(s, a.ByRow.At(g, i), byRow[i])
					tile.Store(s, a.ByCol.At(g, i), byCol[i])
					tile.Store(s, a.All.At(g, i), all[i])
				}
			}
		}, tile.Threads(threads), tile.Doc("Reductions of tiles along rows, along columns and of everything."))
	}}
}

func tileKernels() tile.Set {
	return family(
		tileKernel[tile.F32]("op_tile_f32_warp", true, 64, 8, 24, 1, 8),          // lanes 8x4
		tileKernel[tile.F32]("op_tile_f32_across16", false, 256, 16, 100, 4, 16), // half a warp a row
		tileKernel[tile.F32]("op_tile_f32_across8", false, 1024, 150, 80, 4, 8),  // four rows a warp, more rows than at once
		tileKernel[tile.BF16]("op_tile_bf16_across4", false, 128, 40, 100, 8, 4),
		tileKernel[tile.F16]("op_tile_f16_across128", false, 256, 7, 256, 2, 128), // four warps a row
		tileKernel[tile.I32]("op_tile_i32_across1", false, 64, 70, 5, 1, 1),       // a row a thread
		tileKernel[tile.U32]("op_tile_u32_warp", true, 128, 4, 40, 2, 16),
		tileKernel[tile.I64]("op_tile_i64_across64", false, 256, 6, 128, 2, 64),
	)
}

// shapeArgs: broadcasts, coordinates and fills of a tile.
type shapeArgs[T tile.Number] struct {
	X tile.Global[T]        `tile:"rows,n"`
	V tile.Global[T]        `tile:"n"`
	Y tile.Global[T]        `tile:"5,rows,n"`
	C tile.Global[tile.I32] `tile:"2,rows,n"`
	S tile.Global[T]        `tile:"2"`
}

func shapeKernel[T tile.Number](name string, threads, rows, cols, vec, across int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a shapeArgs[T]) {
			block := k.Block()
			span := block.Striped2(rows, cols, vec, across)
			x := tile.Load(block, a.X, span)
			tile.Store(block, a.Y.At(0), tile.Expand(x.MaxOf(1), x.Span(), 1))
			tile.Store(block, a.Y.At(1), tile.Expand(x.MaxOf(0), x.Span(), 0))
			tile.Store(block, a.Y.At(2), x.Min(tile.Expand(tile.Load(block, a.V, span.Axis(1)), x.Span(), 0)))
			tile.Store(block, a.Y.At(3), tile.Full(block, span, tile.Const[T](7)))
			tile.Store(block, a.Y.At(4), tile.Full(block, span, x.MinOf()))
			tile.Store(block, a.C.At(0), tile.Coord(span, 0))
			tile.Store(block, a.C.At(1), tile.Coord(span, 1))
			// The masked elements count once they are filled: 3 each, over the whole capacity.
			tile.Store(block, a.S.At(0), x.Fill(tile.Const[T](3)).MaxOf())
			tile.Store(block, a.S.At(1), x.Fill(tile.Const[T](3)).Sub(tile.Const[T](3)).MinOf())
		}, tile.Threads(threads), tile.Doc("Broadcasts, coordinates and fills."))
	}}
}

func shapeKernels() tile.Set {
	return family(
		shapeKernel[tile.F32]("op_shape_f32", 128, 20, 48, 4, 8),
		shapeKernel[tile.BF16]("op_shape_bf16", 64, 9, 64, 2, 32),
		shapeKernel[tile.I32]("op_shape_i32", 128, 12, 30, 1, 16),
		shapeKernel[tile.I64]("op_shape_i64", 64, 6, 40, 2, 4),
	)
}
