package tile_test

import "github.com/gotile/gotile/tile"

type wrongBytesArgs struct {
	X tile.Global[tile.I8] `tile:"n"`
}

// wrongBytes are mistakes with 8-bit types.
var wrongBytes = []wrong{
	{name: "arithmetic in 8 bits", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, tile.NewShared[tile.E4M3](k, 128), k.Block().Striped(128, 1))
		x.Add(x) // ERR Add has no e4m3 form: it takes floats and integers; Cast to f32 first
		x.Sum()  // ERR Sum has no e4m3 form: it takes floats and integers; Cast to f32 first
	}},
	{name: "bits of 8 bits", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.Load(k, tile.NewShared[tile.I8](k, 128), k.Block().Striped(128, 1))
		x.And(x) // ERR And has no i8 form: it takes integers and bool; Cast to i32 first
	}},
	{name: "matrix loads of 8 bits", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		warp := k.Warp()
		tile.LoadMatrix(warp, tile.NewShared[tile.I8](k, 16, 32), warp.Fragment(16, 32)) // ERR LoadMatrix of i8: its instruction moves matrices of 16-bit elements; use tile.Load and tile.Store
	}},
	{name: "i8 into f32", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.I8](k, 32, 32)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 32, 32), s, s) // ERR MMA of i8 into an accumulator of f32: tensor cores add floats up in f32, f16 in f16 too, and i8 in i32; use an accumulator of i32
	}},
	{name: "e4m3 into f16", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.E4M3](k, 32, 32)
		tile.MMA(tile.NewAcc[tile.F16](k.Warp(), 32, 32), s, s) // ERR MMA of e4m3 into an accumulator of f16: tensor cores add floats up in f32, f16 in f16 too, and i8 in i32; use an accumulator of f32
	}},
	{name: "e5m2 over k of 48", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.E5M2](k, 48, 48)
		tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 48, 48), s, s) // ERR MMA over k = 48: an instruction takes 32 of e5m2; make it a multiple, use 64 and zeros
	}},
	{name: "i8 over k of 24", rule: tile.ErrShape, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.I8](k, 32, 32)
		tile.MMA(tile.NewAcc[tile.I32](k.Warp(), 32, 32), s.At().Matrix(32, 24), s.At().Matrix(24, 32)) // ERR MMA over k = 24: an instruction takes 16 of i8; make it a multiple, use 32 and zeros
	}},
	{name: "rows of 8 bytes", rule: tile.ErrLayout, f: func(k *tile.Builder, a wrongArgs) {
		s := tile.NewShared[tile.I8](k, 32, 24)
		tile.MMA(tile.NewAcc[tile.I32](k.Warp(), 32, 32), s, s) // ERR MMA of the shared tile of @-1, whose rows are 24 bytes: a row of a matrix is 16 bytes, at a multiple of 16; make the rows of the tile a multiple of 16 elements
	}},
	{name: "atomics on 8 bits", rule: tile.ErrDType, def: func() error {
		_, err := tile.Define("wrong", func(k *tile.Builder, a wrongBytesArgs) {
			tile.AtomicAdd(k, a.X, tile.LoadScalar(k, a.X)) // ERR AtomicAdd has no i8 form: it takes f32 and integers; Cast first
		})
		return err
	}},
	{name: "a scalar of 8 bits", rule: tile.ErrPort, def: func() error {
		_, err := tile.Define("wrong", func(*tile.Builder, scalar8) {}) // ERR scalar S of scalar8 is of e4m3: scalars are of 16 bits or more; use tile.Scalar[tile.F32] or [tile.I32], and Cast
		return err
	}},
	{name: "8-bit floats before sm_89", rule: tile.ErrTarget, def: func() error {
		k, err := tile.Define("wrong", func(k *tile.Builder, a wrongArgs) {
			s := tile.NewShared[tile.E5M2](k, 32, 32)
			tile.MMA(tile.NewAcc[tile.F32](k.Warp(), 32, 32), s, s) // ERR MMA needs mma.sync-fp8, which sm_80 has not; leave the target out with tile.Targets
		}, tile.Threads(32))
		return lower(k, err, "sm_80")
	}},
}
