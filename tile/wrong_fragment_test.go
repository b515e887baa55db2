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
	{name: "matrices of f32", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		s := tile.NewShared[tile.F32](k, 16, 16)
		tile.StoreMatrix(warp, s, tile.Full(warp, warp.Fragment(16, 16), tile.F32(0))) // ERR StoreMatrix of f32: its instruction moves matrices of 16-bit elements; use tile.Load and tile.Store
		tile.LoadMatrix(warp, s, warp.Fragment(16, 16))                                // ERR LoadMatrix of f32: its instruction moves matrices of 16-bit elements; use tile.Load and tile.Store
	}},
	{name: "matrices of another spread", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		tile.LoadMatrix(warp, tile.NewShared[tile.BF16](k, 16, 16), warp.Striped2(16, 16, 2, 8)) // ERR the tile of LoadMatrix is 16x16 spread thread (8:2@1,4:1@0) value (2:1@1,4:4@0), no fragment of tensor cores; load it with the Fragment of a warp or a warpgroup, or its Transpose
	}},
	{name: "matrices outside of a tile", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		s := tile.NewShared[tile.BF16](k, 32, 16)
		for i := range tile.Range(warp, 0, 32, 8) {
			tile.LoadMatrix(warp, s.At(i), warp.Fragment(16, 16)) // ERR LoadMatrix of 16x16 at an offset from which the shared tile of @-2, a tile of 32x16, may be passed; give offsets that leave it inside
		}
	}},
	{name: "matrices askew", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		s, t := tile.NewShared[tile.BF16](k, 16, 20), tile.NewShared[tile.BF16](k, 16, 24)
		tile.LoadMatrix(warp, s, warp.Fragment(16, 16))          // ERR LoadMatrix of the shared tile of @-1, whose rows are 40 bytes: a row of a matrix is 16 bytes, at a multiple of 16; make the rows of the tile a multiple of 8 elements
		tile.LoadMatrix(warp, t.At(0, 4), warp.Fragment(16, 16)) // ERR LoadMatrix of the shared tile of @-2 at column 4: a row of a matrix is 16 bytes, at a multiple of 16; use a multiple of 8
	}},
	{name: "matrices of global memory", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		tile.StoreMatrix(k.Warp(), a.H, tile.Load(k.Warp(), a.H, k.Warp().Fragment(16, 16)).Fill(tile.Const[tile.BF16](0))) // ERR StoreMatrix of H: matrices are read from and written to the block's own shared memory; give a tile.Shared, and copy with tile.Load and tile.Store elsewhere
	}},
	{name: "matrices with extents", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		s := tile.NewShared[tile.BF16](k, 16, 16)
		tile.StoreMatrix(warp, s, tile.Load(warp, a.H, warp.Fragment(16, 16))) // ERR StoreMatrix of a tile with extents: the instruction stores whole matrices; use Fill first, or tile.Store
		tile.LoadMatrix(warp, s, warp.Fragment(16, 16).Clip(3, nil))           // ERR LoadMatrix of a span with extents: the instruction loads whole matrices; drop the Clip, and Fill what it loads
	}},
	{name: "movmatrix over a warpgroup", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) {
			tile.MoveMatrix(tile.Load(c, a.H, c.Fragment(64, 16))) // ERR MoveMatrix of 64x16 over a group: elements move within a warp, and both sides of the tile are multiples of 16; use a warp's fragment of such sides, or pass through a shared tile
		}))
	}},
	{name: "stmatrix on sm_80", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			tile.StoreMatrix(k.Warp(), tile.NewShared[tile.BF16](k, 16, 16), tile.Full(k.Warp(), k.Warp().Fragment(16, 16), tile.Const[tile.BF16](0))) // ERR StoreMatrix needs stmatrix, which sm_80 has not; leave the target out with tile.Targets
		}, tile.Threads(32))
		if err != nil {
			return err
		}
		_, err = k.Lower("sm_80")
		return err
	}},
}

// wrongProducts are mistakes with MMA.
var wrongProducts = []wrong{
	{name: "sides", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		s := tile.NewShared[tile.BF16](k, 64, 32)
		tile.MMA(tile.NewAcc[tile.F32](warp, 64, 64), s, s) // ERR MMA AB of an accumulator of 64x64 with A of 64x32 and B of 64x32, as multiplied: C is m x n, A m x k, B k x n; give operands of these sides
	}},
	{name: "no form", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.BF16](k, 64, 64)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 64, 64), s, s, tile.Form(9)) // ERR MMA of Form(9), which is none of the four; use tile.AB, ABt, AtB or AtBt
	}},
	{name: "a matrix of a vector", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.BF16](k, 256)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 16), s.At(0).Matrix(16, 16), s.At(0).Matrix(16, 16)) // ERR an operand of MMA is a Matrix of the shared tile of @-1, which has 1 dimension: it is along the last two; make a tile of rows x columns
	}},
	{name: "a member of a pipeline as it was made", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.NewShared[tile.BF16](k, 64, 64)
		pipe := tile.NewPipeline(k, 2, groupSlot{X: x})
		in := pipe.Acquire(k)
		tile.CopyAsync(in, in.X, a.H)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 64, 64), x, in.X) // ERR an operand of MMA is the shared tile of @-4, which the pipeline of @-3 hands over slot by slot; take it from the slot that Wait gives
		pipe.Wait(k).Release(k)
	}},
	{name: "k of 20", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.BF16](k, 16, 32).At().Matrix(16, 20)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 16), s, s, tile.ABt) // ERR MMA over k = 20: an instruction takes 8 of bf16; make it a multiple, use 24 and zeros
	}},
	{name: "types", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		s, t := tile.NewShared[tile.F32](k, 16, 16), tile.NewShared[tile.BF16](k, 16, 16)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 16), s, s)  // ERR MMA of f32 without an accuracy: tensor cores take tf32, with 10 bits of fraction; use tile.TF32, one product of these, or tile.TF32x3, three, for nearly f32
		tile.MMA(tile.NewAcc[tile.BF16](k.Warp(), 16, 16), t, t) // ERR MMA of bf16 into an accumulator of bf16: tensor cores add floats up in f32, f16 in f16 too, and i8 in i32; use an accumulator of f32
	}},
	{name: "an accumulator that is none", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.BF16](k, 16, 16)
		acc := tile.NewVar(k, tile.Full(k, k.Block().Striped2(16, 16, 2, 8), tile.F32(0)))
		tile.MMA(acc, s, s)                         // ERR the accumulator of MMA is a tile of 16x16, no fragment of tensor cores; make it with tile.NewAcc
		tile.MMA(tile.NewVar(k, tile.F32(0)), s, s) // ERR the accumulator of MMA is one value, no fragment of tensor cores; make it with tile.NewAcc
	}},
	{name: "an accumulator in the wrong scope", rule: tile.ErrScope, f: func(k *tile.Builder, a wrongArgs) {
		s, warp := tile.NewShared[tile.BF16](k, 64, 64), k.Warp()
		x := tile.Load(warp, a.H, warp.Fragment(64, 64))
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) {
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), x, s) // ERR operand A of MMA is of scope warp, its accumulator of scope group; name one scope for both
		}))
	}},
	{name: "spread of an operand", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		s, x := tile.NewShared[tile.BF16](k, 16, 16), tile.Load(warp, a.H, warp.Fragment(16, 16))
		acc := tile.NewAcc[tile.F32](warp, 16, 16)
		tile.MMA(acc, s, x)           // ERR operand B of MMA is 16x16 spread thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1): of this form it has Fragment(n, k).Transpose(); load it with that span, or give a shared tile
		tile.MMA(acc, x, s, tile.AtB) // ERR operand A of MMA is 16x16 spread thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1): of this form it has Fragment(m, k).Transpose(); load it with that span, or give a shared tile
	}},
	{name: "operand B of a warpgroup in registers", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.BF16](k, 64, 64)
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) {
			tile.MMA(tile.NewAcc[tile.F32](c, 64, 64), s, tile.Load(c, a.H, c.Fragment(64, 64)), tile.ABt) // ERR operand B of an MMA of a warpgroup is in registers, where each warp has a part of it and needs the whole; give a shared tile, or use warps
		}))
	}},
	{name: "an operand in global memory", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.BF16](k, 16, 16)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 16), a.H.At(0).Matrix(16, 16), s) // ERR an operand of MMA is in global memory: tensor cores read shared memory and registers; copy it to a shared tile, or load it with a Fragment
	}},
	{name: "an operand of three dimensions", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.BF16](k, 2, 16, 16)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 16, 16), s, s.At(1).Matrix(16, 16)) // ERR an operand of MMA is the shared tile of @-1, which has 3 dimensions; give a part of it: At(...).Matrix(rows, cols)
	}},
}
