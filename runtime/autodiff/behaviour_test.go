package autodiff_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
)

// There is a gradient, or the reason why not.
func TestGradReasons(t *testing.T) {
	s := sim(t)
	x := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	tp := tape(t, s)
	a, b := tp.Param(autodiff.NewParam("a", x)), tp.Param(autodiff.NewParam("b", x))
	in, tracked := tp.Input("in", x), tp.TrackedInput("tracked", x)
	inner := mul.Apply(tp, none{}, binaryIn{a, in}).Y
	kept := mul.Apply(tp, none{}, binaryIn{inner, tracked}).Y.Retain()
	loss := total.Apply(tp, none{}, unaryIn{kept}).L
	reason := func(y autodiff.Tensor, want error, text string) {
		t.Helper()
		if _, err := y.Grad(); !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("Grad of %v: %v, want %v with %q", y, err, want, text)
		}
	}
	reason(a, autodiff.ErrUnreached, "before Backward")
	if err := tp.Backward(loss); err != nil {
		t.Fatal(err)
	}
	reason(in, autodiff.ErrUntracked, "in: f32[2, 2]")
	reason(b, autodiff.ErrUnreached, "no path leads from the loss to b")
	reason(inner, autodiff.ErrConsumed, "backward step of times")
	reason(autodiff.Tensor{}, autodiff.ErrUnset, "zero Tensor")
	equal(t, "gradient of a retained tensor", grad(t, kept), []float64{1, 1, 1, 1})
	equal(t, "gradient of a tracked input", grad(t, tracked), []float64{1, 4, 9, 16})
	equal(t, "gradient of a", grad(t, a), []float64{1, 4, 9, 16})
	equal(t, "a retained tensor", floats(t, kept, nil), []float64{1, 8, 27, 64})
	if _, err := inner.Floats(); !errors.Is(err, autodiff.ErrFreed) {
		t.Errorf("an interior tensor after backward: %v", err)
	}
	closed(t, tp)
	if tp.Input("late", x); !errors.Is(tp.Err(), autodiff.ErrClosed) {
		t.Errorf("a closed tape: %v", tp.Err())
	}
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrClosed) {
		t.Errorf("closing twice: %v", err)
	}
}

// What backward never comes back to is counted, and in strict mode an error that names lines.
func TestDropped(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	for _, strict := range []bool{false, true} {
		var opts []autodiff.Option
		if strict {
			opts = append(opts, autodiff.Strict())
		}
		tp := tape(t, s, opts...)
		x := tp.Param(p)
		cube.Apply(tp, none{}, unaryIn{x}) // a fused forward that runs and is discarded
		if err := tp.Backward(total.Apply(tp, none{}, unaryIn{x}).L); err != nil {
			t.Fatal(err)
		}
		l, err := tp.Close()
		if got, want := l.String(), "train cube=1/1 bwd=0 ref=0 dropped=1 total=1/1 bwd=1"; got != want {
			t.Errorf("the ledger is %q, want %q", got, want)
		}
		if err := l.Check(); err != nil {
			t.Error(err)
		}
		if strict && (!errors.Is(err, autodiff.ErrDropped) || !strings.Contains(err.Error(), "behaviour_test.go:") || !strings.Contains(err.Error(), ": cube")) {
			t.Errorf("strict: %v", err)
		}
		if !strict && err != nil {
			t.Error(err)
		}
	}
}

// Evaluation takes the fused kernels, tracks nothing and gives memory back at the end of a block.
func TestEval(t *testing.T) {
	s := sim(t)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 0, 4}, 2, 2))
	tp := tape(t, s, autodiff.WithPhase(autodiff.Eval), autodiff.WithPool(pool), autodiff.Strict())
	x := tp.Param(p)
	y := autodiff.Block(tp, func() out {
		for range 3 {
			x = mul.Apply(tp, none{}, binaryIn{x, x}).Y
		}
		return cube.Apply(tp, none{}, unaryIn{x})
	})
	if y.Y.Tracked() {
		t.Error("a result of an evaluation is tracked")
	}
	one := pool.Stats().InUse
	if one != 512 {
		t.Errorf("%d bytes are in use after the block, want those of one tensor", one)
	}
	equal(t, "y", floats(t, y.Y, nil), []float64{1, 1 << 24, 0, 1 << 48})
	if _, err := x.Floats(); !errors.Is(err, autodiff.ErrFreed) {
		t.Errorf("an intermediate tensor after its block: %v", err)
	}
	if err := tp.Backward(y.Y); !errors.Is(err, autodiff.ErrUntracked) {
		t.Errorf("backward of an evaluation: %v", err)
	}
	l, _ := tp.Close()
	if got, want := l.String(), "eval cube=1/1 times=3/3"; got != want {
		t.Errorf("the ledger is %q, want %q", got, want)
	}
	if got := l.Of(autodiff.Eval, "times"); got.Untracked != 3 || got.Forward != 0 {
		t.Errorf("mul: %+v", got)
	}
}

func TestDetach(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s, autodiff.Strict())
	x := tp.Param(p)
	constant := mul.Apply(tp, none{}, binaryIn{x, x}).Y.Detach("target of a loss")
	y := mul.Apply(tp, none{}, binaryIn{x, constant}).Y
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
		t.Fatal(err)
	}
	equal(t, "dx", grad(t, x), []float64{1, 4, 9, 16})
	l, err := tp.Close()
	if !errors.Is(err, autodiff.ErrDropped) {
		t.Errorf("what was detached is dropped: %v", err)
	}
	if l.Detached[autodiff.Train]["target of a loss"] != 1 {
		t.Errorf("detached: %v", l.Detached)
	}
	tp = tape(t, s)
	if y := tp.Param(p).Detach(""); y.Set() {
		t.Error("a tensor is detached without a reason")
	}
	if l, err := tp.Close(); !errors.Is(err, autodiff.ErrUnset) || !strings.Contains(err.Error(), "behaviour_test.go:") || len(l.Detached) != 0 {
		t.Errorf("without a reason: %v, %v", err, l.Detached)
	}
}

// An op that returns its input, and one whose second output nothing uses.
type twoOut struct {
	Y autodiff.Tensor `op:"[rows,n] T"`
	Z autodiff.Tensor `op:"[rows,n] T raw"`
	U autodiff.Tensor `op:"[rows,n] T"`
}

var split = autodiff.New("split", autodiff.Spec[*[]bool, unaryIn, twoOut, none]{
	Forward: func(x *autodiff.Exec, _ *[]bool, in unaryIn) (twoOut, none, error) {
		return twoOut{in.X, in.X, x.Alias(in.X, in.X.Shape()...)}, none{}, nil
	},
	Backward: func(x *autodiff.Exec, seen *[]bool, in unaryIn, _ none, dy twoOut) (d unaryIn, err error) {
		*seen = append(*seen, dy.Y.Set(), dy.Z.Set(), dy.U.Set())
		d.X = x.Like(in.X)
		return d, host(x, d.X, func(_ int, v ...float64) float64 { return v[0] + v[1] }, dy.Y, dy.U)
	},
})

func TestOutputsThatAreInputsAndUnusedOutputs(t *testing.T) {
	s := sim(t)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s, autodiff.Strict(), autodiff.WithPool(pool))
	var seen []bool
	x := mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Param(p)}).Y
	o := split.Apply(tp, &seen, unaryIn{x})
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{o.U}).L); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 3 || !seen[0] || seen[1] || !seen[2] {
		t.Errorf("gradients that came: %v; want zeros for Y, none for Z, U's", seen)
	}
	equal(t, "dp", grad(t, tp.Param(p)), []float64{2, 4, 6, 8})
	closed(t, tp)
	if st := pool.Stats(); st.InUse != 0 {
		t.Errorf("%d bytes in use after Close", st.InUse)
	}
}
