package tile_test

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

type tf32GroupArgs struct {
	A tile.Global[tile.F32] `tile:"64,32"`
	B tile.Global[tile.F32] `tile:"8,32"`
	C tile.Global[tile.F32] `tile:"64,8"`
}

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

// By a warpgroup operands are rounded in registers: A comes there as wgmma has it, B through a copy in shared memory. What
// is laid out for wgmma and rounded already is multiplied as it lies.
func ExampleAccuracy_warpgroup() {
	show(tile.Define("products", func(k *tile.Builder, a tf32GroupArgs) {
		b := tile.NewShared[tile.F32](k, 8, 32).Swizzle(layout.Swizzle128)
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			tile.Store(c, b, tile.Load(c, a.B, c.Striped2(8, 32, 4, 8)).RoundTF32())
			x, acc := tile.Load(c, a.A, c.Fragment(64, 32)), tile.NewAcc[tile.F32](c, 64, 8)
			tile.MMA(acc, x, b, tile.ABt, tile.TF32)
			tile.MMA(acc, x.RoundTF32(), b, tile.ABt, tile.TF32Cut)
			tile.Store(c, a.C, acc.Get())
		}))
	}, tile.Threads(128)))
	// Output:
	// kernel products(a f32[64,32] r, b f32[8,32] r, c f32[64,8] w) threads 128
	//   shared s0 f32[8 32] swizzle 128
	//   shared staged f32[8 32] swizzle 128
	//   #0 = group [8,32] thread (8:4@1,16:1@0) value (4:1@1)
	//   #1 = group [64,32] thread (4:2@1,8:1@0,4:16@0) value (2:1@1,2:8@0,4:8@1)
	//   #2 = group [64,8] thread (4:2@1,8:1@0,4:16@0) value (2:1@1,2:8@0)
	//   #3 = group [64,32] thread (4:1@1,8:1@0,4:16@0) value (2:8@0,2:4@1,4:8@1)
	//   roles consumers warps 4 of 1 at group from 0 {
	//     %1 = load b[0, 0] : f32 #0
	//     %2 = round_tf32 %1 : f32 #0
	//     store %2 s0[0, 0] : #0
	//     %4 = load a[0, 0] : f32 #1
	//     %5 = broadcast 0.0 : f32 #2
	//     %6 = var %5 : f32 #2
	//     %7 = redistribute %4 : f32 #3
	//     %8 = round_tf32 %7 : f32 #3
	//     %9 = load s0[0, 0] : f32 #0
	//     %10 = round_tf32 %9 : f32 #0
	//     store %10 staged[0, 0] : #0
	//     mma %6 += %8 staged[0, 0] ABt m64n8k32 f32 tf32
	//     %13 = round_tf32 %4 : f32 #1
	//     %14 = redistribute %13 : f32 #3
	//     mma %6 += %14 s0[0, 0] ABt m64n8k32 f32 tf32
	//     %16 = get %6 : f32 #2
	//     store %16 c[0, 0] : #2
	//   }
}
