package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

type matrixArgs struct {
	X, Y tile.Global[tile.BF16] `tile:"rows,n"`
	Z    tile.Global[tile.F32]  `tile:"rows,n"`
}

// matrixOps records each op of tensor cores, and an MMA in a loop, of both kinds of operands.
func matrixOps(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a matrixArgs) {
		warp := k.Warp()
		span := warp.Fragment(32, 64)
		s, t := tile.NewShared[tile.BF16](k, 32, 64).Swizzle(layout.Swizzle128), tile.NewShared[tile.BF16](k, 2, 64, 32)
		x := tile.Load(warp, a.X, span)
		tile.StoreMatrix(warp, s, x.Fill(tile.Const[tile.BF16](0)))
		tile.StoreMatrix(warp, t.At(1), tile.LoadMatrix(warp, s, span).Transpose())
		y := tile.MoveMatrix(tile.LoadMatrix(warp, s.At(0, 0), warp.Fragment(64, 32).Transpose()))
		tile.Store(warp, a.Y, y)
		acc := tile.NewAcc[tile.F32](warp, 32, 32)
		for row := range tile.Range(warp, 0, a.X.Dim(0), 32) {
			x := tile.Load(warp, a.X.At(row), span)
			tile.MMA(acc, x, s, tile.ABt)
			tile.MMA(acc, s.Rows(0, 32), t.At(1).Matrix(64, 32))
		}
		h := tile.NewAcc[tile.F16](warp, 16, 16)
		tile.MMA(h, tile.Cast[tile.F16](tile.LoadMatrix(warp, s.At(0, 16), warp.Fragment(16, 16))), tile.Cast[tile.F16](tile.LoadMatrix(warp, s, warp.Fragment(16, 16))), tile.Overwrite, tile.ABt)
		tile.WaitMMA(warp, 0)
		tile.Store(warp, a.Z, acc.Get())
		tile.Store(warp, a.Y, tile.Cast[tile.BF16](tile.Cast[tile.F32](h.Get())))
	}, tile.Threads(32))
}
