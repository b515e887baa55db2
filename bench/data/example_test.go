//go:build !gotilegen

package data_test

import (
	"fmt"

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
