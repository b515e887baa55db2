package tile_test

import "github.com/gotile/gotile/tile"

// wrongFragments are mistakes with tiles of tensor cores.
var wrongFragments = []wrong{
	{name: "fragment of 8 rows", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k.Warp(), a.X, k.Warp().Fragment(8, 20)) // ERR Fragment of 8x20 of 1 warp: the rows are a multiple of 16, the columns of 8; use 16x24
	}},
	{name: "fragment of a warpgroup of 96 rows", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) {
			tile.NewAcc[tile.F32](c, 96, 64) // ERR Fragment of 96x64 of 4 warps: the rows are a multiple of 64, the columns of 8; use 128x64
		}))
	}},
	{name: "an accumulator of more registers than a thread has", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		tile.NewAcc[tile.F32](k.Warp(), 256, 256) // ERR a tile of [256 256] gives each of 32 threads 2048 elements, more than 1024; use more threads, or stream it with tile.Columns
	}},
	{name: "transpose of a vector", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		tile.Load(k, a.V, k.Block().Striped(128, 4).Transpose()) // ERR Transpose of a span of rank 1: it has two axes; use a span of a matrix
	}},
	{name: "fragments of two forms", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		x := tile.Load(warp, a.X, warp.Fragment(16, 16))
		x.Add(tile.Load(warp, a.X, warp.Fragment(16, 16).Transpose())) // ERR operands of Add are 16x16 spread in two ways, thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1) and thread (4:2@0,8:1@1) value (2:1@0,2:8@1,2:8@0); load both with one span, or tile.Redistribute one
	}},
}
