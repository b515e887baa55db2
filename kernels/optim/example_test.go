//go:build !gotilegen

package optim_test

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// A parameter learns its target.
func Example() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	s := d.Stream()
	w, _ := device.NewTensor(d, dtype.F32, 2)
	target, _ := device.NewTensor(d, dtype.F32, 2)
	_ = device.UploadFloats(s, w, []float64{0, 0})
	_ = device.UploadFloats(s, target, []float64{1, -1})

	p := autodiff.NewParam("w", w)
	opt, err := optim.NewAdamW(s, optim.Config{}, p)
	if err != nil {
		panic(err)
	}
	defer opt.Close()
	for range 150 {
		if err := opt.Next(0.03); err != nil {
			panic(err)
		}
		t, err := autodiff.NewTape(s, autodiff.Strict())
		if err != nil {
			panic(err)
		}
		if err := t.Backward(optim.SquaredError(t, t.Param(p), t.Input("target", target))); err != nil {
			panic(err)
		}
		if err := opt.Step(t); err != nil {
			panic(err)
		}
		if _, err := t.Close(); err != nil {
			panic(err)
		}
	}
	v, _ := device.DownloadFloats(s, w)
	fmt.Printf("%.1f\n", v)
	// Output: [1.0 -1.0]
}

// A loss is an op like others: its ports have names, and the target takes no gradient.
func ExampleSquaredError() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	s := d.Stream()
	x, _ := device.NewTensor(d, dtype.F32, 2)
	target, _ := device.NewTensor(d, dtype.F32, 2)
	_ = device.UploadFloats(s, x, []float64{1, 4})
	_ = device.UploadFloats(s, target, []float64{1, 2})
	t, err := autodiff.NewTape(s)
	if err != nil {
		panic(err)
	}
	in := t.TrackedInput("x", x)
	loss := optim.SquaredErrorOp.Apply(t, struct{}{}, optim.LossIn{X: in, Target: t.Input("target", target)}).L
	if err := t.Backward(loss); err != nil {
		panic(err)
	}
	g, err := in.Grad()
	if err != nil {
		panic(err)
	}
	l, _ := loss.Floats()
	slope, _ := g.Floats()
	fmt.Println(l, slope)
	fmt.Println(t.Close())
	// Output:
	// [2] [0 2]
	// train squared_error=1/1 bwd=1 <nil>
}
