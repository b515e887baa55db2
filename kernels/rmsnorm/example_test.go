//go:build !gotilegen

package rmsnorm_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// Forward of two rows, and backward for a gradient of y that is 1 in one place.
func Example() {
	d := must(device.Open("sim")) // device.Default takes the GPU if there is one
	defer d.Close()
	s := d.Stream()
	x := tensor(s, []float64{1, 2, 2, 1, 0, 3, 0, 4}, 2, 4)
	w := tensor(s, []float64{1, 1, 1, 2}, 4)
	y, rstd := empty(d, 2, 4), empty(d, 2)
	check(rmsnorm.Forward(s, rmsnorm.Inputs{X: x, W: w, Eps: 1e-6}, rmsnorm.Outputs{Y: y, Rstd: rstd}))
	fmt.Printf("y    %.3f\n", must(device.DownloadFloats(s, y)))
	fmt.Printf("rstd %.3f\n", must(device.DownloadFloats(s, rstd)))

	in := rmsnorm.Saved{X: x, W: w, Rstd: rstd, DY: tensor(s, []float64{1, 0, 0, 0, 0, 0, 0, 0}, 2, 4)}
	out := rmsnorm.Gradients{DX: empty(d, 2, 4), DW: empty(d, 4)}
	scratch := must(rmsnorm.NewScratch(s, in, out)) // once; it serves every pass that is not larger
	defer scratch.Close()
	check(rmsnorm.Backward(s, in, out, scratch))
	check(s.Sync(context.Background())) // what goes wrong on the device is reported here
	fmt.Printf("dx   %.3f\n", must(device.DownloadFloats(s, out.DX)))
	fmt.Printf("dw   %.3f\n", must(device.DownloadFloats(s, out.DW)))
	// Output:
	// y    [0.632 1.265 1.265 1.265 0.000 1.200 0.000 3.200]
	// rstd [0.632 0.400]
	// dx   [0.569 -0.126 -0.126 -0.063 0.000 0.000 0.000 0.000]
	// dw   [0.632 0.000 0.000 0.000]
}

// With a residual the sum is returned too: it is what the next layer adds to, and what backward needs.
func ExampleForward_residual() {
	d := must(device.Open("sim"))
	defer d.Close()
	s := d.Stream()
	in := rmsnorm.Inputs{X: tensor(s, []float64{1, 2}, 1, 2), R: tensor(s, []float64{2, 2}, 1, 2), W: tensor(s, []float64{1, 1}, 2), Eps: 1e-6}
	out := rmsnorm.Outputs{Y: empty(d, 1, 2), S: empty(d, 1, 2), Rstd: empty(d, 1)}
	check(rmsnorm.Forward(s, in, out))
	fmt.Printf("s %v y %.3f\n", must(device.DownloadFloats(s, out.S)), must(device.DownloadFloats(s, out.Y)))
	// Output: s [3 4] y [0.849 1.131]
}

// With a gate y is multiplied by an activation of it.
func ExampleActivation() {
	d := must(device.Open("sim"))
	defer d.Close()
	s := d.Stream()
	in := rmsnorm.Inputs{X: tensor(s, []float64{1, 1}, 1, 2), Z: tensor(s, []float64{0, 2}, 1, 2), W: tensor(s, []float64{1, 1}, 2), Eps: 1e-6}
	out := rmsnorm.Outputs{Y: empty(d, 1, 2), Rstd: empty(d, 1)}
	for _, in.Act = range []rmsnorm.Activation{rmsnorm.Sigmoid, rmsnorm.Silu} {
		check(rmsnorm.Forward(s, in, out))
		fmt.Printf("%v %.3f\n", in.Act, must(device.DownloadFloats(s, out.Y)))
	}
	// Output:
	// sigmoid [0.500 0.881]
	// silu [0.000 1.762]
}

// Tensors that do not agree are refused before anything is launched.
func ExampleForward_error() {
	d := must(device.Open("sim"))
	defer d.Close()
	in := rmsnorm.Inputs{X: empty(d, 2, 4), W: empty(d, 5), Eps: 1e-6}
	fmt.Println(rmsnorm.Forward(d.Stream(), in, rmsnorm.Outputs{Y: empty(d, 2, 4), Rstd: empty(d, 2)}))
	// Output: rmsnorm.Forward: Inputs.W: n (dimension 0) is 5, but Inputs.X has n = 4
}

// The oracle of the tests, in float64 on the host.
func ExampleReference() {
	r := rmsnorm.Reference{Rows: 1, N: 2, X: []float64{3, 4}, W: []float64{1, 1}}
	dx, dw := r.Backward([]float64{1, 0})
	fmt.Printf("%.4f %.4f %.4f %.4f\n", r.Rstd(), r.Forward(), dx, dw)
	// Output: [0.2828] [0.8485 1.1314] [0.1810 -0.1358] [0.8485 0.0000]
}

// The ops of a tape: plain, with a residual, whose sum goes on to the next layer, and with a gate.
func ExampleParams() {
	d := must(device.Open("sim"))
	defer d.Close()
	s := d.Stream()
	t := must(autodiff.NewTape(s, autodiff.WithPhase(autodiff.Eval)))
	x, w := t.Input("x", tensor(s, []float64{1, 2}, 1, 2)), t.Input("w", tensor(s, []float64{1, 1}, 2))
	r, z := t.Input("r", tensor(s, []float64{2, 2}, 1, 2)), t.Input("z", tensor(s, []float64{0, 2}, 1, 2))
	var plain rmsnorm.Out = rmsnorm.Op.Apply(t, rmsnorm.Params{Eps: 1e-6}, rmsnorm.In{X: x, W: w})
	var add rmsnorm.AddOut = rmsnorm.AddOp.Apply(t, rmsnorm.Params{Eps: 1e-6}, rmsnorm.AddIn{X: x, R: r, W: w})
	gated := rmsnorm.GatedOp.Apply(t, rmsnorm.Params{Eps: 1e-6, Act: rmsnorm.Silu}, rmsnorm.GatedIn{X: add.S, Z: z, W: w})
	fmt.Printf("%.3f\n", must(plain.Y.Floats()))
	fmt.Printf("%.3f %.3f %.3f\n", must(add.S.Floats()), must(add.Y.Floats()), must(gated.Y.Floats()))
	fmt.Println(t.Close())
	// Output:
	// [0.632 1.265]
	// [3.000 4.000] [0.849 1.131] [0.000 1.993]
	// eval rmsnorm=1/1 rmsnorm_add=1/1 rmsnorm_gated=1/1 <nil>
}

// A config's name says what its kernel is made for: x in bf16 and w in f32, rows of up to 512 elements in whole vectors.
func ExampleConfig() {
	c := rmsnorm.Config{Name: "rmsnorm_fwd", X: dtype.BF16, W: dtype.F32, Cap: 512, Whole: true}
	fmt.Println(c.KernelName(), slices.Contains(rmsnorm.Kernels().Names(), c.KernelName()))
	// Output:
	// rmsnorm_fwd_bf16_f32_c512_v true
}

// tensor is an f32 tensor with values.
func tensor(s *device.Stream, values []float64, shape ...int) device.Tensor {
	t := empty(s.Device(), shape...)
	check(device.UploadFloats(s, t, values))
	return t
}

func empty(d *device.Device, shape ...int) device.Tensor {
	return must(device.NewTensor(d, dtype.F32, shape...))
}

// must is a result without its error, which stops an example; a program returns it.
func must[T any](x T, err error) T {
	check(err)
	return x
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
