package autodiff_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// An op cannot change its tracked input by way of a view of it.
func TestMutateAliasOfTracked(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s)
	faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) {
		y := x.Alias(in.X, in.X.Shape()...)
		return out{y}, device.UploadFloats(x.Stream(), x.Mutate(y), []float64{10, 20, 30, 40})
	}}, unaryIn{tp.Param(p)})
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrChanged) {
		t.Errorf("Mutate of an Alias of a parameter: %v", err)
	}
	if v, err := device.DownloadFloats(s, p.Data()); err != nil || v[0] != 1 {
		t.Errorf("the parameter is %v, %v", v, err)
	}
}

// Nor can it fill it with zeros.
func TestZeroOfInput(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s)
	faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) {
		x.Zero(in.X)
		return out{in.X}, nil
	}}, unaryIn{tp.Param(p)})
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrChanged) {
		t.Errorf("Zero of an input: %v", err)
	}
	if v, err := device.DownloadFloats(s, p.Data()); err != nil || v[0] != 1 {
		t.Errorf("the parameter is %v, %v", v, err)
	}
}

// CopyTo into memory that a backward step reads is a change in place, at the line of the copy.
func TestCopyToOverInput(t *testing.T) {
	s := sim(t)
	a, b := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2), tensor(t, s, dtype.F32, []float64{5, 6, 7, 8}, 2, 2)
	tp := tape(t, s)
	y := mul.Apply(tp, none{}, binaryIn{tp.Param(autodiff.NewParam("p", b)), tp.Input("a", a)}).Y
	if err := tp.CopyTo(a, y.Detach("running")); err != nil {
		t.Fatal(err)
	}
	err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L)
	if !errors.Is(err, autodiff.ErrChanged) || strings.Count(err.Error(), "inplace_test.go:") != 2 || !strings.Contains(err.Error(), "times: B: ") {
		t.Errorf("after a copy over an input: %v", err)
	}
	tp.Close()
}

// An Update on another tape changes what this tape's backward step reads.
func TestUpdateOnAnotherTape(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	one, two := tape(t, s), tape(t, s)
	x := one.Param(p)
	l := total.Apply(one, none{}, unaryIn{mul.Apply(one, none{}, binaryIn{x, x}).Y}).L
	if err := two.Update("sgd", func(e *autodiff.Exec) error {
		return device.UploadFloats(s, e.Mutate(e.Param(p)), []float64{0, 0, 0, 0})
	}); err != nil {
		t.Fatal(err)
	}
	closed(t, two)
	if err := one.Backward(l); !errors.Is(err, autodiff.ErrChanged) || strings.Count(err.Error(), "inplace_test.go:") != 2 {
		t.Errorf("after an update on another tape: %v", err)
	}
	one.Close()
}

// Within an Update parameters come from the Exec; the tape itself is in use.
func TestParamWithinUpdate(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2}, 1, 2))
	words := autodiff.NewParam("words", tensor(t, s, dtype.I32, []float64{1, 2}, 1, 2))
	tp := tape(t, s)
	if err := tp.Update("sgd", func(x *autodiff.Exec) error {
		if first, again := x.Param(p), x.Param(p); first != again {
			t.Error("a parameter is two tensors")
		}
		return device.UploadFloats(s, x.Mutate(x.Param(p)), []float64{3, 4})
	}); err != nil {
		t.Fatal(err)
	}
	equal(t, "p", floats(t, tp.Param(p), nil), []float64{3, 4})
	closed(t, tp)
	for _, c := range []struct {
		p    *autodiff.Param
		want error
	}{{nil, autodiff.ErrUnset}, {words, device.ErrDType}} {
		tp := tape(t, s)
		if err := tp.Update("sgd", func(x *autodiff.Exec) error { x.Mutate(x.Param(c.p)); return nil }); !errors.Is(err, c.want) {
			t.Errorf("a parameter that is none: %v, want %v", err, c.want)
		}
		tp.Close()
	}
	tp = tape(t, s)
	if err := tp.Update("sgd", func(*autodiff.Exec) error { tp.Param(p); return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrConcurrent) || !strings.Contains(err.Error(), "Exec") {
		t.Errorf("Tape.Param within an Update: %v", err)
	}
}

// Whatever changes what a backward step reads is an error that names both lines: that of the op, and that of the change.
// Without one the gradient would be wrong, and nothing would say so.
func TestChangesNameBothLines(t *testing.T) {
	s := sim(t)
	words := []float64{9, 9, 9, 9}
	other := tensor(t, s, dtype.F32, words, 2, 2)
	for name, change := range map[string]func(tp *autodiff.Tape, x device.Tensor) error{
		"upload":        func(_ *autodiff.Tape, x device.Tensor) error { return device.UploadFloats(s, x, words) },
		"upload, typed": func(_ *autodiff.Tape, x device.Tensor) error { return device.Upload(s, x, make([]dtype.Float32, 4)) },
		"copy in":       func(_ *autodiff.Tape, x device.Tensor) error { return s.CopyIn(x.Buffer(), 4, make([]byte, 8)) },
		"fill":          func(_ *autodiff.Tape, x device.Tensor) error { return s.Fill(x.Buffer(), 0, 16, 0) },
		"copy": func(_ *autodiff.Tape, x device.Tensor) error {
			return s.Copy(x.Buffer(), 0, other.Buffer(), 0, 16)
		},
		"pinned": func(_ *autodiff.Tape, x device.Tensor) error {
			h, err := s.Device().Pinned(16)
			if err != nil {
				return err
			}
			return errors.Join(s.CopyInAsync(x.Buffer(), 0, h, 0, 16), s.Sync(t.Context()), h.Close())
		},
		"launch that is told": func(_ *autodiff.Tape, x device.Tensor) error { x.Buffer().NoteChange(); return nil },
		"copy to":             func(tp *autodiff.Tape, x device.Tensor) error { return tp.CopyTo(x, tp.Input("other", other)) },
		"update": func(tp *autodiff.Tape, x device.Tensor) error {
			return tp.Update("sgd", func(e *autodiff.Exec) error { e.Mutate(e.Param(autodiff.NewParam("x", x))); return nil })
		},
		"update on another tape": func(_ *autodiff.Tape, x device.Tensor) error {
			second := tape(t, s)
			defer second.Close()
			return second.Update("sgd", func(e *autodiff.Exec) error { e.Mutate(e.Param(autodiff.NewParam("x", x))); return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
			p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
			tp := tape(t, s)
			defer tp.Close()
			y := mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Input("x", x)}).Y
			if err := change(tp, x); err != nil {
				t.Fatal(err)
			}
			err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L)
			if !errors.Is(err, autodiff.ErrChanged) || strings.Count(err.Error(), "inplace_test.go:") != 2 || !strings.Contains(err.Error(), "times: B: ") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A launch past the tapes into the user's memory is seen too, with its line.
func TestLaunchChangesWhatATapeReads(t *testing.T) {
	s := sim(t)
	x := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s)
	defer tp.Close()
	y := mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Input("x", x)}).Y
	w := tensor(t, s, dtype.F32, []float64{1, 1}, 2)
	if err := rmsnorm.Forward(s, rmsnorm.Inputs{X: p.Data(), W: w, Eps: 1}, rmsnorm.Outputs{Y: x, Rstd: tensor(t, s, dtype.F32, []float64{0, 0}, 2)}); err != nil {
		t.Fatal(err)
	}
	err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L)
	if !errors.Is(err, autodiff.ErrChanged) || strings.Count(err.Error(), "inplace_test.go:") != 2 || !strings.Contains(err.Error(), "times: B: ") {
		t.Errorf("%v", err)
	}
}

// Of a launch into the tape's own memory, past its ops, it is known that there was one.
func TestLaunchChangesWhatATapeHolds(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s)
	defer tp.Close()
	y := square.Apply(tp, none{}, unaryIn{tp.Param(p)}).Y
	var memory device.Tensor
	if err := tp.Update("take", func(e *autodiff.Exec) error { memory = e.View(y); return nil }); err != nil {
		t.Fatal(err)
	}
	w := tensor(t, s, dtype.F32, []float64{1, 1}, 2)
	if err := rmsnorm.Forward(s, rmsnorm.Inputs{X: p.Data(), W: w, Eps: 1}, rmsnorm.Outputs{Y: memory, Rstd: tensor(t, s, dtype.F32, []float64{0, 0}, 2)}); err != nil {
		t.Fatal(err)
	}
	err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L)
	if !errors.Is(err, autodiff.ErrChanged) || !strings.Contains(err.Error(), "which a launch outside of the tape's ops has changed") {
		t.Errorf("%v", err)
	}
}

// An output that a backward step reads again must be as the op has left it.
func TestOutputChanged(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	for _, change := range []bool{false, true} {
		tp := tape(t, s)
		y := square.Apply(tp, none{}, unaryIn{tp.Param(p)}).Y
		l := total.Apply(tp, none{}, unaryIn{y}).L
		if err := tp.Update("scale", func(e *autodiff.Exec) error {
			if change {
				e.Mutate(y)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		switch err := tp.Backward(l); {
		case !change && err != nil:
			t.Error(err)
		case change && (!errors.Is(err, autodiff.ErrChanged) || strings.Count(err.Error(), "inplace_test.go:") != 2 || !strings.Contains(err.Error(), "square_saved: Y: ")):
			t.Errorf("an output that was changed: %v", err)
		}
		tp.Close()
	}
}

// A replay changes the parameters that its step updates, and the memory that it copies to: a backward step of another
// tape that was to read what was there before is an error, with the line of the replay.
func TestReplayChangesWhatATapeReads(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	x, spare := tensor(t, s, dtype.F32, []float64{5, 6, 7, 8}, 2, 2), tensor(t, s, dtype.F32, []float64{0}, 1)
	for name, c := range map[string]struct {
		step func(tp *autodiff.Tape) error
		port string
	}{
		"update": {func(tp *autodiff.Tape) error {
			return tp.Update("zero", func(e *autodiff.Exec) error {
				d := e.Mutate(e.Param(p))
				return s.Fill(d.Buffer(), 0, 16, 0)
			})
		}, "A"},
		"update by kernels": {func(tp *autodiff.Tape) error {
			return tp.Update("sgd", func(e *autodiff.Exec) error { e.Mutate(e.Param(p)); return nil })
		}, "A"},
		"copy": {func(tp *autodiff.Tape) error { return tp.CopyTo(x, tp.Input("p", p.Data())) }, "B"},
	} {
		pool := autodiff.NewPool(s)
		program, err := autodiff.Capture(pool, func(r *autodiff.Recording) error {
			tp, err := r.Tape()
			if err != nil {
				return err
			}
			return errors.Join(s.Fill(spare.Buffer(), 0, 4, 0), c.step(tp)) // a graph has a node
		})
		if err != nil {
			t.Fatal(err)
		}
		for replay, want := range map[bool]error{false: nil, true: autodiff.ErrChanged} {
			if err := device.UploadFloats(s, p.Data(), []float64{1, 2, 3, 4}); err != nil {
				t.Fatal(err)
			}
			tp := tape(t, s)
			y := mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.TrackedInput("x", x)}).Y
			if replay {
				if err := program.Replay(); err != nil {
					t.Fatal(err)
				}
			}
			err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L)
			if !errors.Is(err, want) || want != nil && (strings.Count(err.Error(), "inplace_test.go:") != 2 || !strings.Contains(err.Error(), "times: "+c.port+": ")) {
				t.Errorf("%s, replayed %v: %v", name, replay, err)
			}
			tp.Close()
		}
		if err := errors.Join(program.Close(), pool.Close()); err != nil {
			t.Error(err)
		}
	}
}
