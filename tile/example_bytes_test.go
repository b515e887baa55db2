package tile_test

import (
	"fmt"

	"github.com/gotile/gotile/tile"
)

// A matrix is quantised to e4m3, whose largest number is 448: scaled, and converted, which saturates. Four elements of a
// thread lie in one register.
func ExampleE4M3() {
	type args struct {
		X     tile.Global[tile.F32]  `tile:"rows,n"`
		Y     tile.Global[tile.E4M3] `tile:"rows,n"`
		Scale tile.Scalar[tile.F32]
	}
	k, err := tile.Define("quantise", func(k *tile.Builder, a args) {
		block := k.Block()
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			x := tile.Load(block, a.X.Row(row), block.Striped(1024, 8))
			tile.Store(block, a.Y.At(row), tile.Cast[tile.E4M3](x.Mul(a.Scale)))
		}
	}, tile.Threads(128))
	fmt.Println(k.Name(), err)
	// Output: quantise <nil>
}

// Products of 8-bit integers are added up in i32, by instructions that take 32 of k, or 16.
func ExampleMMA_bytes() {
	type args struct {
		A tile.Global[tile.I8]  `tile:"32,48"`
		B tile.Global[tile.I8]  `tile:"64,48"`
		C tile.Global[tile.I32] `tile:"32,64"`
	}
	k, err := tile.Define("products", func(k *tile.Builder, a args) {
		warp := k.Warp()
		sa, sb := tile.NewShared[tile.I8](k, 32, 48), tile.NewShared[tile.I8](k, 64, 48)
		tile.Store(warp, sa, tile.Load(warp, a.A, warp.Striped2(32, 48, 16, 1)))
		tile.Store(warp, sb, tile.Load(warp, a.B, warp.Striped2(64, 48, 16, 1)))
		acc := tile.NewAcc[tile.I32](warp, 32, 64)
		tile.MMA(acc, sa, sb, tile.ABt)
		tile.Store(warp, a.C, acc.Get())
	}, tile.Threads(32))
	fmt.Println(k.Name(), err)
	// Output: products <nil>
}
