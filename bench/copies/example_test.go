//go:build !gotilegen

package copies_test

import (
	"fmt"

	"github.com/gotile/gotile/bench/copies"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// A copy that reads as many tensors as an operation reads, and writes as many as it writes, is what it is compared with.
func ExampleCopy() {
	d, _ := device.Open("sim")
	defer d.Close()
	s := d.Stream()
	x, _ := device.NewTensor(d, dtype.I32, 2, 2)
	y, _ := device.NewTensor(d, dtype.I32, 2, 2)
	device.UploadFloats(s, x, []float64{1, 2, 3, 4})
	if err := copies.Copy(s, []device.Tensor{x}, []device.Tensor{y}); err != nil {
		fmt.Println(err)
		return
	}
	out, _ := device.DownloadFloats(s, y)
	fmt.Println(copies.Name(1, 1), out, copies.Name(2, 1), copies.Name(3, 2))
	// Output: copy [1 2 3 4] copy2 copy32
}
