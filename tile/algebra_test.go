package tile_test

import "github.com/gotile/gotile/tile"

type algebraArgs struct {
	X, Y tile.Global[tile.F32]  `tile:"rows,n"`
	H    tile.Global[tile.BF16] `tile:"rows,n"`
}

// algebraOps records the ops on register tiles as wholes.
func algebraOps(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a algebraArgs) {
		warp := k.Warp()
		span := warp.Fragment(16, 16)
		x := tile.Load(warp, a.X, span)
		for i, y := range []tile.Reg[tile.F32]{
			x.CumSum(0), x.CumMax(1, tile.Exclusive), x.CumMin(0, tile.Reverse), x.CumProd(1, tile.Exclusive, tile.Reverse),
			tile.Redistribute(x.Transpose(), span), tile.InverseUnitLower(x.Fill(tile.F32(0))), tile.Causal(x, 1, tile.F32(0)),
		} {
			tile.Store(warp, a.Y.At(16*i, 0), y)
		}
		tile.Store(warp, a.Y.At(112, 8), x.Subtile(1, 8, 8).Subtile(0, 8, 8))
		for row := range tile.Persistent(warp, a.H.Dim(0), tile.Step(16)) {
			tile.Store(warp, a.H.At(row, 0), tile.LoadShifted(warp, a.H.At(row, 0), span, 3))
			tile.Store(warp, a.H.At(row, 0), tile.LoadShifted(warp, a.H.At(row, 0), span, -1))
		}
	}, tile.Threads(64))
}
