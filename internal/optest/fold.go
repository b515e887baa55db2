package optest

import "github.com/gotile/gotile/tile"

// foldArgs: what each thread holds of each row of X, summed, and the sum of the row, streamed in chunks.
type foldArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"rows,threads"` // of the row's first chunk
	S tile.Global[T] `tile:"rows"`
}

func foldKernel[T tile.Number](name string, threads, cap, vec int) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a foldArgs[T]) {
			block := k.Block()
			span, each := block.Striped(cap, vec), block.Striped(threads, 1)
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				tile.Store(block, a.Y.Row(row), tile.Load(block, a.X.Row(row), span.Clip(a.X.Dim(1).MinInt(cap))).Fold())
				acc := tile.NewVar(block, tile.Full(block, each, tile.Const[T](0)))
				for col := range tile.Range(block, 0, a.X.Dim(1), cap) {
					acc.Set(acc.Get().Add(tile.Load(block, a.X.At(row, col), span).Fold()))
				}
				tile.Store(block, a.S.At(row), acc.Get().Sum())
			}
		}, tile.Threads(threads), tile.Doc("Sums of what each thread holds of rows, and sums of rows by way of them."))
	}}
}

const (
	foldThreads = 64
	foldCap     = 250 // ragged for every vector
)

// foldKernels have 16 bytes a vector.
func foldKernels() tile.Set {
	return family(
		foldKernel[tile.F32]("op_fold_f32", foldThreads, foldCap, 4),
		foldKernel[tile.BF16]("op_fold_bf16", foldThreads, foldCap, 8),
		foldKernel[tile.F16]("op_fold_f16", foldThreads, foldCap, 8),
		foldKernel[tile.I32]("op_fold_i32", foldThreads, foldCap, 4),
		foldKernel[tile.U32]("op_fold_u32", foldThreads, foldCap, 4),
		foldKernel[tile.I64]("op_fold_i64", foldThreads, foldCap, 2),
	)
}
