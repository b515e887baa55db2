package gate_test

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
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
