package optest

import "github.com/gotile/gotile/tile"

// piecesArgs are trackArgs, of another family.
type piecesArgs[T tile.Number] exchangeArgs[T]

// pieces is rows that threads copy asynchronously in pieces of 4 or 8 bytes: of one element, which need no alignment, or of
// two, which go through registers where the source has none.
func pieces[T tile.Number](name string, chunk int, bytes ...tile.CopyOption) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a piecesArgs[T]) {
			block, n := k.Block(), a.X.Dim(1)
			s := tile.NewShared[T](k, chunk)
			for row := range tile.Persistent(k, a.X.Dim(0)) {
				for col := range tile.Range(block, 0, n, chunk) {
					tile.CopyAsync(block, s, a.X.At(row, col), bytes...)
					tile.Commit(block)
					tile.WaitGroup(block, 0)
					y := tile.Load(block, s, block.Striped(chunk, 1).Clip(n.Sub(col).MinInt(chunk)))
					tile.Store(block, a.Y.At(row, col), y.Add(y))
				}
			}
		}, tile.Threads(64), tile.Doc("Rows through shared memory by asynchronous copies of a few bytes each."))
	}}
}

// The columns of a chunk: rows of 260, 132, 264 and 264 bytes.
const (
	piecesF32  = 65
	piecesBF16 = 66
	piecesI32  = 66
	piecesI64  = 33
)

func piecesKernels() tile.Set {
	return family(
		pieces[tile.F32]("op_pieces_f32", piecesF32),
		pieces[tile.BF16]("op_pieces_bf16", piecesBF16),
		pieces[tile.I32]("op_pieces_i32", piecesI32),
		pieces[tile.I64]("op_pieces_i64", piecesI64, tile.Pieces(8)),
	)
}
