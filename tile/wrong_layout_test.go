package tile_test

import "github.com/gotile/gotile/tile"

var wrongLayouts = []wrong{
	{name: "two distributions", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.V, k.Block().Striped(1024, 4))
		y := tile.Load(k, a.V, k.Block().Striped(1024, 1))
		x.Add(y) // ERR operands of Add are 1024 spread in two ways, thread (256:4@0) value (4:1@0) and thread (256:1@0) value (4:256@0); load both with one span, or tile.Redistribute one
	}},
	{name: "vector width", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped(1024, 3))  // ERR vectors of 3 elements: use 1, 2, 4, 8 or 16
		tile.Load(k, a.V, k.Block().Striped(1024, 32)) // ERR vectors of 32 elements: use 1, 2, 4, 8 or 16
	}},
	{name: "threads across", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 24)) // ERR Striped2 with 24 threads across a row: use a power of two that divides the 256 threads
	}},
	{name: "expand a vector of another spread", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, a.X, k.Block().Striped2(8, 128, 4, 32))
		w := tile.Load(k, a.V, k.Block().Striped(128, 4))
		tile.Expand(w, x.Span(), 0) // ERR Expand along axis 0 of a vector spread thread (256:4@0) value (4:1@0): the tile's own is thread (32:4@0,8:0) value (4:1@0); load it with the span's Axis(1), or reduce the tile
	}},
	{name: "variable", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		v := tile.NewVar(k, tile.Full(k, k.Block().Striped(128, 4), tile.F32(0)))
		v.Set(tile.Load(k, a.S, k.Block().Striped(128, 1))) // ERR Set of a variable spread thread (256:4@0) value (4:1@0) to a tile spread thread (256:1@0) value (); load both with one span
	}},
}
