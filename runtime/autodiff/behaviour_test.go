package autodiff_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
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

// From the second step on a pool that is kept gives all memory, and strategies differ in the peak.
func TestPoolAndPeak(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, make([]float64, 6400), 64, 100))
	peak := map[autodiff.Strategy]int64{}
	for _, strategy := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
		pool := autodiff.NewPool(s)
		var reserved int64
		for i := range 3 {
			tp := tape(t, s, autodiff.WithPool(pool), autodiff.WithStrategy(strategy))
			x := tp.Param(p)
			for range 8 {
				x = autodiff.Block(tp, func() autodiff.Tensor {
					y := cube.Apply(tp, none{}, unaryIn{x}).Y
					return mul.Apply(tp, none{}, binaryIn{y, x}).Y
				})
			}
			if err := tp.Backward(total.Apply(tp, none{}, unaryIn{x}).L); err != nil {
				t.Fatal(err)
			}
			l := closed(t, tp)
			if got := l.Of(autodiff.Train, "cube").Replays; strategy == autodiff.Recompute && got != 8 {
				t.Errorf("%d replays, want 8", got)
			}
			st := pool.Stats()
			if i > 0 && st.Reserved != reserved {
				t.Errorf("step %d: %d bytes reserved, %d before", i, st.Reserved, reserved)
			}
			if st.InUse != 0 {
				t.Errorf("%d bytes in use after Close", st.InUse)
			}
			reserved, peak[strategy] = st.Reserved, st.Peak
		}
		pool.Close()
	}
	if peak[autodiff.Recompute] > peak[autodiff.SaveAll]*2/3 {
		t.Errorf("peaks: %v", peak)
	}
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
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrAudit) || !strings.Contains(err.Error(), "skewed: Y: ") {
		t.Errorf("an audit with a bar: %v", err)
	}
}

func TestAnomaly(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 1e30, 4}, 2, 2))
	tp := tape(t, s, autodiff.Anomaly())
	cube.Apply(tp, none{}, unaryIn{tp.Param(p)})
	_, err := tp.Close()
	if !errors.Is(err, autodiff.ErrNotFinite) || !strings.Contains(err.Error(), "cube: Y: element 2 of f32[2, 2] is +Inf; its inputs: X is p: f32[2, 2], at most 1e+30") {
		t.Errorf("forward: %v", err)
	}
	tp = tape(t, s, autodiff.Anomaly())
	y := faulty.Apply(tp, faultySpec{backward: func(x *autodiff.Exec, in unaryIn, dy out) (d unaryIn, err error) {
		d.X = x.Like(in.X)
		return d, host(x, d.X, func(i int, v ...float64) float64 { return v[0] / float64(i) }, dy.Y)
	}}, unaryIn{tp.Param(p)}).Y
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); !errors.Is(err, autodiff.ErrNotFinite) || !strings.Contains(err.Error(), "faulty: dX: element 0") {
		t.Errorf("backward: %v", err)
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

func TestLedgers(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	var all autodiff.Ledger
	for _, phase := range []autodiff.Phase{autodiff.Eval, autodiff.Train} {
		tp := tape(t, s, autodiff.WithPhase(phase))
		l := total.Apply(tp, none{}, cubeOf(tp, tp.Param(p))).L
		if phase == autodiff.Train {
			if err := tp.Backward(l); err != nil {
				t.Fatal(err)
			}
			tp.Update("sgd", func(x *autodiff.Exec) error { x.Mutate(tp.Param(p)); return nil })
		}
		all.Add(closed(t, tp), 3)
	}
	if got, want := all.String(), "train cube=3/3 bwd=3 ref=0 total=3/3 bwd=3 | eval cube=3/3 total=3/3"; got != want {
		t.Errorf("the ledger is %q, want %q", got, want)
	}
	if u := all.Updates[autodiff.Train]["sgd"]; u == nil || u.Runs != 3 {
		t.Errorf("updates: %+v", all.Updates)
	}
	if err := all.Check(); err != nil {
		t.Error(err)
	}
	text, err := all.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var back autodiff.Ledger
	if err := json.Unmarshal(text, &back); err != nil || back.String() != all.String() {
		t.Errorf("through JSON: %q, %v", back.String(), err)
	}
	all.Ops[autodiff.Train]["cube"].Backward--
	if err := all.Check(); !errors.Is(err, autodiff.ErrBooks) || !strings.Contains(err.Error(), "cube: ") || !strings.Contains(err.Error(), "forward = backward + dropped is 3 = 2") {
		t.Errorf("books that do not balance: %v", err)
	}
	all.Reset()
	if all.String() != "" {
		t.Errorf("after Reset: %q", all.String())
	}
}

func cubeOf(tp *autodiff.Tape, x autodiff.Tensor) unaryIn {
	return unaryIn{cube.Apply(tp, none{}, unaryIn{x}).Y}
}

func TestBackwardFrom(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	seed := tensor(t, s, dtype.F32, []float64{1, 0, -1, 2}, 2, 2)
	tp := tape(t, s, autodiff.Strict())
	y := add.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Param(p)}).Y // the same gradient twice, which must not be added to in place
	if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: seed}); err != nil {
		t.Fatal(err)
	}
	equal(t, "dp", grad(t, tp.Param(p)), []float64{2, 0, -2, 4})
	closed(t, tp)
	if v, err := device.DownloadFloats(s, seed); err != nil || v[3] != 2 {
		t.Errorf("the caller's gradient is now %v, %v", v, err)
	}
}
