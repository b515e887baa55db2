//go:build !gotilegen

package gemm_test

import (
	"context"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/gemm"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// y = x W' + bias, as a layer computes it, and the same added once more to y.
func ExampleMultiply() {
	d := must(device.Default())
	defer d.Close()
	s := d.Stream()
	tensor := func(values []float64, shape ...int) device.Tensor {
		t := must(device.NewTensor(d, dtype.BF16, shape...))
		check(device.UploadFloats(s, t, values))
		return t
	}
	x := tensor([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	w := tensor([]float64{1, 0, 0, 0, 1, 1}, 2, 3)
	y := must(device.NewTensor(d, dtype.BF16, 2, 2))
	in := gemm.Inputs{A: x, B: w, Bias: tensor([]float64{0.5, -0.5}, 2)}
	check(gemm.Multiply(s, gemm.NT, in, y))
	fmt.Println(must(device.DownloadFloats(s, y)))
	in.C = y
	check(gemm.MultiplyBy(s, gemm.NT, in, y, gemm.Choice{Sync: true})) // by mma.sync, wherever it runs
	check(s.Sync(context.Background()))
	fmt.Println(must(device.DownloadFloats(s, y)))
	// Output:
	// [1.5 4.5 4.5 10.5]
	// [3 9 9 21]
}

// A product with few tiles and a long k is computed in parts, with scratch memory.
func ExampleScratchSize() {
	d := must(device.Default())
	defer d.Close()
	a, b := must(device.NewTensor(d, dtype.BF16, 1024, 8)), must(device.NewTensor(d, dtype.BF16, 1024, 8))
	y := must(device.NewTensor(d, dtype.BF16, 8, 8))
	in := gemm.Inputs{A: a, B: b}
	n := must(gemm.ScratchSize(d.Stream(), gemm.TN, in, y))
	fmt.Println(n > 0, n%y.Elems())
	// Output: true 0
}

// A choice is for benchmarks; the sizes have names.
func ExampleSizes() {
	fmt.Println(gemm.Sizes())
	// Output: [wgmma128x256 wgmma128x192 wgmma128x128 tma128 async128 async64]
}

// A product on a tape, and its gradients by the same kernels.
func ExampleOp() {
	d := must(device.Default())
	defer d.Close()
	s := d.Stream()
	param := func(name string, values []float64, shape ...int) *autodiff.Param {
		t := must(device.NewTensor(d, dtype.BF16, shape...))
		check(device.UploadFloats(s, t, values))
		return autodiff.NewParam(name, t)
	}
	x, w := param("x", []float64{1, 2, 3, 4}, 2, 2), param("w", []float64{1, 0, 0, 2, 1, 1}, 3, 2)
	t := must(autodiff.NewTape(s, autodiff.Strict()))
	y := gemm.Op.Apply(t, gemm.Params{Form: gemm.NT}, gemm.In{A: t.Param(x), B: t.Param(w)}).D
	fmt.Println(must(y.Floats()))
	check(t.Backward(optim.SquaredError(t, y, t.Input("target", param("target", make([]float64, 6), 2, 3).Data()))))
	must(t.Close())
	// Output: [1 4 3 3 8 7]
}

// Products of f32 by tensor cores, in three products of tf32 each.
func ExampleAccuracy() {
	d := must(device.Default())
	defer d.Close()
	s := d.Stream()
	tensor := func(x float64) device.Tensor {
		t := must(device.NewTensor(d, dtype.F32, 1, 1))
		check(device.UploadFloats(s, t, []float64{x}))
		return t
	}
	const x = 1 + 1.0/4096 // which tf32 rounds
	in, y := gemm.Inputs{A: tensor(x), B: tensor(1)}, tensor(0)
	for _, in.Accuracy = range []gemm.Accuracy{gemm.Plain, gemm.TF32, gemm.TF32x3} {
		check(gemm.Multiply(s, gemm.NN, in, y))
		fmt.Println(must(device.DownloadFloats(s, y))[0] == x)
	}
	// Output:
	// true
	// false
	// true
}

// The four forms, and which operand each takes transposed.
func ExampleForm() {
	for _, f := range gemm.Forms {
		fmt.Println(f, f.TransA(), f.TransB())
	}
	// Output:
	// NN false false
	// NT false true
	// TN true false
	// TT true true
}

// The float64 product that the kernels are judged by.
func ExampleReference() {
	r := gemm.Reference{Form: gemm.TN, Batch: 1, M: 2, N: 1, K: 2, A: []float64{1, 2, 3, 4}, B: []float64{1, 10}, Bias: []float64{0.5}}
	fmt.Println(r.Product())
	// Output: [31.5 42.5]
}

// The kernels, by name.
func ExampleKernels() {
	k := must(gemm.Kernels().Build(gemm.Kernels().Names()[0]))
	fmt.Println(k.Name(), len(gemm.Cases()) > 100)
	// Output: gemm_nn_bf16_wgmma_m128n256k64 true
}

func must[T any](x T, err error) T {
	check(err)
	return x
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
