package autodiff_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
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
	if err := one.Backward(l); !errors.Is(err, autodiff.ErrChanged) || !strings.Contains(err.Error(), "another tape") {
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
