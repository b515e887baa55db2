//go:build !gotilegen

package ops_test

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// The gradient of the mean of x^2, row by row, is 2x/n.
func Example() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	s := d.Stream()
	x, _ := device.NewTensor(d, dtype.F32, 1, 4)
	one, _ := device.NewTensor(d, dtype.F32, 1)
	_ = device.UploadFloats(s, x, []float64{1, 2, 3, 4})
	_ = device.UploadFloats(s, one, []float64{1})

	t, err := autodiff.NewTape(s, autodiff.Strict())
	if err != nil {
		panic(err)
	}
	in := t.TrackedInput("x", x)
	y := ops.Mean(t, ops.Pow(t, in, 2))
	if err := t.BackwardFrom(autodiff.Seed{Of: y, Grad: one}); err != nil {
		panic(err)
	}
	g, err := in.Grad()
	if err != nil {
		panic(err)
	}
	mean, _ := y.Floats()
	slope, _ := g.Floats()
	fmt.Println(mean, slope)
	fmt.Println(t.Close())
	// Output:
	// [7.5] [0.5 1 1.5 2]
	// train mean=1/1 bwd=1 pow=1/1 bwd=1 <nil>
}
