package autodiff_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
)

// Declined applications take Ref, counted by reason.
func TestDecline(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{101: 2}, 1, 102))
	tp := tape(t, s, autodiff.Strict())
	y := cube.Apply(tp, none{}, unaryIn{tp.Param(p)}).Y
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
		t.Fatal(err)
	}
	if g := grad(t, tp.Param(p)); g[101] != 12 {
		t.Errorf("the gradient is %v", g[101])
	}
	if got, want := closed(t, tp).String(), "train cube=0/1 bwd=0 ref=1 declined(rows above 100)=1 times=2/2 bwd=2 total=1/1 bwd=1"; got != want {
		t.Errorf("the ledger is %q, want %q", got, want)
	}
	wide := tape(t, s, autodiff.Off("times"))
	mul.Apply(wide, none{}, binaryIn{wide.Param(p), wide.Param(p)})
	if _, err := wide.Close(); err == nil || !strings.Contains(err.Error(), "times: declined: killed, and the op has no Ref") {
		t.Errorf("an op without Ref switched off: %v", err)
	}
}

func TestSwitches(t *testing.T) {
	s := sim(t)
	t.Setenv("GOTILE_OFF", " cube , times")
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{2}, 1, 1))
	tp := tape(t, s, autodiff.Off())
	cube.Apply(tp, none{}, unaryIn{tp.Param(p)})
	if _, err := tp.Close(); err == nil || !strings.Contains(err.Error(), "times: declined: killed") {
		t.Errorf("GOTILE_OFF=cube,times: %v", err)
	}
	t.Setenv("GOTILE_OFF", "cubes")
	_, err := autodiff.NewTape(s)
	if !errors.Is(err, autodiff.ErrUnknownOp) || !strings.Contains(err.Error(), `"cubes"; the program has add, add_scalar, `) {
		t.Errorf("an unknown op in GOTILE_OFF: %v", err)
	}
	t.Setenv("GOTILE_OFF", "")
	if _, err = autodiff.NewTape(s, autodiff.Off("mull")); !errors.Is(err, autodiff.ErrUnknownOp) {
		t.Errorf("an unknown op in Off: %v", err)
	}
	t.Setenv("GOTILE_OF", "cube")
	if _, err = autodiff.NewTape(s); err == nil || !strings.Contains(err.Error(), "GOTILE_OF;") {
		t.Errorf("an unknown variable: %v", err)
	}
}
