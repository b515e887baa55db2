package gate_test

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/gate"
)

// The gates of one op, for one set of inputs, with its float64 reference. Gradients of the reference are found by
// differences where none are given.
func ExampleCheck() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	report, err := gate.Check(d.Stream(), ops.MulOp, gate.Case[ops.None]{
		Name: "f32/2x3",
		In:   []gate.Input{{Type: dtype.F32, Shape: []int{2, 3}}, {Type: dtype.F32, Shape: []int{2, 3}}},
		Reference: func(_ ops.None, in [][]float64) [][]float64 {
			y := make([]float64, len(in[0]))
			for i := range y {
				y[i] = in[0][i] * in[1][i]
			}
			return [][]float64{y}
		},
	})
	if err != nil {
		panic(err)
	}
	for _, v := range report.Verdicts[:4] {
		fmt.Println(v.Gate, v.Port, v.Result)
	}
	fmt.Println(report.Err())
	// Output:
	// path  pass
	// launches  pass
	// launches  pass
	// forward Y pass
	// <nil>
}

// An op with a mistake: its gates fail, and say where. This one forgets a factor in a gradient.
func ExampleReport() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	wrong := autodiff.New("twice", autodiff.Spec[struct{}, ops.Unary, ops.Out, struct{}]{
		Forward: func(x *autodiff.Exec, _ struct{}, in ops.Unary) (ops.Out, struct{}, error) {
			out := ops.Out{Y: x.Like(in.X)}
			v, err := device.DownloadFloats(x.Stream(), x.View(in.X))
			for i := range v {
				v[i] *= 2
			}
			return out, struct{}{}, errors.Join(err, device.UploadFloats(x.Stream(), x.View(out.Y), v))
		},
		Backward: func(_ *autodiff.Exec, _ struct{}, _ ops.Unary, _ struct{}, dy ops.Out) (ops.Unary, error) {
			return ops.Unary{X: dy.Y}, nil // not times 2
		},
	})
	report, err := gate.Check(d.Stream(), wrong, gate.Case[struct{}]{
		Name: "f32/4", In: []gate.Input{{Type: dtype.F32, Shape: []int{4}}},
		Reference: func(_ struct{}, in [][]float64) [][]float64 {
			y := make([]float64, len(in[0]))
			for i, x := range in[0] {
				y[i] = 2 * x
			}
			return [][]float64{y}
		},
	})
	if err != nil {
		panic(err)
	}
	for _, v := range report.Verdicts {
		if v.Result == gate.Fail {
			fmt.Println(v.Gate, v.Port)
		}
	}
	// Output:
	// gradient dX
	// difference dX
}

// A model's test: the gradient of each of its parameters has been looked at.
func ExampleCovers() {
	d, err := device.Open("sim")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F32, 2)
	w := autodiff.NewParam("w", x)
	t, err := autodiff.NewTape(d.Stream())
	if err != nil {
		panic(err)
	}
	defer t.Close()
	ops.Mul(t, t.Input("x", x), t.Param(w)) // the model
	err = gate.Covers(t, []*autodiff.Param{w})
	fmt.Println(errors.Is(err, gate.ErrUngated))
	fmt.Println(err)
	// Output:
	// true
	// gate: parameter w: it goes into B of mul, whose gradient no report has compared without a failure; give Check a case of the op: no gate
}
