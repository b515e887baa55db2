package tile_test

import (
	"fmt"

	"github.com/gotile/gotile/tile"
)

type fragmentArgs struct {
	X   tile.Global[tile.BF16] `tile:"rows,n"`
	Sum tile.Global[tile.F32]  `tile:"16,n"`
}

// Tiles of 16 bits in the registers of a tensor core's operands, added up in f32. The transpose of a span has its
// elements in the same registers of the same threads.
func ExampleNewAcc() {
	show(tile.Define("sum", func(k *tile.Builder, a fragmentArgs) {
		warp := k.Warp()
		span := warp.Fragment(16, 32)
		acc := tile.NewAcc[tile.F32](warp, 16, 32)
		for row := range tile.Range(warp, 0, a.X.Dim(0), 16) {
			x := tile.Load(warp, a.X.At(row), span).Fill(tile.Const[tile.BF16](0))
			acc.Set(acc.Get().Add(tile.Cast[tile.F32](x)))
		}
		tile.Store(warp, a.Sum, acc.Get())
		fmt.Println(span.Shape(), span.Transpose().Shape())
	}, tile.Threads(32)))
	// Output:
	// [16 32] [32 16]
	// kernel sum(x bf16[rows,n] r, sum f32[16,n] w) threads 32
	//   n <= 32
	//   #0 = warp [16,32] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,4:8@1)
	//   %0 = broadcast 0.0 : f32 #0
	//   %1 = var %0 : f32 #0
	//   range 0, rows, 16 warp { %3
	//     %4 = sub rows, %3 : i32 warp
	//     %5 = load x[%3, 0] : bf16 #0{%4, n}
	//     %6 = fill %5, 0.0 axes [0 1] : bf16 #0
	//     %7 = get %1 : f32 #0
	//     %8 = cast %6 : f32 #0
	//     %9 = add %7, %8 : f32 #0
	//     set %1, %9 warp
	//   }
	//   %11 = get %1 : f32 #0
	//   store %11 sum[0, 0] : #0{_, n}
}
