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
