package cuda_test

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/tile"
)

type scaleArgs struct {
	X, Y   tile.Global[tile.F32] `tile:"n"`
	Factor tile.Scalar[tile.F32]
}

// A kernel is lowered for a target, and what it is lowered to is printed: above the kernel the argument struct and the
// helpers that it uses.
func ExamplePrint() {
	k, err := tile.Define("scale", func(k *tile.Builder, a scaleArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(128, 1))
		tile.Store(k, a.Y, x.Mul(a.Factor))
	}, tile.Threads(128))
	if err != nil {
		fmt.Println(err)
		return
	}
	ir, err := k.Lower("sm_90a")
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := cuda.Print(ir, cuda.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text[strings.Index(text, `extern "C"`):])
	// Output:
	// extern "C" __global__ void __launch_bounds__(128) scale(const __grid_constant__ scale_args a) {
	//   int col0 = (int)threadIdx.x;
	//
	//   // load x
	//   float x = load_f32_if(a.x + (i64)col0, col0 < a.n);
	//   float y = x * a.factor;
	//
	//   // store y
	//   store_f32_if(a.y + (i64)col0, y, col0 < a.n);
	// }
}

// The same text with the lines of Go that it comes from is for compilers and profilers; without them it is the clean one.
func ExampleWithoutLines() {
	k, err := tile.Define("scale", func(k *tile.Builder, a scaleArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(128, 1))
		tile.Store(k, a.Y, x.Mul(a.Factor))
	}, tile.Threads(128))
	if err != nil {
		fmt.Println(err)
		return
	}
	ir, err := k.Lower("sm_90a")
	if err != nil {
		fmt.Println(err)
		return
	}
	clean, _ := cuda.Print(ir, cuda.Options{})
	lined, err := cuda.Print(ir, cuda.Options{Lines: true})
	fmt.Print(lined[strings.Index(lined, "  // load x"):], err, cuda.WithoutLines(lined) == clean)
	// Output:
	// // load x
	// #line 54 "example_test.go"
	//   float x = load_f32_if(a.x + (i64)col0, col0 < a.n);
	//   float y = x * a.factor;
	//
	// #line 55 "example_test.go"
	//   // store y
	// #line 55 "example_test.go"
	//   store_f32_if(a.y + (i64)col0, y, col0 < a.n);
	// #line 55 "example_test.go"
	// }
	// <nil> true
}
