//go:build !gotilegen

package gate_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/gate"
)

type none struct{}

type binary struct {
	A autodiff.Tensor `op:"[rows,n] T:f32"`
	B autodiff.Tensor `op:"[rows,n] T"`
}

type unary struct {
	X autodiff.Tensor `op:"[rows,n] T:f32"`
}

type output struct {
	Y autodiff.Tensor `op:"[rows,n] T"`
}

func open(t *testing.T) *device.Stream {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d.Stream()
}

// put computes on the host, in memory that may be anything.
func put(s *device.Stream, to device.Tensor, f func(v ...float64) float64, in ...device.Tensor) error {
	var cols [][]float64
	for _, d := range in {
		a, err := device.DownloadFloats(s, d)
		if err != nil {
			return err
		}
		cols = append(cols, a)
	}
	y, args := make([]float64, to.Elems()), make([]float64, len(in))
	for i := range y {
		for j := range cols {
			args[j] = cols[j][i]
		}
		y[i] = f(args...)
	}
	return device.UploadFloats(s, to, y)
}

func prod(v ...float64) float64 { return v[0] * v[1] }

func productCase() gate.Case[none] {
	in := gate.Input{Type: dtype.F32, Shape: []int{3, 5}}
	return gate.Case[none]{Name: "3x5", In: []gate.Input{in, in}, Runs: 2,
		Reference: func(_ none, in [][]float64) [][]float64 {
			y := make([]float64, len(in[0]))
			for i := range y {
				y[i] = in[0][i] * in[1][i]
			}
			return [][]float64{y}
		}}
}

// fails demands that a gate finds a mutant.
func fails[P, In, Out, S any](t *testing.T, s *device.Stream, op *autodiff.Op[P, In, Out, S], c gate.Case[P], gates ...string) {
	t.Helper()
	r, err := gate.Check(s, op, c)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Verdicts, func(v gate.Verdict) bool { return v.Result == gate.Fail && slices.Contains(gates, v.Gate) }) {
		t.Errorf("none of the gates %q fails:\n%s", gates, r)
	}
}

func product(x *autodiff.Exec, in binary) (o output, err error) {
	o.Y = x.Like(in.A)
	return o, put(x.Stream(), x.View(o.Y), prod, x.View(in.A), x.View(in.B))
}

func slopes(x *autodiff.Exec, in binary, dy output) (d binary, err error) {
	d.A, d.B = x.Like(in.A), x.Like(in.B)
	return d, errors.Join(put(x.Stream(), x.View(d.A), prod, x.View(dy.Y), x.View(in.B)),
		put(x.Stream(), x.View(d.B), prod, x.View(dy.Y), x.View(in.A)))
}

var good = autodiff.Spec[none, binary, output, none]{
	Forward: func(x *autodiff.Exec, _ none, in binary) (o output, s none, err error) {
		o, err = product(x, in)
		return
	},
	Backward: func(x *autodiff.Exec, _ none, in binary, _ none, dy output) (binary, error) {
		return slopes(x, in, dy)
	},
}

func mutant(name string, f func(s *autodiff.Spec[none, binary, output, none])) *autodiff.Op[none, binary, output, none] {
	s := good
	f(&s)
	return autodiff.New(name, s)
}

func TestProduct(t *testing.T) {
	r, err := gate.Check(open(t), mutant("gated_good", func(*autodiff.Spec[none, binary, output, none]) {}), productCase())
	if err != nil || r.Err() != nil {
		t.Errorf("%v\n%s", err, r)
	}
}

// Unless the case says otherwise, repeat compares 30 runs.
func TestRunsOfRepeat(t *testing.T) {
	calls := 0
	op := mutant("gated_counting", func(s *autodiff.Spec[none, binary, output, none]) {
		s.Forward = func(x *autodiff.Exec, _ none, in binary) (o output, _ none, err error) {
			calls++
			o, err = product(x, in)
			return o, none{}, err
		}
	})
	s, ran := open(t), [2]int{}
	for i, runs := range []int{0, 1} {
		c := productCase()
		c.Runs, calls = runs, 0
		if r, err := gate.Check(s, op, c); err != nil || r.Err() != nil {
			t.Fatalf("%v\n%s", err, r)
		}
		ran[i] = calls
	}
	if ran[0]-ran[1] != 29 {
		t.Errorf("the op ran %d times by default, %d times with one run of repeat", ran[0], ran[1])
	}
}

var scrap = autodiff.New("gated_half", autodiff.Spec[none, unary, output, none]{
	Forward: func(x *autodiff.Exec, _ none, in unary) (o output, s none, err error) {
		o.Y = x.Like(in.X)
		return o, s, put(x.Stream(), x.View(o.Y), func(v ...float64) float64 { return v[0] / 2 }, x.View(in.X))
	},
})

// Its Ref is another function.
func TestMutantRefOfAnotherFunction(t *testing.T) {
	op := mutant("gated_ref", func(s *autodiff.Spec[none, binary, output, none]) {
		s.Ref = func(t *autodiff.Tape, _ none, in binary) output { return scrap.Apply(t, none{}, unary{in.A}) }
	})
	fails(t, open(t), op, productCase(), "ref")
}

// Its backward writes over dY, which other ops may have too.
func TestMutantWritesOverDY(t *testing.T) {
	op := mutant("gated_dy", func(s *autodiff.Spec[none, binary, output, none]) {
		s.Backward = func(x *autodiff.Exec, _ none, in binary, _ none, dy output) (d binary, err error) {
			d.A, d.B = dy.Y, x.Like(in.B)
			return d, errors.Join(put(x.Stream(), x.View(d.B), prod, x.View(dy.Y), x.View(in.A)),
				put(x.Stream(), x.View(dy.Y), prod, x.View(dy.Y), x.View(in.B)))
		}
	})
	fails(t, open(t), op, productCase(), "memory")
}

// Its backward writes over the output.
type keepY struct{ Y autodiff.Tensor }

func TestMutantWritesOverY(t *testing.T) {
	op := autodiff.New("gated_y", autodiff.Spec[none, binary, output, keepY]{
		Forward: func(x *autodiff.Exec, _ none, in binary) (o output, s keepY, err error) {
			o, err = product(x, in)
			return o, keepY(o), err
		},
		Backward: func(x *autodiff.Exec, _ none, in binary, s keepY, dy output) (d binary, err error) {
			d, err = slopes(x, in, dy)
			return d, errors.Join(err, put(x.Stream(), x.View(s.Y), func(v ...float64) float64 { return 0 }))
		},
	})
	fails(t, open(t), op, productCase(), "memory")
}

// What it saves is in memory of the op: the last application's.
func TestMutantGlobalSaved(t *testing.T) {
	s := open(t)
	saved, err := s.NewTensor(dtype.F32, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	op := mutant("gated_global", func(sp *autodiff.Spec[none, binary, output, none]) {
		sp.Forward = func(x *autodiff.Exec, _ none, in binary) (o output, _ none, err error) {
			o, err = product(x, in)
			return o, none{}, errors.Join(err, put(s, saved, func(v ...float64) float64 { return v[0] }, x.View(in.A)))
		}
		sp.Backward = func(x *autodiff.Exec, _ none, in binary, _ none, dy output) (d binary, err error) {
			d.A, d.B = x.Like(in.A), x.Like(in.B)
			return d, errors.Join(put(s, x.View(d.A), prod, x.View(dy.Y), x.View(in.B)), put(s, x.View(d.B), prod, x.View(dy.Y), saved))
		}
	})
	fails(t, s, op, productCase(), "again")
}

// What it saves is the raw memory of an input, which Recompute gives back.
type rawA struct{ A device.Tensor }

func TestMutantRawSaved(t *testing.T) {
	op := autodiff.New("gated_raw", autodiff.Spec[none, binary, output, rawA]{
		Forward: func(x *autodiff.Exec, _ none, in binary) (o output, s rawA, err error) {
			o, err = product(x, in)
			return o, rawA{x.View(in.A)}, err
		},
		Backward: func(x *autodiff.Exec, _ none, in binary, s rawA, dy output) (d binary, err error) {
			d.A, d.B = x.Like(in.A), x.Like(in.B)
			return d, errors.Join(put(x.Stream(), x.View(d.A), prod, x.View(dy.Y), x.View(in.B)), put(x.Stream(), x.View(d.B), prod, x.View(dy.Y), s.A))
		},
	})
	fails(t, open(t), op, productCase(), "interior")
}

// dB is right only if A needs a gradient too.
func TestMutantNeedsAll(t *testing.T) {
	op := mutant("gated_needs", func(s *autodiff.Spec[none, binary, output, none]) {
		s.Backward = func(x *autodiff.Exec, _ none, in binary, _ none, dy output) (d binary, err error) {
			if x.Needs(in.A) {
				return slopes(x, in, dy)
			}
			d.B = x.Like(in.B)
			return d, put(x.Stream(), x.View(d.B), func(v ...float64) float64 { return v[0] }, x.View(dy.Y))
		}
	})
	fails(t, open(t), op, productCase(), "needs")
}

// It takes memory outside of the pool, and never gives it back.
func TestMutantLeaksDeviceMemory(t *testing.T) {
	op := mutant("gated_leak", func(s *autodiff.Spec[none, binary, output, none]) {
		s.Forward = func(x *autodiff.Exec, _ none, in binary) (o output, _ none, err error) {
			if _, err := x.Stream().NewTensor(dtype.F32, 1024); err != nil {
				return o, none{}, err
			}
			o, err = product(x, in)
			return o, none{}, err
		}
	})
	fails(t, open(t), op, productCase(), "memory")
}

// An input is changed during Forward and restored in Backward: the tape itself sees it.
func TestMutantChangesAndRestores(t *testing.T) {
	op := mutant("gated_restore", func(s *autodiff.Spec[none, binary, output, none]) {
		neg := func(v ...float64) float64 { return -v[0] }
		s.Forward = func(x *autodiff.Exec, _ none, in binary) (o output, _ none, err error) {
			o, err = product(x, in)
			if x.Tracked() {
				err = errors.Join(err, put(x.Stream(), x.View(in.A), neg, x.View(in.A)))
			}
			return o, none{}, err
		}
		s.Backward = func(x *autodiff.Exec, _ none, in binary, _ none, dy output) (d binary, err error) {
			err = put(x.Stream(), x.View(in.A), neg, x.View(in.A))
			d, err2 := slopes(x, in, dy)
			return d, errors.Join(err, err2)
		}
	})
	fails(t, open(t), op, productCase(), "path")
}
