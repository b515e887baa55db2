//go:build !gotilegen

package data_test

import (
	"fmt"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/data"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// The device makes the numbers that the host would.
func ExampleUniform() {
	d, _ := device.Open("sim")
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F16, 4)
	if err := data.Uniform(d.Stream(), x, 7); err != nil {
		fmt.Println(err)
		return
	}
	out, _ := device.DownloadFloats(d.Stream(), x)
	fmt.Println(out)
	fmt.Println(tiletest.Uniform(dtype.F16, 7, 4))
	// Output:
	// [-0.220703125 -0.966796875 0.80078125 0.1650390625]
	// [-0.220703125 -0.966796875 0.80078125 0.1650390625]
}

// In the Setup of a benchmark: input 0 of group 3, whose numbers the host and other libraries make from the same seed.
func ExampleInput() {
	d, _ := device.Open("sim")
	defer d.Close()
	s := &bench.Setup{Stream: d.Stream(), Groups: 4}
	x, err := data.Input(s, dtype.F16, 0, 3, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, _ := device.DownloadFloats(s.Stream, x)
	fmt.Println(out)
	fmt.Println(tiletest.Uniform(dtype.F16, bench.Seed(0, 3), 2))
	// Output:
	// [-0.7734375 0.400390625]
	// [-0.7734375 0.400390625]
}
