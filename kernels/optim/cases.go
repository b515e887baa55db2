//go:build !gotilegen

package optim

import (
	"errors"
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/fixture"
	"github.com/gotile/gotile/internal/gatecase"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/gate"
	"github.com/gotile/gotile/tile/tiletest"
)

// Cases is the test table, for the simulator and for GPUs: the gates of the loss, and AdamW beside float64.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, dt := range []dtype.Type{dtype.BF16, dtype.F16, dtype.F32} {
		for _, n := range []int{1, 51, 5001} {
			in := gate.Input{Type: dt, Shape: []int{n}}
			out = append(out, gatecase.Of(SquaredErrorOp, gate.Case[struct{}]{
				Name: fmt.Sprintf("%v/%d", dt, n), In: []gate.Input{in, in}, Fast: n > 1000, Reference: meanSquare, Gradient: meanSquareGradient,
			}))
		}
		out = append(out, tiletest.Case{Name: fmt.Sprintf("adamw/%v", dt), Run: func(r *tiletest.Run) error { return checkAdamW(r, dt) }})
	}
	return out
}

func meanSquare(_ struct{}, in [][]float64) [][]float64 {
	sum := 0.0
	for i, x := range in[0] {
		sum += (x - in[1][i]) * (x - in[1][i])
	}
	return [][]float64{{sum / float64(len(in[0]))}}
}

func meanSquareGradient(_ struct{}, in, dl [][]float64) [][]float64 {
	dx := make([]float64, len(in[0]))
	for i, x := range in[0] {
		dx[i] = dl[0][0] * 2 * (x - in[1][i]) / float64(len(dx))
	}
	return [][]float64{dx, nil}
}

// checkAdamW takes three steps with a gradient that is the parameter itself, and compares with float64 in which the
// parameter is rounded as its type rounds it.
func checkAdamW(r *tiletest.Run, dt dtype.Type) (err error) {
	const n = 5000
	data := fixture.Uniform(dt, 3, n)
	w, target := r.InOut(dt, data, n), r.In(dt, make([]float64, n), n)
	p := autodiff.NewParam("w", w)
	o, err := NewAdamW(r.Stream, Config{Beta1: 0.8, Beta2: 0.95, Eps: 1e-6, Decay: 0.1, Clip: 0.01}, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	m, v := make([]float64, n), make([]float64, n)
	for step := 1; step <= 3; step++ {
		before := r.Floats(w)
		t, err := autodiff.NewTape(r.Stream, autodiff.Strict())
		if err != nil {
			return err
		}
		err = errors.Join(o.Next(0.02), t.Backward(SquaredError(t, t.Param(p), t.Input("target", target))))
		var g []float64
		if err == nil {
			var d autodiff.Tensor
			if d, err = t.Param(p).Grad(); err == nil {
				g, err = d.Floats()
			}
		}
		if err == nil {
			err = o.Step(t)
		}
		if _, closing := t.Close(); err != nil || closing != nil {
			return errors.Join(err, closing)
		}
		norm := 0.0
		for _, x := range g {
			norm += x * x
		}
		norm = math.Sqrt(norm)
		got, err := o.Norm()
		if err != nil {
			return err
		}
		r.Compare("norm", []float64{got}, []float64{norm}, 1e-6)
		want := make([]float64, n)
		for i, x := range g {
			x *= min(1, 0.01/norm)
			m[i] = 0.8*m[i] + 0.2*x
			v[i] = 0.95*v[i] + 0.05*x*x
			mh, vh := m[i]/(1-math.Pow(0.8, float64(step))), v[i]/(1-math.Pow(0.95, float64(step)))
			want[i] = before[i] - 0.02*(mh/(math.Sqrt(vh)+1e-6)+0.1*before[i])
		}
		r.Compare("w", r.Floats(w), want, map[dtype.Type]float64{dtype.F32: 1e-6, dtype.F16: 5e-4, dtype.BF16: 4e-3}[dt])
	}
	return nil
}
