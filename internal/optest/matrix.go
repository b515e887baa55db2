package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// matrixArgs: Y, row by row, is X through shared memory and matrix loads, as a fragment, as the transpose of one, and
// moved from one to the other and back; T is the transpose of X.
type matrixArgs[T tile.Float] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"4,rows,n"`
	T tile.Global[T] `tile:"n,rows"`
}

// The tile of a warp, in a shared tile of more columns.
const (
	matrixRows = 16
	matrixCols = 32
)

// matrixLoad is for one warp. Shared rows of cols elements have room for the tile at two columns.
func matrixLoad[T tile.Float](name string, cols int, swizzle layout.Swizzle) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a matrixArgs[T]) {
			warp := k.Warp()
			s := tile.NewShared[T](k, matrixRows, cols).Swizzle(swizzle)
			frag, across := warp.Fragment(matrixRows, matrixCols), warp.Fragment(matrixCols, matrixRows).Transpose()
			for at := range tile.Range(warp, 0, 9, 8) {
				x := tile.Load(warp, a.X, warp.Striped2(matrixRows, matrixCols, 2, 8))
				tile.Store(warp, s.At(0, at), x.Fill(tile.Const[T](0)))
				y, z := tile.LoadMatrix(warp, s.At(0, at), frag), tile.LoadMatrix(warp, s.At(0, at), across)
				tile.Store(warp, a.Y.At(0), y)
				tile.Store(warp, a.Y.At(1), z)
				tile.Store(warp, a.Y.At(2), tile.MoveMatrix(y))
				tile.Store(warp, a.Y.At(3), tile.MoveMatrix(z))
				tile.Store(warp, a.T, y.Transpose())
			}
		}, tile.Threads(32), tile.Doc("A tile through matrix loads."))
	}}
}

// matrixStoreArgs: Y, row by row, is X through matrix stores and shared memory, from a fragment and from the transpose of
// one; T is the transpose of X, which moved in registers.
type matrixStoreArgs[T tile.Float] struct {
	X tile.Global[T] `tile:"rows,n"`
	Y tile.Global[T] `tile:"2,rows,n"`
	T tile.Global[T] `tile:"n,rows"`
}

func matrixStore[T tile.Float](name string, cols int, swizzle layout.Swizzle) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a matrixStoreArgs[T]) {
			warp := k.Warp()
			s, t := tile.NewShared[T](k, matrixRows, cols).Swizzle(swizzle), tile.NewShared[T](k, matrixCols, matrixRows)
			plain := warp.Striped2(matrixRows, matrixCols, 2, 8)
			for i, span := range []tile.Span{warp.Fragment(matrixRows, matrixCols), warp.Fragment(matrixCols, matrixRows).Transpose()} {
				x := tile.Load(warp, a.X, span).Fill(tile.Const[T](0))
				tile.StoreMatrix(warp, s.At(0, 8), x)
				tile.Store(warp, a.Y.At(i), tile.Load(warp, s.At(0, 8), plain))
				if i == 0 {
					tile.StoreMatrix(warp, t.At(), tile.MoveMatrix(x).Transpose())
					tile.Store(warp, a.T, tile.Load(warp, t.At(), warp.Striped2(matrixCols, matrixRows, 2, 8)))
				}
			}
		}, tile.Threads(32), tile.Targets(bulkTargets...), tile.Doc("A tile through matrix stores."))
	}}
}

// matrixGroupArgs are matrixStoreArgs, of another family.
type matrixGroupArgs[T tile.Float] matrixStoreArgs[T]

// matrixGroup is a tile of a warpgroup, by matrix stores and loads of both spreads.
func matrixGroup[T tile.Float](name string) kernel {
	const side = 64
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a matrixGroupArgs[T]) {
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
				s, t := tile.NewShared[T](k, side, side).Swizzle(layout.Swizzle128), tile.NewShared[T](k, side, side).Swizzle(layout.Swizzle128)
				frag := c.Fragment(side, side)
				x := tile.Load(c, a.X, frag).Fill(tile.Const[T](0))
				tile.StoreMatrix(c, s, x)
				tile.Store(c, a.Y.At(0), tile.Load(c, s, c.Striped2(side, side, 8, 8)))
				tile.StoreMatrix(c, t, x.Transpose())
				y := tile.LoadMatrix(c, s, frag)
				tile.Store(c, a.Y.At(1), y)
				tile.Store(c, a.T, tile.LoadMatrix(c, t, frag))
			}))
		}, tile.Threads(128), tile.Targets(bulkTargets...), tile.Doc("A tile of a warpgroup through matrix stores and loads."))
	}}
}

func matrixKernels() tile.Set {
	return tile.Sets(
		family(matrixLoad[tile.BF16]("op_matrix_load_bf16", 64, layout.Swizzle128), matrixLoad[tile.F16]("op_matrix_load_f16", 40, layout.NoSwizzle)),
		family(matrixStore[tile.BF16]("op_matrix_store_bf16", 64, layout.Swizzle64), matrixStore[tile.F16]("op_matrix_store_f16", 40, layout.NoSwizzle)),
		family(matrixGroup[tile.BF16]("op_matrix_group_bf16")),
	)
}
