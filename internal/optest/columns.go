package optest

import "github.com/gotile/gotile/tile"

// columnsArgs: rows of any length in chunks of one small span.
type columnsArgs[T tile.Number] struct {
	X   tile.Global[T] `tile:"rows,n"`
	Y   tile.Global[T] `tile:"rows,n"` // X plus the row's largest element
	Max tile.Global[T] `tile:"rows"`   // by a reduction of each chunk
	Sum tile.Global[T] `tile:"rows"`   // by a tile of partial sums
	Two tile.Global[T] `tile:"rows,2"` // rows 0 and 1 of each pair: sums by a 2-D span
}

// columnsChunk is the capacity of the span.
const columnsChunk = 128

func columns[T tile.Number](name string, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		zero := tile.Const[T](0)
		return tile.Define(name, func(k *tile.Builder, a columnsArgs[T]) {
			block, n := k.Block(), a.X.Dim(1)
			span, both := block.Striped(columnsChunk, vec), block.Striped2(2, columnsChunk, vec, 8)
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				largest := tile.NewVar(block, tile.LoadScalar(block, a.X.At(row)))
				partial := tile.NewVar(block, tile.Full(block, span, zero))
				for col := range tile.Columns(block, n, span) {
					x := tile.Load(block, a.X.At(row, col), span)
					largest.Set(largest.Get().Max(x.MaxOf()))
					partial.Set(partial.Get().Add(x.Fill(zero)))
				}
				tile.Store(block, a.Max.At(row), largest.Get())
				tile.Store(block, a.Sum.At(row), partial.Get().Sum())
				for col := range tile.Columns(block, n, span) {
					tile.Store(block, a.Y.At(row, col), tile.Load(block, a.X.At(row, col), span).Add(largest.Get()))
				}
				sums := tile.NewVar(block, tile.Full(block, both.Axis(0), zero))
				for col := range tile.Columns(block, n, both) {
					x := tile.Load(block, a.X.At(row, col), both.Clip(a.X.Dim(0).Sub(row).MinInt(2), nil))
					sums.Set(sums.Get().Add(x.Fill(zero).Sum(1)))
				}
				tile.Store(block, a.Two.At(row), tile.Full(block, block.Striped(2, 1), zero))
				tile.Store(block, a.Two.At(row), sums.Get())
			}
		}, tile.Threads(32), tile.Doc("Rows above the capacity, in chunks."))
	}}
}

func columnsKernels() tile.Set {
	return family(columns[tile.F32]("op_columns_f32", 4), columns[tile.BF16]("op_columns_bf16", 8), columns[tile.I64]("op_columns_i64", 2))
}
