//go:build !gotilegen

package softmax_test

import (
	"context"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/examples/softmax"
	"github.com/gotile/gotile/runtime/device"
)

// Two rows of four numbers, on the GPU if there is one.
func ExampleForward() {
	d := must(device.Default())
	defer d.Close()
	s := d.Stream()

	x := must(device.NewTensor(d, dtype.F32, 2, 4))
	y := must(device.NewTensor(d, dtype.F32, 2, 4))
	check(device.UploadFloats(s, x, []float64{0, 0, 0, 0, 1, 2, 3, 4}))
	check(softmax.Forward(s, x, y))
	check(s.Sync(context.Background())) // what goes wrong on the device is reported here
	fmt.Printf("%.4f\n", must(device.DownloadFloats(s, y)))
	// Output: [0.2500 0.2500 0.2500 0.2500 0.0321 0.0871 0.2369 0.6439]
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
