package tile_test

import "github.com/gotile/gotile/tile"

var wrongAlgebra = []wrong{
	{name: "scan", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 32))
		x.CumSum(2)         // ERR CumSum along axis 2 of a tile of 8x128: use an axis from 0 to 1
		x.MaxOf().CumMax(0) // ERR CumMax of one value: it has no axes; drop the call
	}},
	{name: "scan option", rule: tile.ErrControl, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped(1024, 4)).CumSum(0, tile.ScanOption(9)) // ERR CumSum with unknown option 9; use tile.Exclusive or tile.Reverse
	}},
	{name: "scan of a cluster", rule: tile.ErrScope, opts: []tile.Option{tile.ClusterSize(2)}, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k.Cluster(), a.V, k.Cluster().Striped(1024, 4)).CumProd(0) // ERR CumProd of a tile of scope cluster: it works within a block; load the tile at scope block
	}},
	{name: "transpose", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped(1024, 4)).Transpose() // ERR Transpose of a vector of 1024, of rank 1: it exchanges rows and columns; give a tile of rank 2
	}},
	{name: "transpose and original", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k.Warp(), a.X, k.Warp().Fragment(16, 16))
		x.Add(x.Transpose()) // ERR operands of Add are 16x16 spread in two ways, thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1) and thread (4:2@0,8:1@1) value (2:1@0,2:8@1,2:8@0); load both with one span, or tile.Redistribute one
	}},
	{name: "subtile", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k.Warp(), a.X, k.Warp().Fragment(16, 16))
		x.Subtile(1, 0, 4) // ERR Subtile: layout: a slice of 4 along axis 1, over which the threads spread 8 elements: each thread has a part; use a multiple of 8
		x.Subtile(0, 4, 8) // ERR Subtile: layout: a slice of 8 from 4 on: it starts at a multiple of its size; use 0 or 8
	}},
	{name: "subtile outside", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k.Warp(), a.X, k.Warp().Fragment(16, 16))
		x.Subtile(1, 16, 8)      // ERR Subtile of the 8 elements from 16 on along axis 1 of a tile of 16x16: give a part of the 16
		x.Subtile(3, 0, 8)       // ERR Subtile along axis 3 of a tile of 16x16: use an axis from 0 to 1
		x.Sum().Subtile(0, 0, 8) // ERR Subtile of one value: it has no axes; drop the call
	}},
	{name: "redistribute", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k.Warp(), a.X, k.Warp().Fragment(16, 32))
		tile.Redistribute(x.Transpose(), x.Span())                   // ERR Redistribute of a tile of 32x16 to a span of 16x32; give one of its shape
		tile.Redistribute(x, k.Warp().Fragment(16, 32).Clip(3, nil)) // ERR Redistribute to a span that ends at 3 along axis 0, where the tile does not: extents stay; give the span without them
	}},
	{name: "redistribute to another scope", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k.Warp(), a.X, k.Warp().Fragment(16, 32))
		tile.Redistribute(x, k.Block().Striped2(16, 32, 1, 32)) // ERR Redistribute of a tile of scope warp to a span of scope block: it moves elements among the threads of one; store the tile, and load it at scope block
	}},
	{name: "map", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.V, k.Block().Striped(1024, 4))
		tile.Causal(x, 0, tile.F32(0))                                                                       // ERR Causal of a tile of rank 1: it has no rows and columns; use tile.Coord, or give a tile of rank 2
		tile.Map(x, func(row, col tile.Reg[tile.I32], v tile.Reg[tile.F32]) tile.Reg[tile.F32] { return v }) // ERR Map of a tile of rank 1: it has no rows and columns; use tile.Coord, or give a tile of rank 2
	}},
	{name: "scale", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		acc := tile.NewAcc[tile.F32](k.Warp(), 16, 32)
		tile.ScaleRows(acc, acc.Get().Sum(0)) // ERR Expand of a vector of 32 along axis 1 of a tile of 16x32: give a vector of 16, which a reduction over axis 1 gives
	}},
	{name: "scale by another's rows", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		acc := tile.NewAcc[tile.F32](k.Warp(), 16, 32)
		tile.ScaleRows(acc, tile.Load(k.Warp(), a.S, k.Warp().Striped(16, 1))) // ERR Expand along axis 1 of a vector spread thread (32:1@0) value (): the tile's own is thread (4:0,8:1@0) value (2:8@0); load it with the span's Axis(0), or reduce the tile
	}},
	{name: "shifted vector", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.LoadShifted(k, a.V, k.Block().Striped(1024, 4), 1) // ERR LoadShifted of a vector of 1024: it shifts the rows of a tile; use a span of rank 2
	}},
	{name: "inverse", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		tile.InverseUnitLower(tile.Full(warp, warp.Fragment(16, 32), tile.F32(0))) // ERR InverseUnitLower of a tile of 16x32: a triangular matrix is square; give a tile of as many columns as rows
		tile.InverseUnitLower(tile.Full(warp, warp.Fragment(64, 64), tile.F32(0))) // ERR InverseUnitLower of a tile of 64x64: the side is 4, 8, 16 or 32, as many lanes as have a column each; use the next larger one with zeros below the diagonal, or tile.InverseUnitLowerBlocks for multiples of 16 up to 64
		tile.InverseUnitLower(tile.Load(warp, a.X, warp.Fragment(16, 16)))         // ERR InverseUnitLower of a tile with an extent: what lies past it would count; use x.Fill(tile.F32(0)) first
	}},
	{name: "inverse by a block", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		tile.InverseUnitLower(tile.Full(k, k.Block().Striped2(16, 16, 1, 16), tile.F32(0))) // ERR InverseUnitLower of a tile of scope block: one warp computes it; load the tile at scope warp
	}},
	{name: "decay", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Decayed[tile.F32]{X: a.X, G: a.Y}
		tile.DecayDot(k.Warp(), x, x, 64, k.Warp().Striped2(12, 16, 1, 16))                               // ERR DecayDot into a tile of [12 16]: the rows are a multiple of 8; give a span of a matrix such as Fragment(16, 16)
		tile.DecayDot(k.Warp(), tile.Decayed[tile.F32]{X: a.V, G: a.V}, x, 64, k.Warp().Fragment(16, 16)) // ERR a matrix of V, which has 1 dimension; give a buffer of two dimensions or more
	}},
	{name: "blocks", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.InverseUnitLowerBlocks(k.Warp(), a.X, tile.NewShared[tile.F32](k, 40, 40), 40) // ERR InverseUnitLowerBlocks of 40x40: the side is a multiple of 16 up to 64; use 48
	}},
	{name: "blocks in place", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 64, 64)
		tile.InverseUnitLowerBlocks(k.Warp(), s, s, 64)   // ERR InverseUnitLowerBlocks to the shared tile of wrong_algebra_test.go:78: parts of the result are read again; give a shared tile other than the matrix
		tile.InverseUnitLowerBlocks(k.Warp(), s, a.Y, 64) // ERR InverseUnitLowerBlocks to Y: parts of the result are read again; give a shared tile other than the matrix
	}},
	{name: "a contraction over no columns", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		w, d := k.Warp(), tile.Decayed[tile.F32]{X: a.X, G: a.Y}
		tile.DecayDot(w, d, d, -3, w.Fragment(16, 16)) // ERR DecayDot over a depth of -3 columns; give at least 1
	}},
}
