package autodiff_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// A panic in an op goes on, and the tape can be closed, the pool used.
func TestPanicInForward(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	pool := autodiff.NewPool(s)
	defer pool.Close()
	tp := tape(t, s, autodiff.WithPool(pool))
	phase := s.Phase()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) { x.Like(in.X); panic("boom") }}, unaryIn{tp.Param(p)})
	}()
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrPanic) || pool.Stats().InUse != 0 {
		t.Errorf("Close gives %v; %d bytes are in use", err, pool.Stats().InUse)
	}
	if s.Phase() != phase {
		t.Errorf("the stream's phase is %q, it was %q", s.Phase(), phase)
	}
}

// Nothing that a user can pass makes this package panic; each gets the sentinel that is documented.
func TestMisuse(t *testing.T) {
	s := sim(t)
	x := tensor(t, s, dtype.F32, []float64{1, 2}, 1, 2)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	shape := func(dims ...int) func() error {
		return func() error {
			tp := tape(t, s)
			faulty.Apply(tp, faultySpec{forward: func(e *autodiff.Exec, in unaryIn) (out, error) {
				return out{e.New(dtype.F16, dims...)}, nil
			}}, unaryIn{tp.Input("x", x)})
			_, err := tp.Close()
			return err
		}
	}
	for name, c := range map[string]struct {
		do   func() error
		want error
	}{
		"a pool without a stream": {func() error {
			_, err := autodiff.Capture(autodiff.NewPool(nil), func(*autodiff.Recording) error { return nil })
			return err
		}, autodiff.ErrUnset},
		"no pool":                 {func() error { _, err := autodiff.Capture(nil, nil); return err }, autodiff.ErrUnset},
		"no step":                 {func() error { _, err := autodiff.Capture(pool, nil); return err }, autodiff.ErrUnset},
		"no stream":               {func() error { _, err := autodiff.NewTape(nil); return err }, autodiff.ErrUnset},
		"no phase":                {func() error { _, err := autodiff.NewTape(s, autodiff.WithPhase("test")); return err }, autodiff.ErrSpec},
		"no strategy":             {func() error { _, err := autodiff.NewTape(s, autodiff.WithStrategy("")); return err }, autodiff.ErrSpec},
		"a control of no stream":  {func() error { _, err := autodiff.NewControl(nil, "a"); return err }, autodiff.ErrUnset},
		"a control of no numbers": {func() error { _, err := autodiff.NewControl(s); return err }, autodiff.ErrUnset},
		"a closed control": {func() error {
			c, err := autodiff.NewControl(s, "a")
			return errors.Join(err, c.Close(), c.Upload())
		}, autodiff.ErrClosed},
		"no update":          {func() error { tp := tape(t, s); defer tp.Close(); return tp.Update("x", nil) }, autodiff.ErrUnset},
		"no parameter":       {func() error { tp := tape(t, s); tp.Param(nil); _, err := tp.Close(); return err }, autodiff.ErrUnset},
		"sizes beyond int":   {shape(1<<40, 1<<40), device.ErrShape},
		"bytes beyond int":   {shape(1<<62, 1), device.ErrShape},
		"more than there is": {shape(1<<40, 1<<10), device.ErrOutOfMemory},
		"a closed pool": {func() error {
			pool := autodiff.NewPool(s)
			tp := tape(t, s, autodiff.WithPool(pool))
			pool.Close()
			ops.Add(tp, tp.Input("x", x), tp.Input("x", x))
			_, err := tp.Close()
			return err
		}, autodiff.ErrClosed},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if tp, err := autodiff.NewTape(s, nil); err != nil { // an option may be nil
		t.Error(err)
	} else {
		tp.Close()
	}
}

// On a nil Tape, which NewTape gives with its error, nothing is done, and every call says so.
func TestNilTape(t *testing.T) {
	s := sim(t)
	x := tensor(t, s, dtype.F32, []float64{1, 2}, 1, 2)
	var tp *autodiff.Tape
	in := tp.Input("x", x)
	for name, set := range map[string]bool{
		"Input": in.Set(), "TrackedInput": tp.TrackedInput("x", x).Set(), "Param": tp.Param(autodiff.NewParam("p", x)).Set(),
		"Apply": mul.Apply(tp, none{}, binaryIn{in, in}).Y.Set(), "ops": ops.Add(tp, in, in).Set(),
		"ApplyList": mul.ApplyList(tp, none{}, []autodiff.Tensor{in, in})[0].Set(), "no ports": mul.ApplyList(tp, none{}, nil)[0].Set(),
		"Block": autodiff.Block(tp, func() autodiff.Tensor { return mul.Apply(tp, none{}, binaryIn{in, in}).Y }).Set(),
	} {
		if set {
			t.Errorf("%s of a nil tape gives a tensor", name)
		}
	}
	books, closing := tp.Close()
	_, declared := ops.MulRowsOp.Declared(tp, ops.None{}, nil)
	for name, err := range map[string]error{
		"Err": tp.Err(), "Fail": tp.Fail(nil), "Backward": tp.Backward(in), "BackwardFrom": tp.BackwardFrom(autodiff.Seed{Of: in, Grad: x}),
		"Update": tp.Update("sgd", func(*autodiff.Exec) error { return nil }), "CopyTo": tp.CopyTo(x, in), "Close": closing, "Declared": declared,
	} {
		if !errors.Is(err, autodiff.ErrUnset) {
			t.Errorf("%s of a nil tape: %v", name, err)
		}
	}
	if tp.Stream() != nil || tp.Phase() != "" || books.String() != "" {
		t.Errorf("a nil tape has the stream %v, the phase %q, the books %q", tp.Stream(), tp.Phase(), books)
	}
}

// The line that is blamed is that of the caller, through the functions of kernels/ops.
func TestCallersLine(t *testing.T) {
	s := sim(t)
	a, b := tensor(t, s, dtype.F32, []float64{1, 2}, 2), tensor(t, s, dtype.F32, []float64{1, 2, 3}, 3)
	tp := tape(t, s)
	ops.Add(tp, tp.Input("a", a), tp.Input("b", b))
	if _, err := tp.Close(); err == nil || !strings.HasPrefix(err.Error(), "ops.go:") || !strings.Contains(err.Error(), ", called from misuse_test.go:") {
		t.Errorf("the caller's line is missing: %v", err)
	}
}

// Use by two goroutines at once is seen.
func TestConcurrentUse(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1}, 1, 1))
	tp := tape(t, s)
	faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) {
		done := make(chan bool)
		go func() {
			defer close(done)
			tp.Input("second", tensor(t, s, dtype.F32, []float64{1}, 1, 1))
		}()
		<-done
		return out{in.X}, nil
	}}, unaryIn{tp.Param(p)})
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrConcurrent) {
		t.Errorf("Close: %v", err)
	}
}

// What a failed constructor gives may be closed.
func TestNoneCloses(t *testing.T) {
	if err := errors.Join((*autodiff.Pool)(nil).Close(), (*autodiff.Control)(nil).Close(), (*autodiff.Program)(nil).Close()); err != nil {
		t.Error(err)
	}
}
