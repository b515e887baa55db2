package autodiff_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// A Ref whose output has another shape, where the port leaves it open.
type freeOut struct {
	Y autodiff.Tensor `op:"T"`
}

var shapeless = autodiff.New("shapeless", autodiff.Spec[none, unaryIn, freeOut, none]{
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o freeOut, s none, err error) {
		o.Y = x.New(in.X.DType(), 1, 1)
		return o, s, device.UploadFloats(x.Stream(), x.View(o.Y), []float64{1})
	},
	Ref: func(t *autodiff.Tape, _ none, in unaryIn) freeOut {
		return freeOut{mul.Apply(t, none{}, binaryIn{in.X, in.X}).Y}
	},
})

func TestAuditOtherShape(t *testing.T) {
	s := sim(t)
	x := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	tp := tape(t, s, autodiff.Audit(1, 1e-3))
	shapeless.Apply(tp, none{}, unaryIn{tp.Input("x", x)})
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrAudit) {
		t.Errorf("another shape: %v", err)
	}
}

// The sum of two gradients overflows: anomaly mode looks at every result.
func TestAnomalySum(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F16, []float64{1, 2}, 1, 2))
	big := tensor(t, s, dtype.F16, []float64{60000, 1}, 1, 2)
	tp := tape(t, s, autodiff.Anomaly())
	x := tp.Param(p)
	y := ops.Add(tp, x, x)
	if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: big}); !errors.Is(err, autodiff.ErrNotFinite) || !strings.Contains(err.Error(), "audit_test.go:") {
		t.Errorf("a sum that is infinite: %v", err)
	}
	tp.Close()
}

// The unneeded gradient of an untracked input may hold anything.
var lazy = autodiff.New("lazy", autodiff.Spec[none, binaryIn, out, none]{
	Forward: func(x *autodiff.Exec, _ none, in binaryIn) (o out, s none, err error) {
		o.Y = x.Like(in.A)
		return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] + v[1] }, in.A, in.B)
	},
	Backward: func(x *autodiff.Exec, _ none, in binaryIn, _ none, dy out) (d binaryIn, err error) {
		d.A, d.B = x.Like(in.A), x.Like(in.B)
		err = host(x, d.A, func(_ int, v ...float64) float64 { return v[0] }, dy.Y)
		if x.Needs(in.B) {
			err = host(x, d.B, func(_ int, v ...float64) float64 { return v[0] }, dy.Y)
		}
		return d, err
	},
})

func TestAnomalyUnneeded(t *testing.T) {
	s := sim(t)
	a := tensor(t, s, dtype.F32, []float64{1, 2}, 1, 2)
	pool := autodiff.NewPool(s).Poison()
	defer pool.Close()
	tp := tape(t, s, autodiff.Anomaly(), autodiff.WithPool(pool))
	y := lazy.Apply(tp, none{}, binaryIn{tp.TrackedInput("a", a), tp.Input("b", a)}).Y
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
		t.Error(err)
	}
	tp.Close()
}

// An audit finds a fused kernel that is wrong.
var skewed = autodiff.New("skewed", autodiff.Spec[float64, unaryIn, out, none]{
	Forward: func(x *autodiff.Exec, p float64, in unaryIn) (o out, s none, err error) {
		o.Y = x.Like(in.X)
		return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0]*v[0] + p }, in.X)
	},
	Ref: func(t *autodiff.Tape, p float64, in unaryIn) out {
		return mul.Apply(t, none{}, binaryIn{in.X, in.X})
	},
})

func TestAudit(t *testing.T) {
	s := sim(t)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	x := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	tp := tape(t, s, autodiff.Audit(2, 0), autodiff.WithPool(pool))
	for range 5 {
		skewed.Apply(tp, 0.5, unaryIn{tp.Input("x", x)})
	}
	l := closed(t, tp)
	c := l.Of(autodiff.Train, "skewed")
	if c.Audit == nil || c.Audit.Runs != 2 || c.Audit.Worst != 0.5/16 || c.Audit.Port != "Y" || c.Ref != 0 || c.Fused != 5 {
		t.Errorf("the books are %+v, audit %+v", c, c.Audit)
	}
	if l.Of(autodiff.Train, "times").Asked+l.Of(autodiff.Eval, "times").Asked != 0 {
		t.Error("an audit's ops are counted")
	}
	if st := pool.Stats(); st.InUse != 0 {
		t.Errorf("%d bytes in use after Close", st.InUse)
	}
	tp = tape(t, s, autodiff.Audit(1, 0))
	skewed.Apply(tp, math.NaN(), unaryIn{tp.Input("x", x)})
	nan := closed(t, tp)
	text, err := nan.JSON()
	if err != nil || !strings.Contains(string(text), `"worst": "NaN"`) {
		t.Errorf("books with NaN: %s, %v", text, err)
	}
	var back autodiff.Ledger
	if err := json.Unmarshal(text, &back); err != nil || !math.IsNaN(float64(back.Of(autodiff.Train, "skewed").Audit.Worst)) {
		t.Errorf("books with NaN, read back: %v", err)
	}
	tp = tape(t, s, autodiff.Audit(1, 1e-3))
	skewed.Apply(tp, 0.5, unaryIn{tp.Input("x", x)})
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrAudit) || !strings.HasPrefix(err.Error(), "audit_test.go:") || !strings.Contains(err.Error(), "skewed: Y: ") {
		t.Errorf("an audit with a bar: %v", err)
	}
}

func TestAnomaly(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 1e30, 4}, 2, 2))
	tp := tape(t, s, autodiff.Anomaly())
	cube.Apply(tp, none{}, unaryIn{tp.Param(p)})
	_, err := tp.Close()
	if !errors.Is(err, autodiff.ErrNotFinite) || !strings.HasPrefix(err.Error(), "audit_test.go:") || !strings.Contains(err.Error(), "cube: Y: element 2 of f32[2, 2] is +Inf; its inputs: X is p: f32[2, 2], at most 1e+30") {
		t.Errorf("forward: %v", err)
	}
	tp = tape(t, s, autodiff.Anomaly())
	y := faulty.Apply(tp, faultySpec{backward: func(x *autodiff.Exec, in unaryIn, dy out) (d unaryIn, err error) {
		d.X = x.Like(in.X)
		return d, host(x, d.X, func(i int, v ...float64) float64 { return v[0] / float64(i) }, dy.Y)
	}}, unaryIn{tp.Param(p)}).Y
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); !errors.Is(err, autodiff.ErrNotFinite) || !strings.HasPrefix(err.Error(), "audit_test.go:") || !strings.Contains(err.Error(), "faulty: dX: element 0 of f32[2, 2] is +Inf; its inputs: X is p") {
		t.Errorf("backward: %v", err)
	}
}
