//go:build !gotilegen

package optim_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

func tensorOf(t *testing.T, s *device.Stream, dt dtype.Type, v []float64, shape ...int) device.Tensor {
	t.Helper()
	x, err := s.NewTensor(dt, shape...)
	if err == nil {
		err = device.UploadFloats(s, x, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// adamW is an optimizer whose only limit is one that no test reaches.
func adamW(t *testing.T, s *device.Stream, params ...*autodiff.Param) *optim.AdamW {
	t.Helper()
	o, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, params...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

// withGradient is a tape on which p has the gradient dy.
func withGradient(t *testing.T, s *device.Stream, p *autodiff.Param, dy device.Tensor) *autodiff.Tape {
	t.Helper()
	tp, err := autodiff.NewTape(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := tp.BackwardFrom(autodiff.Seed{Of: ops.AddScalar(tp, tp.Param(p), 0), Grad: dy}); err != nil {
		t.Fatal(err)
	}
	return tp
}

// What an optimizer cannot train is refused when it is made.
func TestNewAdamWRefuses(t *testing.T) {
	s := open(t)
	x := tensorOf(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	rows, err := device.View(x.Buffer(), 0, dtype.F32, []int{2, 1}, []int{2, 1})
	if err != nil {
		t.Fatal(err)
	}
	p := autodiff.NewParam("p", x)
	part, err := device.View(x.Buffer(), 3, dtype.F32, []int{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		s      *device.Stream
		config optim.Config
		params []*autodiff.Param
		want   error
	}{
		"no stream":                  {nil, optim.Config{}, []*autodiff.Param{p}, autodiff.ErrUnset},
		"a parameter that is nil":    {s, optim.Config{}, []*autodiff.Param{p, nil}, autodiff.ErrUnset},
		"a parameter twice":          {s, optim.Config{}, []*autodiff.Param{p, p}, autodiff.ErrSpec},
		"two of one memory":          {s, optim.Config{}, []*autodiff.Param{p, autodiff.NewParam("q", x)}, autodiff.ErrSpec},
		"memory that overlaps":       {s, optim.Config{}, []*autodiff.Param{autodiff.NewParam("part", part), p}, autodiff.ErrSpec},
		"a parameter without memory": {s, optim.Config{}, []*autodiff.Param{autodiff.NewParam("z", device.Tensor{})}, device.ErrShape},
		"memory in strides":          {s, optim.Config{}, []*autodiff.Param{autodiff.NewParam("rows", rows)}, device.ErrShape},
		"of another device":          {open(t), optim.Config{}, []*autodiff.Param{p}, device.ErrWrongDevice},
		"a beta of 1":                {s, optim.Config{Beta1: 1}, nil, autodiff.ErrSpec},
		"a limit that is negative":   {s, optim.Config{Clip: -1}, nil, autodiff.ErrSpec},
		"a decay that is NaN":        {s, optim.Config{Decay: float32(math.NaN())}, nil, autodiff.ErrSpec},
	} {
		if o, err := optim.NewAdamW(c.s, c.config, c.params...); !errors.Is(err, c.want) || o != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A step that is refused changes no parameter.
func TestStepRefuses(t *testing.T) {
	s := open(t)
	p := autodiff.NewParam("p", tensorOf(t, s, dtype.F32, []float64{1, 2}, 2))
	q := autodiff.NewParam("q", tensorOf(t, s, dtype.F32, []float64{1, 2}, 2))
	dy := tensorOf(t, s, dtype.F32, []float64{1, 1}, 2)
	other, err := s.Device().NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	kept := errors.New("an earlier error")
	for name, c := range map[string]struct {
		step func() (*autodiff.Tape, error)
		want error
		tape bool // the tape keeps the error
	}{
		"without Next": {func() (*autodiff.Tape, error) {
			tp := withGradient(t, s, p, dy)
			return tp, adamW(t, s, p).Step(tp)
		}, autodiff.ErrUnset, false},
		"without the second Next": {func() (*autodiff.Tape, error) {
			r := autodiff.NewParam("r", tensorOf(t, s, dtype.F32, []float64{1, 2}, 2))
			first, o := withGradient(t, s, r, dy), adamW(t, s, r)
			if err := errors.Join(o.Next(0), o.Step(first)); err != nil {
				t.Fatal(err)
			}
			tp := withGradient(t, s, r, dy)
			return tp, o.Step(tp)
		}, autodiff.ErrUnset, false},
		"twice on one tape": {func() (*autodiff.Tape, error) {
			r := autodiff.NewParam("r", tensorOf(t, s, dtype.F32, []float64{1, 2}, 2))
			tp, o := withGradient(t, s, r, dy), adamW(t, s, r)
			if err := errors.Join(o.Next(1), o.Step(tp)); err != nil {
				t.Fatal(err)
			}
			before, err := device.DownloadFloats(s, r.Data())
			if err != nil {
				t.Fatal(err)
			}
			refused := errors.Join(o.Next(1), o.Step(tp))
			if after, err := device.DownloadFloats(s, r.Data()); err != nil || !slices.Equal(before, after) {
				t.Errorf("a second Step on one tape moved %v to %v, %v", before, after, err)
			}
			return tp, refused
		}, autodiff.ErrSpec, false},
		"a tape of another stream": {func() (*autodiff.Tape, error) {
			tp, o := withGradient(t, other, p, dy), adamW(t, s, p)
			return tp, errors.Join(o.Next(1), o.Step(tp))
		}, autodiff.ErrForeign, false},
		"a parameter without a gradient": {func() (*autodiff.Tape, error) {
			tp, o := withGradient(t, s, p, dy), adamW(t, s, p, q)
			return tp, errors.Join(o.Next(1), o.Step(tp))
		}, autodiff.ErrUnreached, true},
		"a tape with an error": {func() (*autodiff.Tape, error) {
			tp, o := withGradient(t, s, p, dy), adamW(t, s, p)
			tp.Fail(kept)
			return tp, errors.Join(o.Next(1), o.Step(tp))
		}, kept, true},
		"a closed optimizer": {func() (*autodiff.Tape, error) {
			tp, o := withGradient(t, s, p, dy), adamW(t, s, p)
			if err := errors.Join(o.Close(), o.Close()); err != nil {
				t.Errorf("closing twice: %v", err)
			}
			return tp, o.Next(1)
		}, autodiff.ErrClosed, false},
	} {
		tp, err := c.step()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if _, closing := tp.Close(); errors.Is(closing, c.want) != c.tape {
			t.Errorf("%s: the tape has the error %v", name, closing)
		}
		if v, err := device.DownloadFloats(s, p.Data()); err != nil || v[0] != 1 || v[1] != 2 {
			t.Errorf("%s: the parameter is %v, %v", name, v, err)
		}
	}
}

// Without a limit gradients whose squares are infinite in f32 are not scaled.
func TestNoLimit(t *testing.T) {
	s := open(t)
	p := autodiff.NewParam("p", tensorOf(t, s, dtype.F32, []float64{1, 2}, 2))
	o, err := optim.NewAdamW(s, optim.Config{}, p)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	tp := withGradient(t, s, p, tensorOf(t, s, dtype.F32, []float64{1.5e19, 1.5e19}, 2))
	if err := errors.Join(o.Next(0.5), o.Step(tp)); err != nil {
		t.Fatal(err)
	}
	tp.Close()
	if v, err := device.DownloadFloats(s, p.Data()); err != nil || v[0] != 0.5 || v[1] != 1.5 {
		t.Errorf("the parameter is %v, %v, want [0.5 1.5]", v, err)
	}
}

// Parameters of all types, of no element and of more than a block's, with another beside them.
func TestSizesAndTypes(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.F32, dtype.F16, dtype.BF16} {
		for _, n := range []int{0, 1, 7, 2049} {
			t.Run(fmt.Sprintf("%v/%d", dt, n), func(t *testing.T) {
				s := open(t)
				ones := make([]float64, n)
				for i := range ones {
					ones[i] = 1
				}
				p := autodiff.NewParam("p", tensorOf(t, s, dt, make([]float64, n), n))
				q := autodiff.NewParam("q", tensorOf(t, s, dtype.F32, []float64{1}, 1, 1))
				o := adamW(t, s, p, q)
				tp, err := autodiff.NewTape(s)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(
					tp.BackwardFrom(
						autodiff.Seed{Of: ops.AddScalar(tp, tp.Param(p), 0), Grad: tensorOf(t, s, dt, ones, n)},
						autodiff.Seed{Of: ops.AddScalar(tp, tp.Param(q), 0), Grad: tensorOf(t, s, dtype.F32, []float64{-1}, 1, 1)}),
					o.Next(0.5), o.Step(tp),
				); err != nil {
					t.Fatal(err)
				}
				if _, err := tp.Close(); err != nil {
					t.Fatal(err)
				}
				v, err := device.DownloadFloats(s, p.Data())
				for i, x := range v {
					if math.Abs(x+0.5) > 1e-2 {
						t.Fatalf("element %d is %v, want -0.5", i, x)
					}
				}
				w, err2 := device.DownloadFloats(s, q.Data())
				norm, err3 := o.Norm()
				if err := errors.Join(err, err2, err3); err != nil || math.Abs(w[0]-1.5) > 1e-5 || math.Abs(norm-math.Sqrt(float64(n+1))) > 1e-3 {
					t.Errorf("%v: the other parameter is %v, want 1.5; the norm %v", err, w, norm)
				}
			})
		}
	}
}

// Next within a capture is refused, and leaves the optimizer as it was.
func TestNextInCapture(t *testing.T) {
	s := open(t)
	o := adamW(t, s, autodiff.NewParam("p", tensorOf(t, s, dtype.F32, []float64{1, 2}, 2)))
	if _, err := s.Capture(func() error { return o.Next(1) }); !errors.Is(err, device.ErrCapture) || !strings.Contains(err.Error(), "before each replay") {
		t.Errorf("Next in a capture: %v", err)
	}
	for range 6 { // more than there are uploads under way at once
		if err := o.Next(1); err != nil {
			t.Error(err)
		}
	}
}

// What a failed NewAdamW gives may be closed.
func TestNoOptimizerCloses(t *testing.T) {
	if err := (*optim.AdamW)(nil).Close(); err != nil {
		t.Error(err)
	}
}
