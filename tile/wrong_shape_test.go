package tile_test

import "github.com/gotile/gotile/tile"

var wrongShapes = []wrong{
	{name: "sizes", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.V, k.Block().Striped(128, 4))
		y := tile.Load(k, a.V, k.Block().Striped(256, 4))
		x.Add(y) // ERR operands of Add are 128 and 256; give both one span
	}},
	{name: "poison reports once", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.V, k.Block().Striped(128, 4))
		y := tile.Load(k, a.V, k.Block().Striped(256, 4))
		z := x.Add(y).Mul(x) // ERR operands of Add are 128 and 256; give both one span
		tile.Store(k, a.V, z.Exp().Add(tile.Full(k, x.Span(), z.Sum())))
		for range tile.Range(k, 0, tile.AsIndex(tile.Cast[tile.I32](z.Sum())), 1) {
			tile.If(k, z.Sum().Gt(tile.F32(0)), func() { tile.NewVar(k, z).Get().Exp() })
		}
	}},
	{name: "ranks", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 32))
		x.Sub(x.Sum(1)) // ERR operands of Sub are 8x128 and 8; tile.Expand adds the missing axis
	}},
	{name: "extents", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		cols := k.Block().Striped(1024, 4)
		x := tile.Load(k, a.V, cols.Clip(a.X.Dim(1)))
		y := tile.Load(k, a.V, cols.Clip(a.X.Dim(0)))
		x.Add(y) // ERR operands of Add end at n and at rows along axis 0; clip both at one extent
	}},
	{name: "reduce one value", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped(1024, 4)).Sum().Sum() // ERR Sum of one value: there is no axis left to reduce; drop the call
	}},
	{name: "fold", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped(1024, 4)).Sum().Fold() // ERR Fold of one value: each thread has it; drop the call
	}},
	{name: "fold copies", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 32)).Sum(1).Fold() // ERR Fold of a tile of which 32 threads hold the same element: its sum would count each 32 times; use Sum
	}},
	{name: "axis", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped(1024, 4)).Sum(1)             // ERR Sum over axis 1 of a tile of 1024: use axis 0, its only one
		tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 32)).MaxOf(1, 1) // ERR MaxOf names axis 1 twice; drop one
	}},
	{name: "expand", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 32))
		tile.Expand(x.Sum(1), x.Span(), 0) // ERR Expand of a vector of 8 along axis 0 of a tile of 8x128: give a vector of 128, which a reduction over axis 0 gives
		tile.Expand(x.Sum(1), x.Span(), 2) // ERR Expand along axis 2 of a tile of 8x128: use an axis from 0 to 1
		tile.Expand(x.Sum(), x.Span(), 1)  // ERR Expand of one value along axis 1 of a tile of 8x128: give a vector of 8, or use tile.Full to repeat one value
	}},
	{name: "clip", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		k.Block().Striped(1024, 4).Clip(1, 2) // ERR Clip with 2 extents of a span of rank 1; give one an axis, nil for none
		k.Block().Striped(1024, 4).Clip(2000) // ERR Clip at 2000 of axis 0, whose capacity is 1024; make the span larger
	}},
	{name: "offsets", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		a.V.At(1, 2)                           // ERR At with 2 offsets of V, which has 1 dimension; give at most one each
		tile.LoadScalar(k, a.S.At(128))        // ERR Load at offset 128 of S's dimension 0, which has 128 elements; use an offset from 0 to 127
		tile.LoadScalar(k, a.S.At(-1))         // ERR Load at offset -1 of S's dimension 0: use an offset of at least 0
		tile.LoadScalar(k, a.S.At(a.S.Dim(1))) // ERR Dim(1) of S, which has 1 dimension; use Dim(0) for the last
	}},
	{name: "offsets of a shared tile", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 128)
		s.At(1, 2)                                         // ERR At with 2 offsets of the shared tile of @-1, which has 1 dimension; give at most one each
		tile.LoadScalar(k, s.At(128))                      // ERR Load at offset 128 of the shared tile of @-2's dimension 0, which has 128 elements; use an offset from 0 to 127
		tile.Load(k, s, k.Block().Striped2(8, 128, 4, 32)) // ERR Load of a tile of 8x128 on the shared tile of @-3, which has 1 dimension; use a span of rank 1
	}},
	{name: "span of one value", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, tile.LoadScalar(k, a.V).Span()) // ERR Span of one value: it has no axes; take the span of the tile it goes with
	}},
	{name: "rank of the buffer", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped2(8, 128, 4, 32)) // ERR Load of a tile of 8x128 on V, which has 1 dimension; use a span of rank 1
	}},
	{name: "tile where one value is wanted", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.I, k.Block().Striped(1024, 4))
		tile.AsIndex(x)                          // ERR AsIndex of a tile of rank 1: an index is one value; reduce it, or LoadScalar
		tile.If(k, x.Gt(tile.I32(0)), func() {}) // ERR the condition of If has rank 1: it must be one value; reduce it first
		tile.Full(k, x.Span(), x)                // ERR Full of a tile of 1024: it repeats one value; use Expand
	}},
	{name: "variable", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		cols := k.Block().Striped(1024, 4)
		v := tile.NewVar(k, tile.Full(k, cols, tile.F32(0)))
		v.Set(tile.F32(1))             // ERR Set of a variable of 1024 to one value; give it a tile of its shape
		v.Set(tile.Load(k, a.V, cols)) // ERR Set of a variable without an extent on axis 0 to a tile that ends at n: elements past it hold anything; use x.Fill first, or clip the variable's first value
		v.Set(tile.Load(k, a.V, cols).Fill(tile.F32(0)))
	}},
	{name: "division by nothing", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		a.X.Dim(0).DivInt(0) // ERR Div of an index by 0; give a positive divisor
	}},
	{name: "coordinates and masks", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 32))
		tile.Coord(x.Span(), 2)   // ERR Coord along axis 2 of a tile of 8x128: use an axis from 0 to 1
		x.Fill(tile.F32(0), 2)    // ERR Fill along axis 2 of a tile of 8x128: use an axis from 0 to 1
		x.Sum().Fill(tile.F32(0)) // ERR Fill of one value: only tiles have masked elements; drop the call
	}},
	{name: "two extents of a variable", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		cols := k.Block().Striped(64, 4)
		v := tile.NewVar(k, tile.Load(k, a.S, cols.Clip(10)))
		v.Set(tile.Load(k, a.S, cols.Clip(11))) // ERR Set of a variable that ends at 10 to a tile that ends at 11 on axis 0; use x.Fill first
	}},
	{name: "empty span", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped(0, 4)) // ERR a span of 0 elements: give a capacity of at least 1
	}},
	{name: "shared sizes", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewShared[tile.F32](k)        // ERR NewShared without sizes; give at least one
		tile.NewShared[tile.F32](k, 4, -1) // ERR NewShared with sizes [4 -1]: give sizes of at least 1
	}},
}
