//go:build !gotilegen

package tiletest_test

import (
	"context"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/examples/softmax"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// run runs a case on the simulator. Tests of a package call RunCases instead, with the table of all cases.
func run(c tiletest.Case) {
	d, err := device.Open("sim")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	r := c.Exec(context.Background(), d, 1)
	fmt.Println(r.Case, r.Kernels, r.Err)
}

// A case launches what it tests on tensors of its Run and compares what came out with a reference.
func ExampleCase() {
	run(tiletest.Case{Name: "f32/2x4", Run: func(r *tiletest.Run) error {
		x := r.In(dtype.F32, []float64{0, 0, 0, 0, 1, 2, 3, 4}, 2, 4)
		y := r.Out(dtype.F32, 2, 4) // poisoned, between guard bands
		if err := softmax.Forward(r.Stream, x, y); err != nil {
			return err
		}
		r.Compare("y", r.Floats(y), []float64{0.25, 0.25, 0.25, 0.25, 0.0321, 0.0871, 0.2369, 0.6439}, 1e-4)
		return nil
	}})
	// Output: f32/2x4 [softmax_f32_c4096] <nil>
}

// An output that nobody wrote holds poison, and the case fails by itself, whatever it compares.
func ExampleRun_Out() {
	run(tiletest.Case{Name: "forgotten", Run: func(r *tiletest.Run) error {
		r.Out(dtype.F32, 2, 4)
		return nil
	}})
	// Output: forgotten [] output 1 of the case, of shape [2 4] f32: 8 of 8 elements not written, the first at [0]
}

// A tensor whose rows are padded and whose first element is not aligned: Place takes strides and an offset.
func ExampleSpec() {
	run(tiletest.Case{Name: "padded", Run: func(r *tiletest.Run) error {
		x := r.In(dtype.F32, []float64{0, 0, 1, 1}, 2, 2)
		y := r.Place(tiletest.Spec{Name: "y", Role: tiletest.Output, DType: dtype.F32, Shape: []int{2, 2}, Strides: []int{5, 1}, Offset: 1})
		if err := softmax.Forward(r.Stream, x, y); err != nil {
			return err
		}
		r.Compare("y", r.Floats(y), []float64{0.5, 0.5, 0.5, 0.5}, 0)
		return nil
	}})
	// Output: padded [softmax_f32_c4096] <nil>
}

// The error is relative to the largest number of the reference, so small results beside large ones may be off by as
// much as those.
func ExampleCompare() {
	d := tiletest.Compare([]float64{1000, 0.5}, []float64{1000, 0.25})
	fmt.Println(d.Within(1e-3), d.Within(1e-4))
	fmt.Println(d)
	fmt.Println(cmp.Equal([]float64{1000, 0.5}, []float64{1000, 0.25}, tiletest.ScaleRelative(1e-3)))
	// Output:
	// true false
	// scale-relative error 0.00025, RMSE ratio 0.00025; worst at [1]: got 0.5, want 0.25
	// true
}

// Data depends on seed and index alone, so that a device, a test and another program make the same.
func ExampleUniform() {
	fmt.Println(tiletest.Uniform(dtype.BF16, 1, 4))
	fmt.Println(tiletest.UniformAt(dtype.BF16, 1, 3))
	fmt.Println(tiletest.Ints(-8, 8, 1, 6))
	// Output:
	// [0.1328125 0.484375 0.9375 -0.1171875]
	// -0.1171875
	// [1 4 8 -1 -1 4]
}

// Bits is the generator behind the data: splitmix64, whose numbers need none before them.
func ExampleBits() {
	fmt.Printf("%#x %#x\n", tiletest.Bits(0, 0), tiletest.Bits(0, 1))
	fmt.Println(tiletest.IntAt(1, 6, 0, 0), tiletest.IntAt(1, 6, 0, 1)) // a die
	// Output:
	// 0xe220a8397b1dcdaf 0x6e789e6aa1b965f4
	// 6 3
}
