//go:build !gotilegen

package rmsnorm

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/gate"
)

// mutant is an op with one mistake. Tensors are in the order of the ports.
type mutant struct {
	name  string
	forms []form
	gates string // one of these must fail

	forward  func(x *autodiff.Exec, in, out []autodiff.Tensor) error
	backward func(x *autodiff.Exec, p Params, in, dOut, d []autodiff.Tensor) error
	accept   error
	launches autodiff.Launches
}

// check runs a case of a mutant of the form's op.
func (c gateCase) check(s *device.Stream, m *mutant) (*gate.Report, error) {
	switch c.form {
	case plain:
		return gate.Check(s, mutate(Op, spec, m), few(c))
	case added:
		return gate.Check(s, mutate(AddOp, addSpec, m), few(c))
	}
	return gate.Check(s, mutate(GatedOp, gatedSpec, m), few(c))
}

// few is the case with few runs: the simulator repeats itself.
func few(c gateCase) gate.Case[Params] {
	g := c.gate()
	g.Runs = 2
	return g
}

var registered int

// mutate registers the op with the mistake.
func mutate[In, Out, S any](op *autodiff.Op[Params, In, Out, S], spec autodiff.Spec[Params, In, Out, S], m *mutant) *autodiff.Op[Params, In, Out, S] {
	right := spec
	if m.accept != nil {
		spec.Accept = func(Params, In) error { return m.accept }
		spec.Ref = func(t *autodiff.Tape, p Params, in In) Out { return op.Apply(t, p, in) }
	}
	if m.launches != (autodiff.Launches{}) {
		spec.Launches, spec.LaunchesOf = m.launches, nil
	}
	spec.Forward = func(x *autodiff.Exec, p Params, in In) (Out, S, error) {
		out, s, err := right.Forward(x, p, in)
		if err == nil && m.forward != nil {
			outs := list(&out)
			err = m.forward(x, list(&in), outs)
			unlist(&out, outs)
		}
		return out, s, err
	}
	spec.Backward = func(x *autodiff.Exec, p Params, in In, s S, dOut Out) (In, error) {
		d, err := right.Backward(x, p, in, s, dOut)
		if err == nil && m.backward != nil {
			ds := list(&d)
			err = m.backward(x, p, list(&in), list(&dOut), ds)
			unlist(&d, ds)
		}
		return d, err
	}
	registered++
	return autodiff.New(fmt.Sprintf("%s_mutant%d", op.Name(), registered), spec)
}

func list(s any) (out []autodiff.Tensor) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		out = append(out, v.Field(i).Interface().(autodiff.Tensor))
	}
	return out
}

func unlist(s any, ts []autodiff.Tensor) {
	v := reflect.ValueOf(s).Elem()
	for i := range ts {
		v.Field(i).Set(reflect.ValueOf(ts[i]))
	}
}

// edit computes a tensor's elements anew, on the host.
func edit(x *autodiff.Exec, t autodiff.Tensor, f func(v []float64)) error {
	d := x.View(t)
	v, err := device.DownloadFloats(x.Stream(), d)
	if err != nil {
		return err
	}
	f(v)
	return device.UploadFloats(x.Stream(), d, v)
}

func times(k float64) func(v []float64) {
	return func(v []float64) {
		for i := range v {
			v[i] *= k
		}
	}
}

// edited edits gradient i; -1 is the last, dW.
func edited(i int, f func(v []float64)) func(*autodiff.Exec, Params, []autodiff.Tensor, []autodiff.Tensor, []autodiff.Tensor) error {
	return func(x *autodiff.Exec, _ Params, _, _, d []autodiff.Tensor) error {
		if i < 0 {
			i = len(d) - 1
		}
		fresh := x.Like(d[i]) // d[0] may be the gradient of another input too
		v, err := device.DownloadFloats(x.Stream(), x.View(d[i]))
		if err != nil {
			return err
		}
		f(v)
		d[i] = fresh
		return device.UploadFloats(x.Stream(), x.View(fresh), v)
	}
}

// recompute sets dX to what f makes of the reference and the gradient of Y.
func recompute(f func(r Reference, dy []float64) []float64) func(*autodiff.Exec, Params, []autodiff.Tensor, []autodiff.Tensor, []autodiff.Tensor) error {
	return func(x *autodiff.Exec, p Params, in, dOut, d []autodiff.Tensor) error {
		var vs [][]float64
		for _, t := range append(in[:len(in):len(in)], dOut[0]) {
			v, err := device.DownloadFloats(x.Stream(), x.View(t))
			if err != nil {
				return err
			}
			vs = append(vs, v)
		}
		r := Reference{Rows: in[0].Dim(0), N: in[0].Dim(1), X: vs[0], W: vs[len(in)-1], Eps: float64(p.Eps), Act: p.Act}
		if p.Act != 0 {
			r.Z = vs[1]
		}
		return device.UploadFloats(x.Stream(), x.View(d[0]), f(r, vs[len(in)]))
	}
}

var every = []form{plain, added, gatedSilu, gatedSigmoid}

var mutants = []mutant{
	{name: "sign of dX", forms: every, gates: "gradient difference", backward: edited(0, times(-1))},
	{name: "sign of dW", forms: every, gates: "gradient difference", backward: edited(-1, times(-1))},
	{name: "dX zeroed", forms: every, gates: "non-zero", backward: edited(0, times(0))},
	{name: "dW zeroed", forms: every, gates: "non-zero", backward: edited(-1, times(0))},
	{name: "dX without the term of the mean", forms: []form{plain, gatedSilu, gatedSigmoid}, gates: "difference",
		backward: recompute(func(r Reference, dy []float64) []float64 {
			rstd, dx := r.Rstd(), make([]float64, len(dy))
			for i := range dx {
				dx[i] = rstd[i/r.N] * r.W[i%r.N] * dy[i]
				if r.Act != 0 {
					act, _ := r.gate(i)
					dx[i] *= act
				}
			}
			return dx
		})},
	{name: "dX by one part in a thousand", forms: every, gates: "gradient", backward: edited(0, times(1.001))},
	{name: "dX wrong in one element", forms: every, gates: "gradient", backward: edited(0, func(v []float64) { v[len(v)-1] += 0.01 })},
	{name: "dW without the last column", forms: every, gates: "gradient", backward: edited(-1, func(v []float64) { v[len(v)-1] = 0 })},
	{name: "dX not finite", forms: every, gates: "non-zero", backward: edited(0, func(v []float64) { v[3] /= 0 * v[3] })},
	{name: "dR zeroed", forms: []form{added}, gates: "non-zero", backward: edited(1, times(0))},
	{name: "dR twice", forms: []form{added}, gates: "gradient difference", backward: edited(1, times(2))},
	{name: "gradient of S dropped", forms: []form{added}, gates: "gradient unset",
		backward: func(x *autodiff.Exec, _ Params, _, dOut, d []autodiff.Tensor) error {
			ds, err := device.DownloadFloats(x.Stream(), x.View(dOut[1]))
			if err != nil {
				return err
			}
			return edit(x, d[0], func(v []float64) { // d[1] is the same tensor
				for i := range v {
					v[i] -= ds[i]
				}
			})
		}},
	{name: "sign of dZ", forms: []form{gatedSilu, gatedSigmoid}, gates: "gradient difference", backward: edited(1, times(-1))},
	{name: "dZ zeroed", forms: []form{gatedSilu, gatedSigmoid}, gates: "non-zero", backward: edited(1, times(0))},
	{name: "output discarded", forms: every, gates: "forward path",
		forward: func(x *autodiff.Exec, in, out []autodiff.Tensor) error { out[0] = x.Like(out[0]); return nil }},
	{name: "output is the input", forms: every, gates: "forward",
		forward: func(x *autodiff.Exec, in, out []autodiff.Tensor) error { out[0] = in[0]; return nil }},
	{name: "output of zeros", forms: every, gates: "forward", forward: func(x *autodiff.Exec, _, out []autodiff.Tensor) error { x.Zero(out[0]); return nil }},
	{name: "output by one part in ten thousand", forms: every, gates: "forward",
		forward: func(x *autodiff.Exec, _, out []autodiff.Tensor) error { return edit(x, out[0], times(1.0001)) }},
	{name: "input changed", forms: every, gates: "memory",
		forward: func(x *autodiff.Exec, in, _ []autodiff.Tensor) error {
			return edit(x, in[len(in)-1], func(v []float64) { v[0]++ })
		}},
	{name: "declined", forms: every, gates: "path", accept: autodiff.Decline("no mood")},
	{name: "refused", forms: every, gates: "path", accept: errors.New("no mood")},
	{name: "a forward launch declared too many", forms: every, gates: "launches", launches: autodiff.Launches{Forward: 2, Backward: 2}},
	{name: "a backward launch declared too few", forms: every, gates: "launches", launches: autodiff.Launches{Forward: 1, Backward: 1}},
}

// Each mistake is found, by a gate that is meant to.
func TestMutants(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	check := func(c gateCase, m mutant) {
		t.Run(c.String()+"/"+m.name, func(t *testing.T) {
			r, err := c.check(d.Stream(), &m)
			if err != nil {
				t.Fatal(err)
			}
			var failed []string
			for _, v := range r.Verdicts {
				if v.Result == "FAIL" {
					failed = append(failed, v.Gate)
				}
			}
			for _, g := range failed {
				if strings.Contains(m.gates, g) {
					return
				}
			}
			t.Errorf("none of %q failed, but %v:\n%s", m.gates, failed, r)
		})
	}
	for _, m := range mutants {
		for _, f := range m.forms {
			check(gateCase{f, dtype.F32, dtype.F32, 3, 10}, m)
		}
	}
	calls := 0
	check(gateCase{plain, dtype.F32, dtype.F32, 3, 10}, mutant{name: "another result each time", gates: "repeat",
		forward: func(x *autodiff.Exec, _, out []autodiff.Tensor) error {
			calls++
			return edit(x, out[0], times(1+float64(calls)*0x1p-22))
		}})
}
