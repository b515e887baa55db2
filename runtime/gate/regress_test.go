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

type brkNone struct{}

type brkBin struct {
	A autodiff.Tensor `op:"[rows,n] T:f32"`
	B autodiff.Tensor `op:"[rows,n] T"`
}

type brkUn struct {
	X autodiff.Tensor `op:"[rows,n] T:f32"`
}

type brkOut struct {
	Y autodiff.Tensor `op:"[rows,n] T"`
}

func brkSim(t *testing.T) *device.Stream {
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

func brkCase() gate.Case[brkNone] {
	in := gate.Input{Type: dtype.F32, Shape: []int{3, 5}}
	return gate.Case[brkNone]{Name: "3x5", In: []gate.Input{in, in}, Runs: 2,
		Reference: func(_ brkNone, in [][]float64) [][]float64 {
			y := make([]float64, len(in[0]))
			for i := range y {
				y[i] = in[0][i] * in[1][i]
			}
			return [][]float64{y}
		}}
}

// must demands that a mutant fails.
func must[P, In, Out, S any](t *testing.T, op *autodiff.Op[P, In, Out, S], c gate.Case[P], what string) {
	t.Helper()
	r, err := gate.Check(brkSim(t), op, c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Err() == nil {
		t.Errorf("survives: %s\n%s", what, r)
	}
}

func product(x *autodiff.Exec, in brkBin) (o brkOut, err error) {
	o.Y = x.Like(in.A)
	return o, put(x.Stream(), x.View(o.Y), prod, x.View(in.A), x.View(in.B))
}

func slopes(x *autodiff.Exec, in brkBin, dy brkOut) (d brkBin, err error) {
	d.A, d.B = x.Like(in.A), x.Like(in.B)
	return d, errors.Join(put(x.Stream(), x.View(d.A), prod, x.View(dy.Y), x.View(in.B)),
		put(x.Stream(), x.View(d.B), prod, x.View(dy.Y), x.View(in.A)))
}

var good = autodiff.Spec[brkNone, brkBin, brkOut, brkNone]{
	Forward: func(x *autodiff.Exec, _ brkNone, in brkBin) (o brkOut, s brkNone, err error) {
		o, err = product(x, in)
		return
	},
	Backward: func(x *autodiff.Exec, _ brkNone, in brkBin, _ brkNone, dy brkOut) (brkBin, error) {
		return slopes(x, in, dy)
	},
}

func mutant(name string, f func(s *autodiff.Spec[brkNone, brkBin, brkOut, brkNone])) *autodiff.Op[brkNone, brkBin, brkOut, brkNone] {
	s := good
	f(&s)
	return autodiff.New(name, s)
}

func TestRegressGood(t *testing.T) {
	r, err := gate.Check(brkSim(t), mutant("brk_good", func(*autodiff.Spec[brkNone, brkBin, brkOut, brkNone]) {}), brkCase())
	if err != nil || r.Err() != nil {
		t.Errorf("%v\n%s", err, r)
	}
}

var scrap = autodiff.New("brk_half", autodiff.Spec[brkNone, brkUn, brkOut, brkNone]{
	Forward: func(x *autodiff.Exec, _ brkNone, in brkUn) (o brkOut, s brkNone, err error) {
		o.Y = x.Like(in.X)
		return o, s, put(x.Stream(), x.View(o.Y), func(v ...float64) float64 { return v[0] / 2 }, x.View(in.X))
	},
})

// Its Ref is another function.
func TestRegressRefOfAnotherFunction(t *testing.T) {
	op := mutant("brk_ref", func(s *autodiff.Spec[brkNone, brkBin, brkOut, brkNone]) {
		s.Ref = func(t *autodiff.Tape, _ brkNone, in brkBin) brkOut { return scrap.Apply(t, brkNone{}, brkUn{in.A}) }
	})
	must(t, op, brkCase(), "a Ref that is another function, without a gradient")
}

// Its backward writes over dY, which other ops may have too.
func TestRegressWritesOverDY(t *testing.T) {
	op := mutant("brk_dy", func(s *autodiff.Spec[brkNone, brkBin, brkOut, brkNone]) {
		s.Backward = func(x *autodiff.Exec, _ brkNone, in brkBin, _ brkNone, dy brkOut) (d brkBin, err error) {
			d.A, d.B = dy.Y, x.Like(in.B)
			return d, errors.Join(put(x.Stream(), x.View(d.B), prod, x.View(dy.Y), x.View(in.A)),
				put(x.Stream(), x.View(dy.Y), prod, x.View(dy.Y), x.View(in.B)))
		}
	})
	must(t, op, brkCase(), "dA is computed in the memory of dY")
}

// Its backward writes over the output.
type keepY struct{ Y autodiff.Tensor }

func TestRegressWritesOverY(t *testing.T) {
	op := autodiff.New("brk_y", autodiff.Spec[brkNone, brkBin, brkOut, keepY]{
		Forward: func(x *autodiff.Exec, _ brkNone, in brkBin) (o brkOut, s keepY, err error) {
			o, err = product(x, in)
			return o, keepY(o), err
		},
		Backward: func(x *autodiff.Exec, _ brkNone, in brkBin, s keepY, dy brkOut) (d brkBin, err error) {
			d, err = slopes(x, in, dy)
			return d, errors.Join(err, put(x.Stream(), x.View(s.Y), func(v ...float64) float64 { return 0 }))
		},
	})
	must(t, op, brkCase(), "the output is overwritten by Backward")
}

// What it saves is in memory of the op: the last application's.
func TestRegressGlobalSaved(t *testing.T) {
	s := brkSim(t)
	saved, err := s.NewTensor(dtype.F32, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	op := mutant("brk_global", func(sp *autodiff.Spec[brkNone, brkBin, brkOut, brkNone]) {
		sp.Forward = func(x *autodiff.Exec, _ brkNone, in brkBin) (o brkOut, _ brkNone, err error) {
			o, err = product(x, in)
			return o, brkNone{}, errors.Join(err, put(s, saved, func(v ...float64) float64 { return v[0] }, x.View(in.A)))
		}
		sp.Backward = func(x *autodiff.Exec, _ brkNone, in brkBin, _ brkNone, dy brkOut) (d brkBin, err error) {
			d.A, d.B = x.Like(in.A), x.Like(in.B)
			return d, errors.Join(put(s, x.View(d.A), prod, x.View(dy.Y), x.View(in.B)), put(s, x.View(d.B), prod, x.View(dy.Y), saved))
		}
	})
	r, err := gate.Check(s, op, brkCase())
	if err != nil {
		t.Fatal(err)
	}
	if r.Err() == nil {
		t.Errorf("survives: two applications share what is saved\n%s", r)
	}
}

// What it saves is the raw memory of an input, which Recompute gives back.
type rawA struct{ A device.Tensor }

func TestRegressRawSaved(t *testing.T) {
	op := autodiff.New("brk_raw", autodiff.Spec[brkNone, brkBin, brkOut, rawA]{
		Forward: func(x *autodiff.Exec, _ brkNone, in brkBin) (o brkOut, s rawA, err error) {
			o, err = product(x, in)
			return o, rawA{x.View(in.A)}, err
		},
		Backward: func(x *autodiff.Exec, _ brkNone, in brkBin, s rawA, dy brkOut) (d brkBin, err error) {
			d.A, d.B = x.Like(in.A), x.Like(in.B)
			return d, errors.Join(put(x.Stream(), x.View(d.A), prod, x.View(dy.Y), x.View(in.B)), put(x.Stream(), x.View(d.B), prod, x.View(dy.Y), s.A))
		},
	})
	must(t, op, brkCase(), "the raw memory of an input is saved (wrong under Recompute: TestRegressRawSaved of autodiff)")
}

// dB is right only if A needs a gradient too.
func TestRegressNeedsAll(t *testing.T) {
	op := mutant("brk_needs", func(s *autodiff.Spec[brkNone, brkBin, brkOut, brkNone]) {
		s.Backward = func(x *autodiff.Exec, _ brkNone, in brkBin, _ brkNone, dy brkOut) (d brkBin, err error) {
			if x.Needs(in.A) {
				return slopes(x, in, dy)
			}
			d.B = x.Like(in.B)
			return d, put(x.Stream(), x.View(d.B), func(v ...float64) float64 { return v[0] }, x.View(dy.Y))
		}
	})
	must(t, op, brkCase(), "dB is wrong where A is not tracked")
}

// It works only where it is tracked by memory of its own that it never gives back.
func TestRegressLeaksDeviceMemory(t *testing.T) {
	op := mutant("brk_leak", func(s *autodiff.Spec[brkNone, brkBin, brkOut, brkNone]) {
		s.Forward = func(x *autodiff.Exec, _ brkNone, in brkBin) (o brkOut, _ brkNone, err error) {
			if _, err := x.Stream().NewTensor(dtype.F32, 1024); err != nil {
				return o, brkNone{}, err
			}
			o, err = product(x, in)
			return o, brkNone{}, err
		}
	})
	must(t, op, brkCase(), "memory is allocated in each call, outside the pool, and never closed (and no capture is possible)")
}

// An input is changed during Forward and restored in Backward.
func TestRegressChangesAndRestores(t *testing.T) {
	op := mutant("brk_restore", func(s *autodiff.Spec[brkNone, brkBin, brkOut, brkNone]) {
		neg := func(v ...float64) float64 { return -v[0] }
		s.Forward = func(x *autodiff.Exec, _ brkNone, in brkBin) (o brkOut, _ brkNone, err error) {
			o, err = product(x, in)
			if x.Tracked() {
				err = errors.Join(err, put(x.Stream(), x.View(in.A), neg, x.View(in.A)))
			}
			return o, brkNone{}, err
		}
		s.Backward = func(x *autodiff.Exec, _ brkNone, in brkBin, _ brkNone, dy brkOut) (d brkBin, err error) {
			err = put(x.Stream(), x.View(in.A), neg, x.View(in.A))
			d, err2 := slopes(x, in, dy)
			return d, errors.Join(err, err2)
		}
	})
	must(t, op, brkCase(), "between Forward and Backward input A is negated")
}

// Right ops that must not fail.

// No differentiable input.
type brkInt struct {
	X autodiff.Tensor `op:"[n] i32 nograd"`
}
type brkVec struct {
	Y autodiff.Tensor `op:"[n] f32"`
}

func TestRegressNoDifferentiableInput(t *testing.T) {
	op := autodiff.New("brk_cast", autodiff.Spec[brkNone, brkInt, brkVec, brkNone]{
		Forward: func(x *autodiff.Exec, _ brkNone, in brkInt) (o brkVec, s brkNone, err error) {
			o.Y = x.New(dtype.F32, in.X.Dim(0))
			return o, s, put(x.Stream(), x.View(o.Y), func(v ...float64) float64 { return v[0] }, x.View(in.X))
		},
	})
	r, err := gate.Check(brkSim(t), op, gate.Case[brkNone]{Name: "4", Runs: 2, In: []gate.Input{{Type: dtype.I32, Shape: []int{4}, Data: []float64{1, 2, 3, 4}}},
		Reference: func(_ brkNone, in [][]float64) [][]float64 { return [][]float64{in[0]} }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Err() != nil {
		t.Errorf("a right op fails:\n%s", r)
	}
}

// Scalar output, optional input unset and set, an integer output.
type brkOpt struct {
	X autodiff.Tensor `op:"[n] f32"`
	M autodiff.Tensor `op:"[n] i32 nograd optional"`
	B autodiff.Tensor `op:"[n] f32 optional"`
}
type brkScalars struct {
	L autodiff.Tensor `op:"[] f32"`
	I autodiff.Tensor `op:"[n] i32"`
}

func TestRegressOptionalScalarInteger(t *testing.T) {
	op := autodiff.New("brk_optional", autodiff.Spec[brkNone, brkOpt, brkScalars, brkNone]{
		Forward: func(x *autodiff.Exec, _ brkNone, in brkOpt) (o brkScalars, s brkNone, err error) {
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
		Backward: func(x *autodiff.Exec, _ brkNone, in brkOpt, _ brkNone, dy brkScalars) (d brkOpt, err error) {
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
		r, err := gate.Check(brkSim(t), op, gate.Case[brkNone]{Name: name, Runs: 2, In: in,
			Reference: func(_ brkNone, in [][]float64) [][]float64 {
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
type brkSeven struct{ A, B, C, D, E, F, G autodiff.Tensor }

func TestRegressSevenOutputs(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v", r)
		}
	}()
	op := autodiff.New("brk_seven", autodiff.Spec[brkNone, brkUn, brkSeven, brkNone]{
		Forward: func(x *autodiff.Exec, _ brkNone, in brkUn) (brkSeven, brkNone, error) {
			return brkSeven{in.X, in.X, in.X, in.X, in.X, in.X, in.X}, brkNone{}, nil
		},
		Backward: func(x *autodiff.Exec, _ brkNone, in brkUn, _ brkNone, dy brkSeven) (d brkUn, err error) {
			d.X = x.Like(in.X)
			return d, put(x.Stream(), x.View(d.X), func(v ...float64) float64 { return v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] },
				x.View(dy.A), x.View(dy.B), x.View(dy.C), x.View(dy.D), x.View(dy.E), x.View(dy.F), x.View(dy.G))
		},
	})
	r, err := gate.Check(brkSim(t), op, gate.Case[brkNone]{Name: "7", Runs: 1, In: []gate.Input{{Type: dtype.F32, Shape: []int{2, 2}}},
		Reference: func(_ brkNone, in [][]float64) [][]float64 {
			return [][]float64{in[0], in[0], in[0], in[0], in[0], in[0], in[0]}
		}})
	if err != nil || r.Err() != nil {
		t.Errorf("%v\n%s", err, r)
	}
}

func TestRegressEmptyAndShort(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v", r)
		}
	}()
	op := mutant("brk_empty", func(*autodiff.Spec[brkNone, brkBin, brkOut, brkNone]) {})
	c := brkCase()
	c.In = []gate.Input{{Type: dtype.F32, Shape: []int{0, 5}}, {Type: dtype.F32, Shape: []int{0, 5}}}
	r, err := gate.Check(brkSim(t), op, c)
	if err != nil || r.Err() != nil {
		t.Errorf("no rows: %v\n%s", err, r)
	}
	c = brkCase()
	c.Gradient = func(_ brkNone, in, dy [][]float64) [][]float64 {
		d := make([]float64, len(in[0]))
		for i := range d {
			d[i] = in[1][i] * dy[0][i]
		}
		return [][]float64{d}
	}
	if _, err := gate.Check(brkSim(t), op, c); err == nil {
		t.Error("a Gradient that is short is accepted")
	}
	c = brkCase()
	c.Reference = func(_ brkNone, in [][]float64) [][]float64 { return nil } // nothing is compared
	if r, err := gate.Check(brkSim(t), op, c); err == nil && r.Err() == nil {
		t.Errorf("a Reference without outputs passes:\n%s", r)
	}
}
