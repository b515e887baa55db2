package tile_test

import "github.com/gotile/gotile/tile"

var wrongDTypes = []wrong{
	{name: "exp of integers", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		tile.LoadScalar(k, a.I).Exp() // ERR Exp has no i32 form: it takes floats; Cast to f32 first
	}},
	{name: "bits of floats", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.LoadScalar(k, a.S)
		x.Shl(x) // ERR Shl has no f32 form: it takes integers; Cast or Bitcast to an integer first
		x.Not()  // ERR Not has no f32 form: it takes integers and bool; Cast or Bitcast to an integer first
	}},
	{name: "arithmetic on bools", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		x := tile.LoadScalar(k, a.S)
		c := x.Gt(x)
		c.Add(c)                                                 // ERR Add has no bool form: it takes floats and integers; Select makes numbers of a bool
		tile.Load(k, a.S, k.Block().Striped(128, 1)).Lt(x).Sum() // ERR Sum has no bool form: it takes floats and integers; Select makes numbers of a bool
	}},
	{name: "cast to bool", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		tile.Cast[tile.Bool](tile.LoadScalar(k, a.I)) // ERR Cast from i32 to bool; compare with Ne
	}},
	{name: "bitcast of another size", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		tile.Bitcast[tile.I64](tile.LoadScalar(k, a.S)) // ERR Bitcast from f32 (4 bytes) to i64 (8 bytes): sizes must agree; use Cast
	}},
	{name: "atomics on 16 bits", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		tile.AtomicAdd(k, a.H, tile.LoadScalar(k, a.H)) // ERR AtomicAdd has no bf16 form: it takes f32 and integers; Cast first
	}},
	{name: "offset of another type", rule: tile.ErrDType, f: func(k *tile.Builder, a wrongArgs) {
		a.S.At(2.5)                           // ERR an offset of At is a float64: give an int or a tile.Index
		k.Block().Striped(128, 4).Clip("all") // ERR an extent of Clip is a string: give an int or a tile.Index
	}},
}
