package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// bytesCastArgs: an 8-bit type converted to every type, X to F, BF, H, I, U, L and B, and every type converted to it: XF to
// OF, and so on.
type bytesCastArgs[T tile.Number] struct {
	X   tile.Global[T]         `tile:"n"`
	F   tile.Global[tile.F32]  `tile:"n"`
	BF  tile.Global[tile.BF16] `tile:"n"`
	H   tile.Global[tile.F16]  `tile:"n"`
	I   tile.Global[tile.I32]  `tile:"n"`
	U   tile.Global[tile.U32]  `tile:"n"`
	L   tile.Global[tile.I64]  `tile:"n"`
	B   tile.Global[tile.I8]   `tile:"n"`
	XF  tile.Global[tile.F32]  `tile:"m"`
	XBF tile.Global[tile.BF16] `tile:"m"`
	XH  tile.Global[tile.F16]  `tile:"m"`
	XI  tile.Global[tile.I32]  `tile:"m"`
	XU  tile.Global[tile.U32]  `tile:"m"`
	XL  tile.Global[tile.I64]  `tile:"m"`
	OF  tile.Global[T]         `tile:"m"`
	OBF tile.Global[T]         `tile:"m"`
	OH  tile.Global[T]         `tile:"m"`
	OI  tile.Global[T]         `tile:"m"`
	OU  tile.Global[T]         `tile:"m"`
	OL  tile.Global[T]         `tile:"m"`
}

// convertBytes stores a vector in another type.
func convertBytes[D, S tile.Number](block tile.Block, dst tile.Global[D], src tile.Global[S], span tile.Span) {
	tile.Store(block, dst, tile.Cast[D](tile.Load(block, src, span)))
}

func bytesCast[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a bytesCastArgs[T]) {
			block := k.Block()
			span, more := block.Striped(256, 4), block.Striped(1024, 8)
			convertBytes(block, a.F, a.X, span)
			convertBytes(block, a.BF, a.X, span)
			convertBytes(block, a.H, a.X, span)
			convertBytes(block, a.I, a.X, span)
			convertBytes(block, a.U, a.X, span)
			convertBytes(block, a.L, a.X, block.Striped(256, 1)) // one a register
			convertBytes(block, a.B, a.X, span)
			convertBytes(block, a.OF, a.XF, more)
			convertBytes(block, a.OBF, a.XBF, more)
			convertBytes(block, a.OH, a.XH, more)
			convertBytes(block, a.OI, a.XI, more)
			convertBytes(block, a.OU, a.XU, more)
			convertBytes(block, a.OL, a.XL, block.Striped(1152, 1)) // nine a thread: one a register
		}, tile.Threads(128), tile.Doc("An 8-bit type converted to every type, and back."))
	}}
}

// bytesMoveArgs: X moved in many ways: as vectors of 16, of 4 and as single bytes, through a swizzled shared tile, through
// a variable, where it is positive or else One, spread anew, transposed twice, by CopyAsync, and scalar by scalar. All keep
// every bit.
type bytesMoveArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"8,rows,n"`
	S tile.Global[T] `tile:"rows"`
	T tile.Global[T] `tile:"n,rows"`
}

// bytesSide is the side of the largest matrix.
const bytesSide = 64

func bytesMove[T tile.Number](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a bytesMoveArgs[T]) {
			block := k.Block()
			span := block.Striped2(bytesSide, bytesSide, 16, 4)
			x := tile.Load(block, a.X, span)
			tile.Store(block, a.Y.At(0), x)
			for i, vec := range []int{4, 1} {
				tile.Store(block, a.Y.At(1+i), tile.Load(block, a.X, block.Striped2(bytesSide, bytesSide, vec, 8)))
			}
			s := tile.NewShared[T](k, bytesSide, bytesSide).Swizzle(layout.Swizzle64)
			tile.Store(block, s, x.Fill(tile.Const[T](1)))
			block.Sync()
			tile.Store(block, a.Y.At(3), tile.Load(block, s, block.Striped2(bytesSide, bytesSide, 4, 16)))
			v := tile.NewVar(block, tile.Full(block, span, tile.Const[T](0)))
			v.Set(x.Fill(tile.Const[T](0)))
			tile.Store(block, a.Y.At(4), v.Get())
			odd := tile.Coord(span, 1).And(tile.I32(1)).Eq(tile.I32(1))
			tile.Store(block, a.Y.At(5), tile.Select(odd, x, tile.Const[T](2)))
			turned := tile.Redistribute(x.Transpose(), block.Striped2(bytesSide, bytesSide, 16, 4))
			tile.Store(block, a.T, turned)
			tile.Store(block, a.Y.At(6), tile.Redistribute(turned.Transpose(), span))
			c := tile.NewShared[T](k, bytesSide, bytesSide)
			tile.CopyAsync(block, c, a.X)
			tile.Commit(block)
			tile.WaitGroup(block, 0)
			block.Sync()
			tile.Store(block, a.Y.At(7), tile.Load(block, c, span))
			for row := range tile.Range(block, 0, a.X.Dim(0), 1) {
				tile.Store(block, a.S.At(row), tile.LoadScalar(block, a.X.At(row, 0)))
			}
		}, tile.Threads(64), tile.Doc("An 8-bit type moved in every way."))
	}}
}

func bytesKernels() tile.Set {
	return tile.Sets(
		family(bytesCast[tile.E4M3]("op_bytes_cast_e4m3"), bytesCast[tile.E5M2]("op_bytes_cast_e5m2"), bytesCast[tile.I8]("op_bytes_cast_i8")),
		family(bytesMove[tile.E4M3]("op_bytes_move_e4m3"), bytesMove[tile.E5M2]("op_bytes_move_e5m2"), bytesMove[tile.I8]("op_bytes_move_i8")),
	)
}
