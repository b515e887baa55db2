package kda_test

import (
	"fmt"

	"github.com/gotile/gotile/kernels/kda"
)

// One head with one key channel: the second token reads what the first wrote, halved by its decay, and corrects it.
func ExampleReference() {
	r := kda.Reference{
		Shape: kda.Shape{Batch: 1, Seq: 2, Heads: 1, ValueHeads: 1, KeyDim: 1, ValueDim: 2},
		Gate:  kda.Gate{Form: kda.LogDecay}, // as kda.Softplus and kda.LowerBound make it of a raw gate
		Beta:  kda.BetaGiven,
		Input: kda.Tensors{
			Q:    []float64{1, 1},
			K:    []float64{1, 1},
			V:    []float64{8, 4, 0, 0},
			G:    []float64{0, -0.6931471805599453}, // the logarithm of a half
			Beta: []float64{1, 0.5},
		},
	}
	o, states, err := r.Forward()
	fmt.Println(o, states, err)
	d, err := r.Backward([]float64{0, 0, 1, 0}, nil)
	fmt.Println(d.V, d.Beta, err)
	// Output:
	// [8 4 2 1] [2 1] <nil>
	// [0.25 0 0.5 0] [2 -4] <nil>
}

// GateForm and BetaForm say what the inputs are before the recurrence: here raw numbers, of which 0 gives a half of the bound
// and a half.
func ExampleGateForm() {
	r := kda.Reference{
		Shape: kda.Shape{Batch: 1, Seq: 1, Heads: 1, ValueHeads: 1, KeyDim: 1, ValueDim: 1},
		Gate:  kda.Gate{Form: kda.LowerBound, Bound: -1.3862943611198906}, // the logarithm of a quarter
		Beta:  kda.BetaSigmoid,
		Input: kda.Tensors{Q: []float64{1}, K: []float64{1}, V: []float64{0}, G: []float64{0}, Beta: []float64{0}, State: []float64{8}},
	}
	var form kda.GateForm = r.Gate.Form
	o, _, err := r.Forward()
	fmt.Println(form, o, err)
	// Output:
	// a lower bound [2] <nil>
}
