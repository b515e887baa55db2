package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// wrongTF32 are mistakes with MMA of f32.
var wrongTF32 = []wrong{
	{name: "an accuracy of bf16", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.BF16](k, 16, 16)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 16), s, s, tile.TF32) // ERR MMA of bf16 and bf16 with an accuracy of tf32: that is for f32; drop it, or Cast
	}},
	{name: "an unknown accuracy", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 16, 16)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 16), s, s, tile.Accuracy(4)) // ERR MMA with accuracy 4; use tile.TF32 or tile.TF32x3
	}},
	{name: "tf32 of a warpgroup without wgmma", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			s := tile.NewShared[tile.F32](k, 64, 64)
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
				tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), s, s, tile.TF32) // ERR MMA needs wgmma, which sm_120a has not; leave the target out with tile.Targets
			}))
		}, tile.Threads(128))
		return lower(k, err, "sm_120a")
	}},
	{name: "f32 as it lies, by a warp", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 16, 16)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 16), s, s, tile.ABt, tile.TF32Cut) // ERR MMA of tile.TF32Cut by a warp: that is of operands as warpgroups take them; use tile.TF32, which rounds
	}},
	{name: "f32 as it lies, along n", rule: tile.ErrDType, def: func() error {
		return group(func(k *tile.Builder, c tile.Warpgroup) {
			s := tile.NewShared[tile.F32](k, 64, 64).Swizzle(layout.Swizzle128)
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), s, s, tile.TF32Cut) // ERR MMA of a warpgroup on sm_90a, by wgmma: operand B of f32 has rows along n, and only 16-bit types may; store it transposed, or the accuracy tile.TF32, which copies operands
		})
	}},
	{name: "f32 by mma.sync", rule: tile.ErrTarget, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 64, 64)
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) {
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), s, s, tile.TF32, tile.MMASync) // ERR MMA of f32 with tile.MMASync: the scope says which instruction multiplies, wgmma for a warpgroup, mma.sync for a warp; drop it
		}))
	}},
	{name: "f32 of more columns than wgmma has", rule: tile.ErrShape, def: func() error {
		return group(func(k *tile.Builder, c tile.Warpgroup) {
			s := tile.NewShared[tile.F32](k, 264, 8)
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 264), s.Rows(0, 64), s, tile.ABt, tile.TF32) // ERR MMA of a warpgroup on sm_90a, by wgmma: n = 264, and it has at most 256 columns; use 2 accumulators
		})
	}},
	{name: "tf32 into f16", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 16, 16)
		tile.MMA(tile.NewAcc[tile.F16](k.Warp(), 16, 16), s, s, tile.TF32x3) // ERR MMA of f32 into an accumulator of f16: products of tf32 are added up in f32; use an accumulator of f32
	}},
	{name: "tf32 over k of 12", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 16, 12)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 16), s, s, tile.ABt, tile.TF32) // ERR MMA of f32 over k = 12: an instruction takes 8 of tf32; make it a multiple, use 16 and zeros
	}},
	{name: "tf32 of 8 columns", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 16, 16)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 8), s, s.At(0, 0).Matrix(8, 16), tile.ABt, tile.TF32) // ERR MMA of f32 into 8 columns: B is loaded as a fragment of n x k, whose rows are a multiple of 16; use 16 columns
	}},
	{name: "sides of f32", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.F32](k, 32, 16)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 32, 32), s, s, tile.TF32) // ERR MMA AB of an accumulator of 32x32 with A of 32x16 and B of 32x16, as given: C is m x n, A m x k, B k x n; give operands of these sides
	}},
	{name: "spread of an operand of f32", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		s, x := tile.NewShared[tile.F32](k, 16, 16), tile.Load(warp, a.X, warp.Striped2(16, 16, 4, 4))
		tile.MMA(tile.NewAcc[tile.F32](warp, 16, 16), x, s, tile.TF32) // ERR operand A of MMA is 16x16 spread thread (4:4@1,8:1@0) value (4:1@1,2:8@0): of this form it has Fragment(m, k); load it with that span, or give a shared tile
	}},
	{name: "an operand of f32 of more registers than there are", rule: tile.ErrLimit, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		x := tile.Load(warp, a.X, warp.Fragment(256, 256)) // ERR a tile of [256 256] gives each of 32 threads 2048 elements, more than 1024; use more threads, or stream it with tile.Columns
		tile.MMA(tile.NewAcc[tile.F32](warp, 256, 16), x, tile.NewShared[tile.F32](k, 256, 16), tile.TF32)
	}},
}
