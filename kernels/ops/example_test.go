//go:build !gotilegen

package ops_test

import (
	"fmt"
	"math"

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

// Functions are short for the Apply of an op, which takes and gives its ports by name. Here rows become multiples of their
// root mean square, and each column gets a weight.
func ExampleDivCols() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	s := d.Stream()
	x, _ := device.NewTensor(d, dtype.F32, 2, 2)
	w, _ := device.NewTensor(d, dtype.F32, 2)
	_ = device.UploadFloats(s, x, []float64{1, 7, 4, 4})
	_ = device.UploadFloats(s, w, []float64{10, 1})
	t, err := autodiff.NewTape(s, autodiff.WithPhase(autodiff.Eval))
	if err != nil {
		panic(err)
	}
	in := t.Input("x", x)
	squares := ops.PowOp.Apply(t, 2, ops.Unary{X: in}).Y
	means := ops.MeanOp.Apply(t, ops.None{}, ops.MatrixIn{X: squares}).Y // one a row
	rows := ops.DivColsOp.Apply(t, ops.None{}, ops.ColsIn{A: in, D: ops.Sqrt(t, means)}).Y
	y := ops.MulRowsOp.Apply(t, ops.None{}, ops.RowsIn{A: rows, B: t.Input("w", w)}).Y
	same := ops.MulRows(t, ops.DivCols(t, in, ops.Sqrt(t, ops.Mean(t, ops.Pow(t, in, 2)))), t.Input("w", w))
	fmt.Println(y.Floats())
	fmt.Println(same.Floats())
	fmt.Println(t.Close())
	// Output:
	// [2 1.399999976158142 10 1] <nil>
	// [2 1.399999976158142 10 1] <nil>
	// eval div_cols=2/2 mean=2/2 mul_rows=2/2 pow=2/2 sqrt=2/2 <nil>
}

// Silu is x*sigmoid(x).
func ExampleSigmoid() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F32, 3)
	_ = device.UploadFloats(d.Stream(), x, []float64{-1, 0.5, 2})
	t, err := autodiff.NewTape(d.Stream(), autodiff.WithPhase(autodiff.Eval))
	if err != nil {
		panic(err)
	}
	in := t.Input("x", x)
	back, _ := ops.Div(t, ops.Silu(t, in), ops.Sigmoid(t, in)).Floats()
	fmt.Printf("%.3f\n", back)
	fmt.Println(t.Close())
	// Output:
	// [-1.000 0.500 2.000]
	// eval div=1/1 sigmoid=1/1 silu=1/1 <nil>
}

// Softplus is log(1 + e^x), and its slope 1 - e^-softplus(x) is the sigmoid; tanh(x) is 2 sigmoid(2x) - 1.
func ExampleSoftplus() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F32, 3)
	_ = device.UploadFloats(d.Stream(), x, []float64{-1, 0.5, 2})
	t, err := autodiff.NewTape(d.Stream(), autodiff.WithPhase(autodiff.Eval))
	if err != nil {
		panic(err)
	}
	in := t.Input("x", x)
	show := func(x autodiff.Tensor) {
		v, _ := x.Floats()
		fmt.Printf("%.3f\n", v)
	}
	show(ops.Softplus(t, in))
	show(ops.Log(t, ops.AddScalar(t, ops.Exp(t, in), 1)))
	show(ops.Sub(t, in, ops.Neg(t, in)))
	show(ops.Tanh(t, in))
	fmt.Println(t.Close())
	// Output:
	// [0.313 0.974 2.127]
	// [0.313 0.974 2.127]
	// [-2.000 1.000 4.000]
	// [-0.762 0.462 0.964]
	// eval add_scalar=1/1 exp=1/1 log=1/1 neg=1/1 softplus=1/1 sub=1/1 tanh=1/1 <nil>
}

// LogSoftmax and Softmax of logits, of which the last one is masked.
func ExampleLogSoftmax() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F32, 1, 3)
	_ = device.UploadFloats(d.Stream(), x, []float64{1, 1, math.Inf(-1)})
	t, err := autodiff.NewTape(d.Stream(), autodiff.WithPhase(autodiff.Eval))
	if err != nil {
		panic(err)
	}
	in := t.Input("x", x)
	logs, _ := ops.LogSoftmax(t, in).Floats()
	parts, _ := ops.Softmax(t, in).Floats()
	fmt.Printf("%.3f %.3f\n", logs, parts)
	fmt.Println(t.Close())
	// Output:
	// [-0.693 -0.693 -Inf] [0.500 0.500 0.000]
	// eval log_softmax=1/1 softmax=1/1 <nil>
}
