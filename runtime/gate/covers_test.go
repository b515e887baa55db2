package gate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/fixture"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/gate"
)

const rows, cols = 3, 8

var (
	matrix = gate.Input{Type: dtype.F32, Shape: []int{rows, cols}}
	vector = gate.Input{Type: dtype.F32, Shape: []int{cols}}
)

// model is y = norm(x, w)*scale, with the squared error of y as its loss.
type model struct{ w, scale *autodiff.Param }

func (m *model) params() []*autodiff.Param { return []*autodiff.Param{m.w, m.scale} }

func (m *model) loss(t *autodiff.Tape, x, target device.Tensor) autodiff.Tensor {
	y := rmsnorm.Op.Apply(t, rmsnorm.Params{Eps: 1e-5}, rmsnorm.In{X: t.Input("x", x), W: t.Param(m.w)}).Y
	return optim.SquaredError(t, ops.MulRows(t, y, t.Param(m.scale)), t.Input("target", target))
}

// A model's test: every parameter has a gate. The same with a parameter that has none, in each of the ways in which that
// comes about, fails and names it.
func TestCovers(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := d.Stream()
	data := func(seed uint64, shape ...int) device.Tensor {
		x, err := device.NewTensor(d, dtype.F32, shape...)
		if err == nil {
			err = device.UploadFloats(s, x, fixture.Uniform(dtype.F32, seed, x.Elems()))
		}
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	report := func(r *gate.Report, err error) *gate.Report {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	norm := report(gate.Check(s, rmsnorm.Op, gate.Case[rmsnorm.Params]{
		Name: "f32", Params: rmsnorm.Params{Eps: 1e-5}, In: []gate.Input{matrix, vector}, Fast: true, Runs: 1,
		Reference: func(p rmsnorm.Params, in [][]float64) [][]float64 {
			r := rmsnorm.Reference{Rows: rows, N: cols, X: in[0], W: in[1], Eps: float64(p.Eps)}
			return [][]float64{r.Forward()}
		},
	}))
	scale := func(factor float64) *gate.Report { // 1: right
		return report(gate.Check(s, ops.MulRowsOp, gate.Case[ops.None]{
			Name: "f32", In: []gate.Input{matrix, vector}, Fast: true, Runs: 1,
			Reference: func(_ ops.None, in [][]float64) [][]float64 {
				y := make([]float64, rows*cols)
				for i, x := range in[0] {
					y[i] = factor * x * in[1][i%cols]
				}
				return [][]float64{y}
			},
		}))
	}
	x, target := data(1, rows, cols), data(2, rows, cols)
	m := &model{autodiff.NewParam("w", data(3, cols)), autodiff.NewParam("scale", data(4, cols))}
	spare := autodiff.NewParam("spare", data(5, cols))
	for name, c := range map[string]struct {
		params  []*autodiff.Param
		off     []string
		reports []*gate.Report
		text    string // empty: all have one
	}{
		"all":              {m.params(), nil, []*gate.Report{norm, scale(1)}, ""},
		"no report":        {m.params(), nil, []*gate.Report{norm}, "parameter scale: it goes into B of mul_rows, whose gradient no report"},
		"a failed report":  {m.params(), nil, []*gate.Report{norm, scale(2)}, "parameter scale: it goes into B of mul_rows"},
		"none at all":      {m.params(), nil, nil, "parameter w: it goes into W of rmsnorm"},
		"unused":           {append(m.params(), spare), nil, []*gate.Report{norm, scale(1)}, "parameter spare: no op on the tape takes it"},
		"forgotten":        {m.params()[:1], nil, []*gate.Report{norm, scale(1)}, "parameter scale: it is on the tape, and not in the list"},
		"Ref takes it too": {m.params(), []string{"rmsnorm"}, []*gate.Report{norm}, "parameter w: it goes into B of mul_rows"},
	} {
		tp, err := autodiff.NewTape(s, autodiff.Off(c.off...))
		if err != nil {
			t.Fatal(err)
		}
		m.loss(tp, x, target)
		err = gate.Covers(tp, c.params, c.reports...)
		if (err == nil) != (c.text == "") || err != nil && (!errors.Is(err, gate.ErrUngated) || !strings.Contains(err.Error(), c.text)) {
			t.Errorf("%s: %v, want %q", name, err, c.text)
		}
		tp.Close()
	}
}
