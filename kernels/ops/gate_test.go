//go:build !gotilegen

package ops

import (
	"math"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/fixture"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/gate"
)

// check runs one case of an op through its gates.
func check[P, In, Out, S any](t *testing.T, s *device.Stream, op *autodiff.Op[P, In, Out, S], c gate.Case[P]) {
	t.Helper()
	c.Runs = 2
	r, err := gate.Check(s, op, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", r)
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

// above is uniform data in [1/2, 3/2), where powers, roots and quotients are tame.
func above(dt dtype.Type, seed uint64, n int) []float64 {
	v := fixture.Uniform(dt, seed, n)
	for i := range v {
		v[i] = 1 + v[i]/2
	}
	return v
}

func each2(f func(a, b float64) float64) func(None, [][]float64) [][]float64 {
	return func(_ None, in [][]float64) [][]float64 {
		y := make([]float64, len(in[0]))
		for i := range y {
			y[i] = f(in[0][i], in[1][i])
		}
		return [][]float64{y}
	}
}

func each1[P any](f func(x float64, p P) float64) func(P, [][]float64) [][]float64 {
	return func(p P, in [][]float64) [][]float64 {
		y := make([]float64, len(in[0]))
		for i := range y {
			y[i] = f(in[0][i], p)
		}
		return [][]float64{y}
	}
}

func TestGates(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := d.Stream()
	for _, dt := range floats {
		t.Run(dt.String(), func(t *testing.T) {
			const rows, n = 3, 13
			full := gate.Input{Type: dt, Shape: []int{rows, n}}
			tame := gate.Input{Type: dt, Shape: []int{rows, n}, Data: above(dt, 9, rows*n)}
			check(t, s, AddOp, gate.Case[None]{Name: "add", In: []gate.Input{full, full}, Reference: each2(func(a, b float64) float64 { return a + b })})
			check(t, s, MulOp, gate.Case[None]{Name: "mul", In: []gate.Input{full, full}, Reference: each2(func(a, b float64) float64 { return a * b })})
			check(t, s, DivOp, gate.Case[None]{Name: "div", In: []gate.Input{full, tame}, Reference: each2(func(a, b float64) float64 { return a / b })})
			for _, p := range []float32{2, 0.5, -1, 3} {
				in := tame
				if p == 2 {
					in = full
				}
				check(t, s, PowOp, gate.Case[float32]{Name: "pow", Params: p, In: []gate.Input{in}, Reference: each1(func(x float64, p float32) float64 { return math.Pow(x, float64(p)) })})
			}
			check(t, s, SqrtOp, gate.Case[None]{Name: "sqrt", In: []gate.Input{tame}, Reference: each1(func(x float64, _ None) float64 { return math.Sqrt(x) })})
			check(t, s, AddScalarOp, gate.Case[float32]{Name: "add_scalar", Params: 0.25, In: []gate.Input{full}, Reference: each1(func(x float64, c float32) float64 { return x + float64(c) })})
			check(t, s, SigmoidOp, gate.Case[None]{Name: "sigmoid", In: []gate.Input{full}, Reference: each1(func(x float64, _ None) float64 { return 1 / (1 + math.Exp(-x)) })})
			check(t, s, SiluOp, gate.Case[None]{Name: "silu", In: []gate.Input{full}, Reference: each1(func(x float64, _ None) float64 { return x / (1 + math.Exp(-x)) })})
			check(t, s, MeanOp, gate.Case[None]{Name: "mean", In: []gate.Input{full}, Reference: func(_ None, in [][]float64) [][]float64 {
				y := make([]float64, rows)
				for i, x := range in[0] {
					y[i/n] += x / n
				}
				return [][]float64{y}
			}})
			check(t, s, DivColsOp, gate.Case[None]{Name: "div_cols", In: []gate.Input{full, {Type: dtype.F32, Shape: []int{rows}, Data: above(dtype.F32, 5, rows)}},
				Reference: func(_ None, in [][]float64) [][]float64 {
					y := make([]float64, rows*n)
					for i, x := range in[0] {
						y[i] = x / in[1][i/n]
					}
					return [][]float64{y}
				}})
			for _, w := range []dtype.Type{dt, dtype.F32} {
				check(t, s, MulRowsOp, gate.Case[None]{Name: "mul_rows/" + w.String(), In: []gate.Input{full, {Type: w, Shape: []int{n}}},
					Reference: func(_ None, in [][]float64) [][]float64 {
						y := make([]float64, rows*n)
						for i, x := range in[0] {
							y[i] = x * in[1][i%n]
						}
						return [][]float64{y}
					}})
			}
		})
	}
}
