package tile_test

import "github.com/gotile/gotile/tile"

type tf32Args struct {
	A tile.Global[tile.F32] `tile:"16,16"`
	B tile.Global[tile.F32] `tile:"16,16"`
	C tile.Global[tile.F32] `tile:"2,16,16"`
}

// Products of f32 name how exact they are. Operands in shared memory are loaded as fragments.
func ExampleAccuracy() {
	show(tile.Define("products", func(k *tile.Builder, a tf32Args) {
		warp := k.Warp()
		b := tile.NewShared[tile.F32](k, 16, 16)
		tile.Store(warp, b, tile.Load(warp, a.B, warp.Striped2(16, 16, 4, 4)))
		x := tile.Load(warp, a.A, warp.Fragment(16, 16))
		for i, accuracy := range []tile.Accuracy{tile.TF32, tile.TF32x3} {
			acc := tile.NewAcc[tile.F32](warp, 16, 16)
			tile.MMA(acc, x, b, tile.ABt, accuracy)
			tile.Store(warp, a.C.At(i), acc.Get())
		}
	}, tile.Threads(32)))
	// Output:
	// kernel products(a f32[16,16] r, b f32[16,16] r, c f32[2,16,16] w) threads 32
	//   shared s0 f32[16 16]
	//   #0 = warp [16,16] thread (4:4@1,8:1@0) value (4:1@1,2:8@0)
	//   #1 = warp [16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)
	//   %0 = load b[0, 0] : f32 #0
	//   store %0 s0[0, 0] : #0
	//   %2 = load a[0, 0] : f32 #1
	//   %3 = broadcast 0.0 : f32 #1
	//   %4 = var %3 : f32 #1
	//   %5 = load s0[0, 0] : f32 #1
	//   mma %4 += %2 %5 ABt m16n16k16 f32 1xtf32 warp
	//   %7 = get %4 : f32 #1
	//   store %7 c[0, 0, 0] : #1
	//   %9 = broadcast 0.0 : f32 #1
	//   %10 = var %9 : f32 #1
	//   %11 = load s0[0, 0] : f32 #1
	//   mma %10 += %2 %11 ABt m16n16k16 f32 3xtf32 warp
	//   %13 = get %10 : f32 #1
	//   store %13 c[1, 0, 0] : #1
}
