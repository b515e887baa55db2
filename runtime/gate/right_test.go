//go:build !gotilegen

package gate_test

import (
	"errors"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/gate"
)

// The ops of this file are right, and must not fail.

// integers are no differentiable input.
type integers struct {
	X autodiff.Tensor `op:"[n] i32 nograd"`
}
type numbers struct {
	Y autodiff.Tensor `op:"[n] f32"`
}

func TestNoDifferentiableInput(t *testing.T) {
	op := autodiff.New("gated_cast", autodiff.Spec[none, integers, numbers, none]{
		Forward: func(x *autodiff.Exec, _ none, in integers) (o numbers, s none, err error) {
			o.Y = x.New(dtype.F32, in.X.Dim(0))
			return o, s, put(x.Stream(), x.View(o.Y), func(v ...float64) float64 { return v[0] }, x.View(in.X))
		},
	})
	r, err := gate.Check(open(t), op, gate.Case[none]{Name: "4", Runs: 2, In: []gate.Input{{Type: dtype.I32, Shape: []int{4}, Data: []float64{1, 2, 3, 4}}},
		Reference: func(_ none, in [][]float64) [][]float64 { return [][]float64{in[0]} }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Err() != nil {
		t.Errorf("a right op fails:\n%s", r)
	}
}

// Scalar output, optional input unset and set, an integer output.
type optionals struct {
	X autodiff.Tensor `op:"[n] f32"`
	M autodiff.Tensor `op:"[n] i32 nograd optional"`
	B autodiff.Tensor `op:"[n] f32 optional"`
}
type scalars struct {
	L autodiff.Tensor `op:"[] f32"`
	I autodiff.Tensor `op:"[n] i32"`
}

func TestOptionalScalarInteger(t *testing.T) {
	op := autodiff.New("gated_optional", autodiff.Spec[none, optionals, scalars, none]{
		Forward: func(x *autodiff.Exec, _ none, in optionals) (o scalars, s none, err error) {
			o.L, o.I = x.New(dtype.F32), x.New(dtype.I32, in.X.Dim(0))
			a, err := device.DownloadFloats(x.Stream(), x.View(in.X))
			sum := 0.0
			for _, v := range a {
				sum += v * v
			}
			if in.B.Set() {
				b, _ := device.DownloadFloats(x.Stream(), x.View(in.B))
				for _, v := range b {
					sum += v
				}
			}
			return o, s, errors.Join(err, device.UploadFloats(x.Stream(), x.View(o.L), []float64{sum}), device.UploadFloats(x.Stream(), x.View(o.I), make([]float64, len(a))))
		},
		Backward: func(x *autodiff.Exec, _ none, in optionals, _ none, dy scalars) (d optionals, err error) {
			g, err := device.DownloadFloats(x.Stream(), x.View(dy.L))
			if err != nil {
				return d, err
			}
			d.X = x.Like(in.X)
			err = put(x.Stream(), x.View(d.X), func(v ...float64) float64 { return 2 * v[0] * g[0] }, x.View(in.X))
			if in.B.Set() {
				d.B = x.Like(in.B)
				err = errors.Join(err, put(x.Stream(), x.View(d.B), func(v ...float64) float64 { return g[0] }, x.View(in.B)))
			}
			return d, err
		},
	})
	f := gate.Input{Type: dtype.F32, Shape: []int{4}}
	for name, in := range map[string][]gate.Input{
		"unset": {f, {}, {}}, "set": {f, {Type: dtype.I32, Shape: []int{4}, Data: []float64{1, 0, 1, 0}}, f},
	} {
		r, err := gate.Check(open(t), op, gate.Case[none]{Name: name, Runs: 2, In: in,
			Reference: func(_ none, in [][]float64) [][]float64 {
				sum := 0.0
				for _, v := range in[0] {
					sum += v * v
				}
				for _, v := range in[2] {
					sum += v
				}
				return [][]float64{{sum}, make([]float64, len(in[0]))}
			}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Err() != nil {
			t.Errorf("a right op fails:\n%s", r)
		}
	}
}

// Seven outputs; a Gradient that is short; no element.
type seven struct{ A, B, C, D, E, F, G autodiff.Tensor }

func TestSevenOutputs(t *testing.T) {
	op := autodiff.New("gated_seven", autodiff.Spec[none, unary, seven, none]{
		Forward: func(x *autodiff.Exec, _ none, in unary) (seven, none, error) {
			return seven{in.X, in.X, in.X, in.X, in.X, in.X, in.X}, none{}, nil
		},
		Backward: func(x *autodiff.Exec, _ none, in unary, _ none, dy seven) (d unary, err error) {
			d.X = x.Like(in.X)
			return d, put(x.Stream(), x.View(d.X), func(v ...float64) float64 { return v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] },
				x.View(dy.A), x.View(dy.B), x.View(dy.C), x.View(dy.D), x.View(dy.E), x.View(dy.F), x.View(dy.G))
		},
	})
	r, err := gate.Check(open(t), op, gate.Case[none]{Name: "7", Runs: 1, In: []gate.Input{{Type: dtype.F32, Shape: []int{2, 2}}},
		Reference: func(_ none, in [][]float64) [][]float64 {
			return [][]float64{in[0], in[0], in[0], in[0], in[0], in[0], in[0]}
		}})
	if err != nil || r.Err() != nil {
		t.Errorf("%v\n%s", err, r)
	}
}

func TestEmptyAndShort(t *testing.T) {
	op := mutant("gated_empty", func(*autodiff.Spec[none, binary, output, none]) {})
	c := productCase()
	c.In = []gate.Input{{Type: dtype.F32, Shape: []int{0, 5}}, {Type: dtype.F32, Shape: []int{0, 5}}}
	r, err := gate.Check(open(t), op, c)
	if err != nil || r.Err() != nil {
		t.Errorf("no rows: %v\n%s", err, r)
	}
	c = productCase()
	c.Gradient = func(_ none, in, dy [][]float64) [][]float64 {
		d := make([]float64, len(in[0]))
		for i := range d {
			d[i] = in[1][i] * dy[0][i]
		}
		return [][]float64{d}
	}
	if _, err := gate.Check(open(t), op, c); err == nil {
		t.Error("a Gradient that is short is accepted")
	}
	c = productCase()
	c.Reference = func(_ none, in [][]float64) [][]float64 { return nil } // nothing is compared
	if r, err := gate.Check(open(t), op, c); err == nil && r.Err() == nil {
		t.Errorf("a Reference without outputs passes:\n%s", r)
	}
}
