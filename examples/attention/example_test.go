//go:build !gotilegen

package attention_test

import (
	"context"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/examples/attention"
	"github.com/gotile/gotile/runtime/device"
)

// One query and two equal keys: the result is the mean of the two values, on the GPU if there is one.
func ExampleForward() {
	d := must(device.Default())
	defer d.Close()
	s := d.Stream()

	ones, values := make([]float64, 2*64), make([]float64, 2*64)
	for i := range ones {
		ones[i], values[i] = 1, float64(1+2*(i/64)) // rows of 1 and of 3
	}
	q, o := must(device.NewTensor(d, dtype.BF16, 1, 64)), must(device.NewTensor(d, dtype.BF16, 1, 64))
	k, v := must(device.NewTensor(d, dtype.BF16, 2, 64)), must(device.NewTensor(d, dtype.BF16, 2, 64))
	check(device.UploadFloats(s, q, ones[:64]))
	check(device.UploadFloats(s, k, ones))
	check(device.UploadFloats(s, v, values))
	check(attention.Forward(s, q, k, v, o))
	check(s.Sync(context.Background()))
	fmt.Println(must(device.DownloadFloats(s, o))[:4])
	// Output: [2 2 2 2]
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
