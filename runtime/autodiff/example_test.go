package autodiff_test

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// One step of training: ops on a tape, gradients, the books.
func Example() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	s := d.Stream()
	tensor := func(v []float64, shape ...int) device.Tensor {
		t, err := device.NewTensor(d, dtype.F32, shape...)
		if err == nil {
			err = device.UploadFloats(s, t, v)
		}
		if err != nil {
			panic(err)
		}
		return t
	}
	x, target := tensor([]float64{3, 4, 6, 8}, 2, 2), tensor([]float64{1, 1, 1, 1}, 2, 2)
	w := autodiff.NewParam("w", tensor([]float64{1, 1}, 2))

	t, err := autodiff.NewTape(s, autodiff.Strict())
	if err != nil {
		panic(err)
	}
	y := rmsnorm.Op.Apply(t, rmsnorm.Params{}, rmsnorm.In{X: t.Input("x", x), W: t.Param(w)}).Y
	loss := optim.SquaredError(t, y, t.Input("target", target))
	if err := t.Backward(loss); err != nil {
		panic(err)
	}
	l, _ := loss.Floats()
	g, err := t.Param(w).Grad()
	if err != nil {
		panic(err)
	}
	dw, _ := g.Floats()
	fmt.Printf("loss %.4f, dw %.4f\n", l, dw)
	books, err := t.Close()
	fmt.Println(books, err)
	// Output:
	// loss [0.0201], dw [-0.1285 0.1486]
	// train rmsnorm=1/1 bwd=1 ref=0 squared_error=1/1 bwd=1 <nil>
}

// A fused forward whose result nothing uses is dropped, which strict tapes refuse.
func ExampleStrict() {
	d, _ := device.Open("sim")
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F32, 4, 64)
	w, _ := device.NewTensor(d, dtype.F32, 64)

	t, _ := autodiff.NewTape(d.Stream(), autodiff.Strict())
	rmsnorm.Op.Apply(t, rmsnorm.Params{Eps: 1e-6}, rmsnorm.In{X: t.Input("x", x), W: t.Param(autodiff.NewParam("w", w))})
	books, err := t.Close()
	fmt.Println(books)
	fmt.Println(err)
	// Output:
	// train rmsnorm=1/1 bwd=0 ref=0 dropped=1
	// Close: the backward step of 1 ops never ran; use their results, Detach their inputs, or evaluate on a tape WithPhase(Eval):
	//	example_test.go:65: rmsnorm
}
