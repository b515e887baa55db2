//go:build !gotilegen

package optim_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/fixture"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, optim.Cases()) }

func open(t testing.TB) *device.Stream {
	t.Helper()
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d.Stream()
}

// model is a stack of norms with residuals and gates, that is to reproduce the target.
type model struct {
	s         *device.Stream
	w         []*autodiff.Param
	x, target device.Tensor
	loss      device.Tensor
	opt       *optim.AdamW
}

const rows, n, layers = 4, 24, 3

func newModel(t testing.TB, s *device.Stream, config optim.Config) *model {
	t.Helper()
	m := &model{s: s}
	tensor := func(data []float64, shape ...int) device.Tensor {
		d, err := device.NewTensor(s.Device(), dtype.F32, shape...)
		if err == nil {
			err = device.UploadFloats(s, d, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for i := range layers {
		m.w = append(m.w, autodiff.NewParam("w"+string(rune('0'+i)), tensor(fixture.Uniform(dtype.F32, uint64(i+1), n), n)))
	}
	m.x, m.target = tensor(fixture.Uniform(dtype.F32, 10, rows*n), rows, n), tensor(fixture.Uniform(dtype.F32, 11, rows*n), rows, n)
	m.loss = tensor([]float64{0})
	var err error
	if m.opt, err = optim.NewAdamW(s, config, m.w...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.opt.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// step applies the model, finds gradients and changes the parameters.
func (m *model) step(t *autodiff.Tape) error {
	x := t.Input("x", m.x)
	p := rmsnorm.Params{Eps: 1e-5}
	gated := rmsnorm.Params{Eps: 1e-5, Act: rmsnorm.Silu}
	h := rmsnorm.Op.Apply(t, p, rmsnorm.In{X: x, W: t.Param(m.w[0])}).Y
	a := rmsnorm.AddOp.Apply(t, p, rmsnorm.AddIn{X: h, R: x, W: t.Param(m.w[1])})
	y := rmsnorm.GatedOp.Apply(t, gated, rmsnorm.GatedIn{X: a.S, Z: a.Y, W: t.Param(m.w[2])}).Y
	loss := optim.SquaredError(t, y, t.Input("target", m.target))
	if err := t.Backward(loss); err != nil {
		return err
	}
	if err := m.opt.Step(t); err != nil {
		return err
	}
	return t.CopyTo(m.loss, loss.Detach("logged"))
}

func (m *model) state(t testing.TB) (out []float64) {
	t.Helper()
	for _, d := range append([]device.Tensor{m.loss}, m.w[0].Data(), m.w[1].Data(), m.w[2].Data()) {
		v, err := device.DownloadFloats(m.s, d)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v...)
	}
	return out
}

func eager(m *model, pool *autodiff.Pool, opts ...autodiff.Option) (*autodiff.Ledger, error) {
	if err := m.opt.Next(0.05); err != nil {
		return nil, err
	}
	t, err := autodiff.NewTape(m.s, append(opts, autodiff.WithPool(pool), autodiff.Strict())...)
	if err != nil {
		return nil, err
	}
	err = m.step(t)
	l, closing := t.Close()
	return l, errors.Join(err, closing)
}

// Training lowers the loss; a captured step does the same as an eager one, bit for bit, and its books are the sums.
func TestTrainEagerAndCaptured(t *testing.T) {
	const steps = 12
	s := open(t)
	a, b := newModel(t, s, optim.Config{Clip: 0.5, Decay: 0.01}), newModel(t, s, optim.Config{Clip: 0.5, Decay: 0.01})
	pool, poolB := autodiff.NewPool(s), autodiff.NewPool(s)
	defer pool.Close()
	defer poolB.Close()
	var first, last float64
	var books autodiff.Ledger
	for i := range steps {
		l, err := eager(a, pool)
		if err != nil {
			t.Fatal(err)
		}
		books.Add(l, 1)
		last = a.state(t)[0]
		if i == 0 {
			first = last
		}
	}
	if !(last < 0.8*first) {
		t.Errorf("the loss went from %g to %g", first, last)
	}

	l, err := eager(b, poolB) // fills the pool
	if err != nil {
		t.Fatal(err)
	}
	captured, err := autodiff.Capture(poolB, func(r *autodiff.Recording) error {
		tp, err := r.Tape(autodiff.Strict())
		if err != nil {
			return err
		}
		return b.step(tp)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer captured.Close()
	for range steps - 1 {
		if err := b.opt.Next(0.05); err != nil {
			t.Fatal(err)
		}
		if err := captured.Replay(); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
	}
	if !slices.Equal(a.state(t), b.state(t)) {
		t.Errorf("eager and captured training differ:\n%v\n%v", a.state(t)[:4], b.state(t)[:4])
	}
	l.Add(captured.Ledger(), 1)
	if l.String() != books.String() || !strings.Contains(books.String(), "rmsnorm=12/12 bwd=12 ref=0") {
		t.Errorf("the books are %q, eager ones %q", l, &books)
	}
	if captured.Nodes() < 15 || captured.Kernels()["adamw_f32"] != layers {
		t.Errorf("the graph has %d nodes: %v", captured.Nodes(), captured.Kernels())
	}
	// another input, by name
	other, err := device.NewTensor(s.Device(), dtype.F32, rows, n)
	if err == nil {
		err = device.UploadFloats(s, other, fixture.Uniform(dtype.F32, 77, rows*n))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(captured.Load("x", other), b.opt.Next(0), captured.Replay()); err != nil {
		t.Fatal(err)
	}
	if now := b.state(t); now[0] == a.state(t)[0] || !slices.Equal(now[1:], a.state(t)[1:]) {
		t.Error("another input and a rate of 0: the loss is the same, or parameters differ")
	}
	if err := captured.Load("y", other); err == nil || !strings.Contains(err.Error(), `no input "y"; it has ["target" "x"]`) {
		t.Errorf("an unknown input: %v", err)
	}
	if err := captured.Load("x", b.w[0].Data()); !errors.Is(err, device.ErrShape) {
		t.Errorf("an input of another shape: %v", err)
	}
}

// What a graph cannot hold is refused by a typed error, and the stream and the model go on.
func TestCaptureRefuses(t *testing.T) {
	s := open(t)
	m := newModel(t, s, optim.Config{})
	pool := autodiff.NewPool(s)
	defer pool.Close()
	capture := func(extra func(tp *autodiff.Tape) error) error {
		p, err := autodiff.Capture(pool, func(r *autodiff.Recording) error {
			tp, err := r.Tape()
			if err != nil {
				return err
			}
			if err := m.step(tp); err != nil {
				return err
			}
			if extra != nil {
				return extra(tp)
			}
			return nil
		})
		if err == nil {
			err = p.Close()
		}
		return err
	}
	if err := capture(nil); !errors.Is(err, autodiff.ErrGrow) || !strings.Contains(err.Error(), "optim_test.go:") {
		t.Errorf("a pool that grows: %v", err)
	}
	if _, err := eager(m, pool); err != nil {
		t.Fatal(err)
	}
	for name, extra := range map[string]func(tp *autodiff.Tape) error{
		"reading on the host": func(tp *autodiff.Tape) error { _, err := tp.Input("again", m.loss).Floats(); return err },
		"allocating": func(tp *autodiff.Tape) error {
			_, err := device.NewTensor(s.Device(), dtype.F32, 5)
			return err
		},
		"an upload": func(tp *autodiff.Tape) error { return m.opt.Next(1) },
	} {
		if err := capture(extra); !errors.Is(err, device.ErrCapture) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := capture(func(tp *autodiff.Tape) error {
		gone, err := s.Device().Alloc(64)
		_ = gone
		return err
	}); !errors.Is(err, device.ErrCapture) {
		t.Errorf("allocating a buffer: %v", err)
	}
	if err := capture(nil); err != nil {
		t.Errorf("after all that: %v", err)
	}
	if _, err := eager(m, pool); err != nil {
		t.Error(err)
	}
	if _, err := autodiff.Capture(nil, nil); !errors.Is(err, autodiff.ErrUnset) {
		t.Errorf("without a pool: %v", err)
	}
}

// An optimizer does nothing where a parameter has no gradient.
func TestNoGradientNoStep(t *testing.T) {
	s := open(t)
	m := newModel(t, s, optim.Config{})
	tp, err := autodiff.NewTape(s)
	if err != nil {
		t.Fatal(err)
	}
	x := tp.Input("x", m.x)
	h := rmsnorm.Op.Apply(tp, rmsnorm.Params{Eps: 1}, rmsnorm.In{X: x, W: tp.Param(m.w[0])}).Y
	if err := tp.Backward(optim.SquaredError(tp, h, x)); err != nil {
		t.Fatal(err)
	}
	if err := m.opt.Step(tp); !errors.Is(err, autodiff.ErrUnset) || !strings.Contains(err.Error(), "Step without Next") {
		t.Errorf("without Next: %v", err)
	}
	if err := m.opt.Next(0.1); err != nil {
		t.Fatal(err)
	}
	before := s.Launches()
	if err := m.opt.Step(tp); !errors.Is(err, autodiff.ErrUnreached) || !strings.Contains(err.Error(), "parameter w1 has no gradient") {
		t.Errorf("a parameter without a gradient: %v", err)
	}
	if s.Launches() != before {
		t.Error("the optimizer launched kernels")
	}
	tp.Close()
}

// The optimizer returns the tape's first error as it is, and refuses a tape of another stream.
func TestStepOnAnotherTape(t *testing.T) {
	s := open(t)
	m := newModel(t, s, optim.Config{})
	if err := m.opt.Next(0.1); err != nil {
		t.Fatal(err)
	}
	tp, err := autodiff.NewTape(s)
	if err != nil {
		t.Fatal(err)
	}
	rmsnorm.Op.Apply(tp, rmsnorm.Params{}, rmsnorm.In{X: tp.Input("x", m.x)})
	if err := m.opt.Step(tp); !errors.Is(err, autodiff.ErrUnset) || err != tp.Err() || !strings.Contains(err.Error(), "rmsnorm: W: ") {
		t.Errorf("after an error of the tape: %v", err)
	}
	tp.Close()
	other, err := s.Device().NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if tp, err = autodiff.NewTape(other); err != nil {
		t.Fatal(err)
	}
	if err := m.opt.Step(tp); !errors.Is(err, autodiff.ErrForeign) {
		t.Errorf("a tape on another stream: %v", err)
	}
	tp.Close()
}
