package autodiff_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// What a graph cannot hold is an error of its own type, however a step comes by it; the pool and the stream go on.
func TestCaptureRefuses(t *testing.T) {
	s := sim(t)
	r := newRegression(t, s)
	pool, small := autodiff.NewPool(s), autodiff.NewPool(s)
	defer pool.Close()
	defer small.Close()
	defer r.capture(t, s, pool).Close()
	other, err := s.Device().NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	gone, far := tensor(t, s, dtype.F32, []float64{1}, 1), tensor(t, sim(t), dtype.F32, []float64{1}, 1)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pool *autodiff.Pool
		step func(tp *autodiff.Tape) error
		want error
	}{
		"a pool that would grow": {small, r.step, autodiff.ErrGrow},
		"a tape with a pool of its own": {pool, func(*autodiff.Tape) error {
			_, err := autodiff.NewTape(s)
			return err
		}, autodiff.ErrGrow},
		"a tape of another stream": {pool, func(*autodiff.Tape) error {
			_, err := autodiff.NewTape(other, autodiff.WithPool(pool))
			return err
		}, autodiff.ErrForeign},
		"work on another stream":         {pool, func(*autodiff.Tape) error { return other.Fill(r.grad.Buffer(), 0, 4, 0) }, device.ErrCapture},
		"allocating on the device":       {pool, func(*autodiff.Tape) error { _, err := s.Device().Alloc(64); return err }, device.ErrCapture},
		"waiting":                        {pool, func(*autodiff.Tape) error { return s.Sync(context.Background()) }, device.ErrCapture},
		"reading":                        {pool, func(tp *autodiff.Tape) error { _, err := tp.Input("x", r.x).Floats(); return err }, device.ErrCapture},
		"looking for what is not finite": {pool, nil, device.ErrCapture},
		"uploading":                      {pool, func(*autodiff.Tape) error { return device.UploadFloats(s, r.loss, []float64{1}) }, device.ErrCapture},
		"freeing an input":               {pool, func(*autodiff.Tape) error { return r.y.Close() }, device.ErrCapture},
		"an input that was freed":        {pool, func(tp *autodiff.Tape) error { tp.Input("gone", gone); return tp.Err() }, device.ErrClosed},
		"memory of another device":       {pool, func(tp *autodiff.Tape) error { tp.Input("far", far); return tp.Err() }, device.ErrWrongDevice},
		"two inputs of one name":         {pool, func(tp *autodiff.Tape) error { tp.Input("x", r.x); tp.Input("x", r.y); return nil }, autodiff.ErrSpec},
		"what went wrong in the step":    {pool, func(tp *autodiff.Tape) error { ops.Add(tp, tp.Input("x", r.x), tp.Input("l", r.loss)); return nil }, device.ErrShape},
	} {
		p, err := autodiff.Capture(c.pool, func(rec *autodiff.Recording) error {
			if c.step == nil {
				tp, err := rec.Tape(autodiff.Anomaly())
				if err != nil {
					return err
				}
				return r.step(tp)
			}
			tp, err := rec.Tape()
			if err != nil {
				return err
			}
			return c.step(tp)
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if p != nil {
			p.Close()
		}
		if st := c.pool.Stats(); st.InUse != 0 {
			t.Errorf("%s: %d bytes are in use", name, st.InUse)
		}
	}
	if err := r.capture(t, s, pool).Close(); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// Options that read on the host are refused by their names, before any op; what goes wrong in a step is said once.
func TestCaptureErrors(t *testing.T) {
	s := sim(t)
	r := newRegression(t, s)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	capture := func(step func(tp *autodiff.Tape) error, opts ...autodiff.Option) error {
		_, err := autodiff.Capture(pool, func(rec *autodiff.Recording) error {
			tp, err := rec.Tape(opts...)
			if err != nil {
				return err
			}
			return step(tp)
		})
		return err
	}
	for name, o := range map[string]autodiff.Option{"Anomaly": autodiff.Anomaly(), "Audit": autodiff.Audit(1, 0)} {
		err := capture(func(*autodiff.Tape) error { t.Error("the step runs"); return nil }, o)
		if !errors.Is(err, device.ErrCapture) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := capture(func(tp *autodiff.Tape) error { return tp.Backward(tp.Input("x", r.x)) })
	if err == nil || strings.Count(err.Error(), "Backward") != 1 {
		t.Errorf("not one error: %v", err)
	}
	// An error of the tape that step keeps to itself, and one of its own.
	own := errors.New("own")
	err = capture(func(tp *autodiff.Tape) error { tp.Backward(tp.Input("x", r.x)); return own })
	if !errors.Is(err, own) || !strings.Contains(err.Error(), "Backward") {
		t.Errorf("not both errors: %v", err)
	}
}

// A replay writes over the pool's memory, so it is refused while a tape lives there.
func TestReplayOverATape(t *testing.T) {
	s := sim(t)
	r := newRegression(t, s)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	p := r.capture(t, s, pool)
	defer p.Close()
	tp := tape(t, s, autodiff.WithPool(pool))
	y := ops.Add(tp, tp.Input("x", r.x), tp.Param(r.w))
	if err := p.Replay(); !errors.Is(err, autodiff.ErrChanged) || !strings.Contains(err.Error(), "capture_refuse_test.go:") {
		t.Errorf("a replay over an open tape: %v", err)
	}
	equal(t, "y", floats(t, y, nil), []float64{1, 2, 3, 4})
	if _, err := tp.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Replay(); err != nil {
		t.Error(err)
	}
}

// A panic in a step ends the capture, and the pool can be used.
func TestPanicInCapture(t *testing.T) {
	s := sim(t)
	r := newRegression(t, s)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		autodiff.Capture(pool, func(*autodiff.Recording) error { panic("boom") })
	}()
	r.capture(t, s, pool).Close()
}

// An upload that a capture refuses does not spoil a Control.
func TestControlAfterCapture(t *testing.T) {
	s := sim(t)
	c, err := autodiff.NewControl(s, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err = s.Capture(func() error { return c.Upload() }); !errors.Is(err, device.ErrCapture) {
		t.Errorf("in a capture: %v", err)
	}
	for i := range 10 {
		if err := errors.Join(c.Set("a", float32(i)), c.Upload()); err != nil {
			t.Errorf("upload %d after it: %v", i, err)
		}
	}
	if v, err := device.DownloadFloats(s, c.Tensor()); err != nil || v[0] != 9 {
		t.Errorf("the number is %v, %v", v, err)
	}
}
