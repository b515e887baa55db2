//go:build !gotilegen

package rmsnorm

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/gatecase"
	"github.com/gotile/gotile/runtime/gate"
	"github.com/gotile/gotile/tile/tiletest"
)

// gateCases are the gates of the three ops.
func gateCases() []tiletest.Case {
	var out []tiletest.Case
	for f := range forms {
		for _, c := range []gateCase{
			{f, dtype.F32, dtype.F32, 3, 40},
			{f, dtype.BF16, dtype.F32, 2, 33},
			{f, dtype.F16, dtype.F16, 4, 17},
			{f, dtype.F32, dtype.F32, 2, 1},
			{f, dtype.BF16, dtype.BF16, 3, 1024},
		} {
			switch f {
			case plain:
				out = append(out, gatecase.Of(Op, c.gate()))
			case added:
				out = append(out, gatecase.Of(AddOp, c.gate()))
			default:
				out = append(out, gatecase.Of(GatedOp, c.gate()))
			}
		}
	}
	return out
}

// gateCase is a case of a form: ports in order, with a residual or a gate.
type gateCase struct {
	form    form
	x, w    dtype.Type
	rows, n int
}

func (c gateCase) String() string {
	return fmt.Sprintf("%s/%v-%v/%dx%d", [...]string{"plain", "add", "silu", "sigmoid"}[c.form], c.x, c.w, c.rows, c.n)
}

// act is the activation of a gated form.
func (c gateCase) act() Activation {
	switch c.form {
	case gatedSilu:
		return Silu
	case gatedSigmoid:
		return Sigmoid
	}
	return 0
}

// eps is 1 where a row is one element: with a small one dx is a difference of equal numbers (docs/decisions.md, N = 1).
func (c gateCase) eps() float32 {
	if c.n == 1 {
		return 1
	}
	return 1e-5
}

// gate makes the case for gate.Check.
func (c gateCase) gate() gate.Case[Params] {
	x := gate.Input{Type: c.x, Shape: []int{c.rows, c.n}}
	w := gate.Input{Type: c.w, Shape: []int{c.n}}
	ref := func(p Params, in [][]float64) Reference {
		r := Reference{Rows: c.rows, N: c.n, X: in[0], W: in[len(in)-1], Act: p.Act, Eps: float64(p.Eps)}
		switch c.form {
		case added:
			r.X = sum(c.x, in[0], in[1])
		case gatedSilu, gatedSigmoid:
			r.Z = in[1]
		}
		return r
	}
	g := gate.Case[Params]{
		Name: c.String(), Params: Params{Eps: c.eps(), Act: c.act()}, In: []gate.Input{x, w}, Fast: c.n > 100,
		Reference: func(p Params, in [][]float64) [][]float64 {
			r := ref(p, in)
			if c.form == added {
				return [][]float64{r.Forward(), r.X}
			}
			return [][]float64{r.Forward()}
		},
		Gradient: func(p Params, in, dOut [][]float64) [][]float64 {
			r := ref(p, in)
			dx, dw := r.Backward(dOut[0])
			switch c.form {
			case added:
				for i := range dx {
					dx[i] += dOut[1][i]
				}
				return [][]float64{dx, dx, dw}
			case gatedSilu, gatedSigmoid:
				return [][]float64{dx, r.BackwardGate(dOut[0]), dw}
			}
			return [][]float64{dx, dw}
		},
	}
	if c.form != plain {
		g.In = []gate.Input{x, x, w}
	}
	return g
}

// sum is x + r as the kernel rounds it.
func sum(dt dtype.Type, x, r []float64) []float64 {
	s := make([]float64, len(x))
	for i := range s {
		s[i] = x[i] + r[i]
		switch dt {
		case dtype.BF16:
			s[i] = float64(dtype.BF16FromFloat32(float32(s[i])).Float32())
		case dtype.F16:
			s[i] = float64(dtype.F16FromFloat32(float32(s[i])).Float32())
		}
	}
	return s
}
