//go:build !gotilegen

package swiglu_test

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/examples/swiglu"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// Twenty steps of AdamW make silu(a)*b the target, by the fused kernels and by Ref.
func Example() {
	d := must(device.Default())
	defer d.Close()
	s := d.Stream()
	tensor := func(v ...float64) device.Tensor {
		t := must(device.NewTensor(d, dtype.BF16, 1, len(v)))
		check(device.UploadFloats(s, t, v))
		return t
	}
	for _, off := range [][]string{nil, {"swiglu"}} {
		a, b := autodiff.NewParam("a", tensor(1, 2, 3)), autodiff.NewParam("b", tensor(1, 1, 1))
		target := tensor(1, 0.5, -1)
		opt := must(optim.NewAdamW(s, optim.Config{}, a, b))
		var books autodiff.Ledger
		for range 20 {
			t := must(autodiff.NewTape(s, autodiff.Strict(), autodiff.Off(off...)))
			y := swiglu.Apply(t, t.Param(a), t.Param(b))
			check(t.Backward(optim.SquaredError(t, y, t.Input("target", target))))
			check(opt.Next(0.1))
			check(opt.Step(t))
			books.Add(must(t.Close()), 1)
		}
		fmt.Printf("b is %.1f\n%s\n", must(device.DownloadFloats(s, b.Data())), &books)
		check(opt.Close())
	}
	// Output:
	// b is [1.1 0.2 -0.5]
	// train squared_error=20/20 bwd=20 swiglu=20/20 bwd=20 ref=0
	// b is [1.1 0.2 -0.5]
	// train mul=20/20 bwd=20 silu=20/20 bwd=20 squared_error=20/20 bwd=20 swiglu=0/20 bwd=0 ref=20 declined(killed)=20
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
