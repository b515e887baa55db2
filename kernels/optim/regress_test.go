//go:build !gotilegen

package optim_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

func brkSim(t *testing.T) *device.Stream {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d.Stream()
}

func brkTensor(t *testing.T, s *device.Stream, dt dtype.Type, v []float64, shape ...int) device.Tensor {
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

// A parameter that is a strided view: AdamW must not write between its rows.
func TestRegressStridedParameter(t *testing.T) {
	s := brkSim(t)
	whole := brkTensor(t, s, dtype.F32, []float64{1, 2, 100, 200, 3, 4, 300, 400}, 2, 4)
	x, err := device.View(whole.Buffer(), 0, dtype.F32, []int{2, 2}, []int{4, 1})
	if err != nil {
		t.Fatal(err)
	}
	w := brkTensor(t, s, dtype.F32, []float64{1, 1}, 2)
	dy := brkTensor(t, s, dtype.F32, []float64{1, 1, 1, 1}, 2, 2)
	p := autodiff.NewParam("x", x)
	opt, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p)
	if err != nil {
		t.Log(err)
		return
	}
	defer opt.Close()
	tp, _ := autodiff.NewTape(s)
	y := rmsnorm.Op.Apply(tp, rmsnorm.Params{Eps: 1e-5}, rmsnorm.In{X: tp.Param(p), W: tp.Input("w", w)}).Y
	if tp.Err() != nil {
		y = ops.MulRows(tp, tp.Param(p), tp.Input("w", w))
	}
	if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: dy}); err != nil {
		t.Log(err)
		return
	}
	opt.Next(0.5)
	if err := opt.Step(tp); err != nil {
		t.Log(err)
		return
	}
	tp.Close()
	if v, _ := device.DownloadFloats(s, whole); v[2] != 100 || v[3] != 200 || v[4] == 3 {
		t.Errorf("the memory is now %v: numbers beside the parameter were changed", v)
	}
}

func brkStep(t *testing.T, s *device.Stream, p *autodiff.Param, dy device.Tensor) *autodiff.Tape {
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

// Step without Next.
func TestRegressStepWithoutNext(t *testing.T) {
	s := brkSim(t)
	p := autodiff.NewParam("p", brkTensor(t, s, dtype.F32, []float64{1, 2}, 2))
	opt, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p)
	if err != nil {
		t.Fatal(err)
	}
	defer opt.Close()
	tp := brkStep(t, s, p, brkTensor(t, s, dtype.F32, []float64{1, 1}, 2))
	err = opt.Step(tp)
	tp.Close()
	if v, _ := device.DownloadFloats(s, p.Data()); err == nil && math.IsNaN(v[0]) {
		t.Errorf("the parameter is %v and there is no error", v)
	}
}

// No limit means none.
func TestRegressNoLimit(t *testing.T) {
	s := brkSim(t)
	p := autodiff.NewParam("p", brkTensor(t, s, dtype.F32, []float64{1, 2}, 2))
	opt, err := optim.NewAdamW(s, optim.Config{}, p)
	if err != nil {
		t.Fatal(err)
	}
	defer opt.Close()
	opt.Next(0.5)
	tp := brkStep(t, s, p, brkTensor(t, s, dtype.F32, []float64{1.5e19, 1.5e19}, 2))
	if err := opt.Step(tp); err != nil {
		t.Fatal(err)
	}
	tp.Close()
	if v, _ := device.DownloadFloats(s, p.Data()); v[0] != 0.5 {
		t.Errorf("gradients of 1.5e19, no limit: the parameter is %v, want [0.5 1.5]", v)
	}
}

// One parameter twice.
func TestRegressParameterTwice(t *testing.T) {
	s := brkSim(t)
	p := autodiff.NewParam("p", brkTensor(t, s, dtype.F32, []float64{1, 2}, 2))
	opt, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p, p)
	if err != nil {
		return
	}
	defer opt.Close()
	opt.Next(0.5)
	tp := brkStep(t, s, p, brkTensor(t, s, dtype.F32, []float64{1, 1}, 2))
	err = opt.Step(tp)
	tp.Close()
	if v, _ := device.DownloadFloats(s, p.Data()); err == nil {
		t.Errorf("accepted; the parameter moved to %v with the rate 0.5", v)
	}
}

// The optimizer returns the tape's first error.
func TestRegressStepAfterError(t *testing.T) {
	s := brkSim(t)
	x := brkTensor(t, s, dtype.F32, []float64{1, 2}, 2)
	z := brkTensor(t, s, dtype.F32, []float64{1, 2, 3}, 3)
	p := autodiff.NewParam("p", x)
	opt, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p)
	if err != nil {
		t.Fatal(err)
	}
	defer opt.Close()
	tp, _ := autodiff.NewTape(s)
	ops.Add(tp, tp.Param(p), tp.Input("z", z))
	opt.Next(1)
	if err := opt.Step(tp); !errors.Is(err, tp.Err()) {
		t.Errorf("Step returned %v; the tape's first error is %v", err, tp.Err())
	}
	tp.Close()
}

// A parameter without a gradient is kept by the tape.
func TestRegressMissingGradientKept(t *testing.T) {
	s := brkSim(t)
	p := autodiff.NewParam("p", brkTensor(t, s, dtype.F32, []float64{1, 2}, 2))
	q := autodiff.NewParam("q", brkTensor(t, s, dtype.F32, []float64{1, 2}, 2))
	opt, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p, q)
	if err != nil {
		t.Fatal(err)
	}
	defer opt.Close()
	tp := brkStep(t, s, p, brkTensor(t, s, dtype.F32, []float64{1, 1}, 2))
	opt.Next(1)
	if err := opt.Step(tp); err == nil {
		t.Error("no error")
	}
	if _, err := tp.Close(); err == nil {
		t.Error("Close returns nil though the optimizer refused the step")
	}
}

func TestRegressSizesAndTypes(t *testing.T) {
	for _, dt := range []dtype.Type{dtype.F32, dtype.F16, dtype.BF16} {
		for _, n := range []int{0, 1, 7, 2049} {
			t.Run(fmt.Sprint(dt, n), func(t *testing.T) {
				s := brkSim(t)
				p := autodiff.NewParam("p", brkTensor(t, s, dt, make([]float64, n), n))
				q := autodiff.NewParam("q", brkTensor(t, s, dtype.F32, []float64{1}, 1, 1))
				opt, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p, q)
				if err != nil {
					t.Fatal(err)
				}
				defer opt.Close()
				g := make([]float64, n)
				for i := range g {
					g[i] = 1
				}
				tp, _ := autodiff.NewTape(s)
				if err := tp.BackwardFrom(autodiff.Seed{Of: ops.AddScalar(tp, tp.Param(p), 0), Grad: brkTensor(t, s, dt, g, n)},
					autodiff.Seed{Of: ops.AddScalar(tp, tp.Param(q), 0), Grad: brkTensor(t, s, dtype.F32, []float64{-1}, 1, 1)}); err != nil {
					t.Fatal(err)
				}
				opt.Next(0.5)
				if err := opt.Step(tp); err != nil {
					t.Fatal(err)
				}
				if _, err := tp.Close(); err != nil {
					t.Fatal(err)
				}
				v, _ := device.DownloadFloats(s, p.Data())
				for _, x := range v {
					if math.Abs(x+0.5) > 1e-2 {
						t.Fatalf("%v", v[:1])
					}
				}
				if v, _ := device.DownloadFloats(s, q.Data()); math.Abs(v[0]-1.5) > 1e-5 {
					t.Errorf("q %v", v)
				}
				if nrm, _ := opt.Norm(); math.Abs(nrm-math.Sqrt(float64(n+1))) > 1e-3 {
					t.Errorf("norm %v", nrm)
				}
			})
		}
	}
}

func TestRegressMisuse(t *testing.T) {
	s := brkSim(t)
	try := func(name string, f func()) {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s panics: %v", name, r)
			}
		}()
		f()
	}
	p := autodiff.NewParam("p", brkTensor(t, s, dtype.F32, []float64{1, 2}, 2))
	try("nil stream", func() { optim.NewAdamW(nil, optim.Config{Clip: 1e9}, p) })
	try("nil parameter", func() { optim.NewAdamW(s, optim.Config{Clip: 1e9}, nil) })
	try("zero tensor", func() {
		o, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, autodiff.NewParam("z", device.Tensor{}))
		t.Logf("zero tensor: %v", err)
		if o != nil {
			o.Close()
		}
	})
	try("no parameters", func() {
		o, err := optim.NewAdamW(s, optim.Config{Clip: 1e9})
		if err != nil {
			t.Log(err)
			return
		}
		defer o.Close()
		tp, _ := autodiff.NewTape(s)
		o.Next(1)
		if err := o.Step(tp); err != nil {
			t.Logf("no parameters: %v", err)
		}
		tp.Close()
	})
	try("closed", func() {
		o, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p)
		if err != nil {
			t.Fatal(err)
		}
		o.Close()
		o.Next(1)
	})
	try("closed twice", func() {
		o, _ := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p)
		if err := errors.Join(o.Close(), o.Close()); err != nil {
			t.Log(err)
		}
	})
}

// Next within a captured step is refused, and leaves the optimizer as it was.
func TestRegressNextInCapture(t *testing.T) {
	s := brkSim(t)
	p := autodiff.NewParam("p", brkTensor(t, s, dtype.F32, []float64{1, 2}, 2))
	o, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for range 6 {
		if err := o.Next(1); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Capture(func() error { return o.Next(1) })
	if !errors.Is(err, device.ErrCapture) {
		t.Fatal(err)
	}
	for range 6 {
		if err := o.Next(1); err != nil {
			t.Error(err)
		}
	}
}

// A tape on another stream.
func TestRegressOtherStream(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := d.Stream()
	other, err := d.NewStream()
	if err != nil {
		t.Skip(err)
	}
	defer other.Close()
	p := autodiff.NewParam("p", brkTensor(t, s, dtype.F32, []float64{1, 2}, 2))
	o, err := optim.NewAdamW(s, optim.Config{Clip: 1e9}, p)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	tp := brkStep(t, other, p, brkTensor(t, s, dtype.F32, []float64{1, 1}, 2))
	o.Next(1)
	if err := o.Step(tp); err == nil {
		t.Error("a step on another stream than the Control's uploads was accepted")
	}
	tp.Close()
}
