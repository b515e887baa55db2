package autodiff_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

func eq(a, b []float64) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// Mutate(Alias(tracked input)) is not seen: an op that works in place on its input.
func TestRegressMutateAliasOfTracked(t *testing.T) {
	s := sim(t)
	data := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	p := autodiff.NewParam("p", data)
	tp := tape(t, s, autodiff.Strict())
	x := tp.Param(p)
	sq := mul.Apply(tp, none{}, binaryIn{x, x}).Y // its backward reads x
	y := faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) {
		y := x.Alias(in.X, in.X.Shape()...)
		return out{y}, device.UploadFloats(x.Stream(), x.Mutate(y), []float64{10, 20, 30, 40})
	}, backward: func(x *autodiff.Exec, in unaryIn, dy out) (unaryIn, error) { return unaryIn{dy.Y}, nil }}, unaryIn{x}).Y
	l := total.Apply(tp, none{}, unaryIn{add.Apply(tp, none{}, binaryIn{sq, y}).Y}).L
	err := tp.Backward(l)
	if err == nil {
		t.Errorf("Mutate of an Alias of a tracked parameter was accepted; dp = %v, want [3 5 7 9]", grad(t, x))
	}
	tp.Close()
}

// Exec.Zero of an input: the parameter is zeroed.
func TestRegressZeroOfInput(t *testing.T) {
	s := sim(t)
	data := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	p := autodiff.NewParam("p", data)
	tp := tape(t, s)
	faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) {
		x.Zero(in.X)
		return out{in.X}, nil
	}}, unaryIn{tp.Param(p)})
	_, err := tp.Close()
	if v, _ := device.DownloadFloats(s, data); err == nil {
		t.Errorf("Zero of an input was accepted; the parameter is %v", v)
	}
}

// CopyTo into memory that a backward step reads is a change in place that nobody sees.
func TestRegressCopyToOverInput(t *testing.T) {
	s := sim(t)
	a, b := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2), tensor(t, s, dtype.F32, []float64{5, 6, 7, 8}, 2, 2)
	p := autodiff.NewParam("p", b)
	tp := tape(t, s, autodiff.Strict())
	x, in := tp.Param(p), tp.Input("a", a)
	y := mul.Apply(tp, none{}, binaryIn{x, in}).Y
	if err := tp.CopyTo(a, y.Detach("running")); err != nil {
		t.Fatal(err)
	}
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err == nil {
		t.Errorf("no error; dp is %v, want [1 2 3 4]", grad(t, x))
	}
	tp.Close()
}

// An Update on another tape changes what this tape's backward reads.
func TestRegressUpdateOnAnotherTape(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	one, two := tape(t, s), tape(t, s)
	x := one.Param(p)
	l := total.Apply(one, none{}, unaryIn{mul.Apply(one, none{}, binaryIn{x, x}).Y}).L
	two.Update("sgd", func(e *autodiff.Exec) error {
		return device.UploadFloats(s, e.Mutate(two.Param(p)), []float64{0, 0, 0, 0})
	})
	closed2, err := two.Close()
	_ = closed2
	if err != nil { // Param within Update clashes: ask before
		t.Logf("%v", err)
		two = tape(t, s)
		q := two.Param(p)
		if err := two.Update("sgd", func(e *autodiff.Exec) error {
			return device.UploadFloats(s, e.Mutate(q), []float64{0, 0, 0, 0})
		}); err != nil {
			t.Fatal(err)
		}
		two.Close()
	}
	if err := one.Backward(l); err == nil {
		t.Errorf("no error; dp is %v, want [2 4 6 8]", grad(t, x))
	}
	one.Close()
}

// A tracked tensor at a nograd port loses its gradient unseen.
func TestRegressTrackedAtNograd(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s, autodiff.Strict())
	x := tp.Param(p)
	y := ops.AddScalar(tp, ops.Mul(tp, x, x), 0)
	l := optim.SquaredError(tp, y, x) // mean (x^2-x)^2
	err := tp.Backward(l)
	if err == nil {
		// d/dx = 2(x^2-x)(2x-1)/4
		want := []float64{0, 2 * 2 * 3 / 4., 2 * 6 * 5 / 4., 2 * 12 * 7 / 4.}
		if g := grad(t, x); !eq(g, want) {
			t.Errorf("dp is %v, want %v", g, want)
		}
		led, err := tp.Close()
		t.Logf("%s, %v, detached %v", led, err, led.Detached)
	}
}

// A tracked tensor through an op without Backward loses its gradient unseen.
var noBackward = autodiff.New("no_backward", autodiff.Spec[none, unaryIn, out, none]{
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o out, s none, err error) {
		o.Y = x.Like(in.X)
		return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] }, in.X)
	},
})

func TestRegressOpWithoutBackward(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s, autodiff.Strict())
	x := tp.Param(p)
	y := mul.Apply(tp, none{}, binaryIn{x, noBackward.Apply(tp, none{}, unaryIn{x}).Y}).Y
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
		return
	}
	g := grad(t, x)
	l, err := tp.Close()
	if err == nil && len(l.Detached) == 0 && !eq(g, []float64{2, 4, 6, 8}) {
		t.Errorf("dp is %v, want [2 4 6 8]; strict books: %s, detached %v", g, l, l.Detached)
	}
}

// Scratch in a nested struct of S is not kept.
type nestedSaved struct{ In struct{ Sq device.Tensor } }

func forwardSq(x *autodiff.Exec, in unaryIn) (o out, sq device.Tensor, err error) {
	o.Y, sq = x.Like(in.X), x.Scratch(dtype.F32, in.X.Shape()...)
	if err = host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] * v[0] * v[0] }, in.X); err != nil {
		return
	}
	a, err := device.DownloadFloats(x.Stream(), x.View(in.X))
	for i := range a {
		a[i] *= a[i]
	}
	return o, sq, errors.Join(err, device.UploadFloats(x.Stream(), sq, a))
}

func backwardSq(x *autodiff.Exec, in unaryIn, s device.Tensor, dy out) (d unaryIn, err error) {
	d.X = x.Like(in.X)
	sq, err := device.DownloadFloats(x.Stream(), s)
	if err != nil {
		return d, err
	}
	return d, host(x, d.X, func(i int, v ...float64) float64 { return 3 * sq[i] * v[0] }, dy.Y)
}

var nestedCube = autodiff.New("nested_cube", autodiff.Spec[none, unaryIn, out, nestedSaved]{
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o out, s nestedSaved, err error) {
		o, s.In.Sq, err = forwardSq(x, in)
		return
	},
	Backward: func(x *autodiff.Exec, _ none, in unaryIn, s nestedSaved, dy out) (unaryIn, error) {
		return backwardSq(x, in, s.In.Sq, dy)
	},
})

func TestRegressNestedSaved(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	for name, apply := range map[string]func(*autodiff.Tape, none, unaryIn) out{"nested": nestedCube.Apply} {
		tp := tape(t, s, autodiff.Strict())
		x := tp.Param(p)
		y := apply(tp, none{}, unaryIn{x}).Y
		y = add.Apply(tp, none{}, binaryIn{y, x}).Y // takes the memory
		if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
			continue
		}
		if g := grad(t, x); !eq(g, []float64{4, 13, 28, 49}) {
			t.Errorf("%s: dp is %v, want [4 13 28 49]", name, g)
		}
		tp.Close()
	}
}

// S that holds the raw memory of an input, which Recompute drops.
var rawSaved = autodiff.New("raw_saved", autodiff.Spec[none, binaryIn, out, cubeSaved]{
	Forward: func(x *autodiff.Exec, _ none, in binaryIn) (o out, s cubeSaved, err error) {
		o.Y = x.Like(in.A)
		s.Square = x.View(in.A)
		return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] * v[1] }, in.A, in.B)
	},
	Backward: func(x *autodiff.Exec, _ none, in binaryIn, s cubeSaved, dy out) (d binaryIn, err error) {
		d.A, d.B = x.Like(in.A), x.Like(in.A)
		a, err := device.DownloadFloats(x.Stream(), s.Square)
		if err != nil {
			return d, err
		}
		return d, errors.Join(host(x, d.A, func(_ int, v ...float64) float64 { return v[0] * v[1] }, dy.Y, in.B),
			host(x, d.B, func(i int, v ...float64) float64 { return v[0] * a[i] }, dy.Y))
	},
})

func TestRegressRawSaved(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s, autodiff.Strict(), autodiff.WithStrategy(autodiff.Recompute))
	x := tp.Param(p)
	y := x
	for range 2 {
		y = autodiff.Block(tp, func() autodiff.Tensor {
			return rawSaved.Apply(tp, none{}, binaryIn{cube.Apply(tp, none{}, unaryIn{y}).Y, x}).Y
		})
	}
	// y = (x^3 x)^3 x = x^13
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
		return
	}
	if g := grad(t, x); !eq(g, []float64{13, 13 * 4096, 13 * 531441, 13 * 16777216}) {
		t.Errorf("dp is %v, want 13 x^12 %v", g, []float64{13, 13 * 4096, 13 * 531441, 13 * 16777216})
	}
	tp.Close()
}

// What an inner Block returned ends with the outer one.
func TestRegressNestedBlocks(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	use := map[bool]int64{}
	for _, nest := range []bool{false, true} {
		pool := autodiff.NewPool(s)
		tp := tape(t, s, autodiff.WithStrategy(autodiff.Recompute), autodiff.WithPool(pool))
		x := tp.Param(p)
		y := autodiff.Block(tp, func() autodiff.Tensor {
			y := x
			for range 8 {
				one := func() autodiff.Tensor { return cube.Apply(tp, none{}, unaryIn{y}).Y }
				if nest {
					y = autodiff.Block(tp, one)
				} else {
					y = one()
				}
			}
			return y
		})
		use[nest] = pool.Stats().InUse
		if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
			t.Fatal(err)
		}
		tp.Close()
		pool.Close()
	}
	if use[true] != use[false] {
		t.Errorf("after the outer block %d bytes are in use with inner blocks, %d without", use[true], use[false])
	}
}

// A memory-bound op that returns its input, replayed.
var hand = autodiff.New("hand", autodiff.Spec[none, unaryIn, out, none]{
	MemoryBound: true,
	Forward:     func(x *autodiff.Exec, _ none, in unaryIn) (out, none, error) { return out{in.X}, none{}, nil },
	Backward:    func(x *autodiff.Exec, _ none, in unaryIn, _ none, dy out) (unaryIn, error) { return unaryIn{dy.Y}, nil },
})

func TestRegressReplayOfIdentity(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	for _, strategy := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
		tp := tape(t, s, autodiff.WithStrategy(strategy))
		x := tp.Param(p)
		y := autodiff.Block(tp, func() autodiff.Tensor {
			z := hand.Apply(tp, none{}, unaryIn{cube.Apply(tp, none{}, unaryIn{x}).Y}).Y
			return mul.Apply(tp, none{}, binaryIn{z, z}).Y
		})
		if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
			t.Errorf("%s: %v", strategy, err)
		}
		tp.Close()
	}
}

// The launches of the books are those of the stream.
func TestRegressLaunchesCountedTwice(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s, autodiff.WithStrategy(autodiff.Recompute), autodiff.Strict())
	x := tp.Param(p)
	before := s.Launches()
	y := autodiff.Block(tp, func() autodiff.Tensor {
		h := ops.Silu(tp, ops.Silu(tp, x))
		return ops.Mul(tp, h, h)
	})
	seed := tensor(t, s, dtype.F32, []float64{1, 1, 1, 1}, 2, 2)
	if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: seed}); err != nil {
		t.Fatal(err)
	}
	made := s.Launches() - before - 1 // one sum of two gradients
	l := closed(t, tp)
	sum := 0
	for op, c := range l.Ops[autodiff.Train] {
		t.Logf("%s %+v", op, c.Launches)
		sum += c.Launches.Forward + c.Launches.Backward + c.Launches.Replay
	}
	if sum != made {
		t.Errorf("the books have %d launches, the stream made %d", sum, made)
	}
}

// Two inputs of one name on one tape.
func TestRegressTwoInputsOfOneName(t *testing.T) {
	s := sim(t)
	a, b := tensor(t, s, dtype.F32, []float64{1, 2}, 2), tensor(t, s, dtype.F32, []float64{3, 4}, 2)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	step := func(tp *autodiff.Tape, err error) error {
		if err != nil {
			return err
		}
		ops.Add(tp, tp.Input("x", a), tp.Input("x", b))
		return tp.Err()
	}
	tp := tape(t, s, autodiff.WithPool(pool))
	step(tp, nil)
	tp.Close()
	p, err := autodiff.Capture(pool, func(r *autodiff.Recording) error { return step(r.Tape()) })
	if err == nil {
		t.Errorf("accepted; Load(\"x\") is for %v only", p.Inputs())
		p.Close()
	}
}

// A replay while a tape of the pool is alive.
func TestRegressReplayOverLiveTape(t *testing.T) {
	s := sim(t)
	a := tensor(t, s, dtype.F32, []float64{1, 2}, 2)
	b := tensor(t, s, dtype.F32, []float64{100, 200}, 2)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	tp := tape(t, s, autodiff.WithPool(pool))
	ops.Add(tp, tp.Input("x", a), tp.Input("x", a))
	tp.Close()
	p, err := autodiff.Capture(pool, func(r *autodiff.Recording) error {
		tp, err := r.Tape()
		if err == nil {
			ops.Add(tp, tp.Input("x", a), tp.Input("x", a))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	tp = tape(t, s, autodiff.WithPool(pool))
	y := ops.Add(tp, tp.Input("b", b), tp.Input("b", b))
	if err := p.Replay(); err != nil {
		return // refused
	}
	if v := floats(t, y, nil); !eq(v, []float64{200, 400}) {
		t.Errorf("a tensor of a tape that is open became %v by a replay, want [200 400]", v)
	}
	tp.Close()
}

// A capture that fails leaves the pool as it was.
func TestRegressLeakAfterGrow(t *testing.T) {
	s := sim(t)
	a := tensor(t, s, dtype.F32, []float64{1, 2}, 2)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	tp := tape(t, s, autodiff.WithPool(pool))
	x := tp.TrackedInput("x", a)
	for range 3 {
		ops.Mul(tp, x, x)
	}
	tp.Close()
	seed := tensor(t, s, dtype.F32, []float64{1, 1}, 2)
	p, err := autodiff.Capture(pool, func(r *autodiff.Recording) error {
		tp, err := r.Tape()
		if err != nil {
			return err
		}
		x := tp.TrackedInput("x", a)
		return tp.BackwardFrom(autodiff.Seed{Of: ops.Mul(tp, x, x), Grad: seed})
	})
	if !errors.Is(err, autodiff.ErrGrow) {
		t.Fatalf("%v %v", p, err)
	}
	if st := pool.Stats(); st.InUse != 0 {
		t.Errorf("%d bytes are in use after Close", st.InUse)
	}
}

// A panic in Forward that is recovered: the tape can be closed, the pool used.
func TestRegressPanics(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	pool := autodiff.NewPool(s)
	defer pool.Close()
	tp := tape(t, s, autodiff.WithPool(pool))
	phase := s.Phase()
	func() {
		defer func() { recover() }()
		faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) { x.Like(in.X); panic("boom") }}, unaryIn{tp.Param(p)})
	}()
	l, err := tp.Close()
	if l == nil || errors.Is(err, autodiff.ErrConcurrent) || pool.Stats().InUse != 0 {
		t.Errorf("after a panic in Forward: Close gives %v, %v; %d bytes in use", l, err, pool.Stats().InUse)
	}
	if s.Phase() != phase {
		t.Errorf("the stream's phase is %q, it was %q", s.Phase(), phase)
	}
}

func TestRegressPanicInCapture(t *testing.T) {
	s := sim(t)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	func() {
		defer func() { recover() }()
		autodiff.Capture(pool, func(r *autodiff.Recording) error { panic("boom") })
	}()
	a := tensor(t, s, dtype.F32, []float64{1, 2}, 2)
	tp := tape(t, s, autodiff.WithPool(pool))
	ops.Add(tp, tp.Input("x", a), tp.Input("x", a))
	if _, err := tp.Close(); err != nil {
		t.Errorf("the pool after a panic in a capture: %v", err)
	}
}

// Books of an audit that found a NaN can be written.
var nanOp = autodiff.New("nan_op", autodiff.Spec[none, unaryIn, out, none]{
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o out, s none, err error) {
		o.Y = x.Like(in.X)
		return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] / 0 * 0 }, in.X)
	},
	Ref: func(t *autodiff.Tape, _ none, in unaryIn) out { return mul.Apply(t, none{}, binaryIn{in.X, in.X}) },
})

func TestRegressAuditNaNJSON(t *testing.T) {
	s := sim(t)
	x := tensor(t, s, dtype.F32, []float64{0, 2, 3, 4}, 2, 2)
	tp := tape(t, s, autodiff.Audit(1, 0))
	zero := 0.0
	_ = zero
	nanOp.Apply(tp, none{}, unaryIn{tp.Input("x", x)})
	l, err := tp.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.JSON(); err != nil {
		t.Errorf("JSON of %+v: %v", l.Of(autodiff.Train, "nan_op").Audit, err)
	}
}

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

func TestRegressAuditOtherShape(t *testing.T) {
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic: %v", r)
		}
	}()
	s := sim(t)
	x := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	tp := tape(t, s, autodiff.Audit(1, 1e-3))
	shapeless.Apply(tp, none{}, unaryIn{tp.Input("x", x)})
	if _, err := tp.Close(); err == nil {
		t.Error("accepted")
	}
}

// A Ref that loses the gradient.
var lossyRef = autodiff.New("lossy_ref", autodiff.Spec[none, unaryIn, out, none]{
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o out, s none, err error) {
		o.Y = x.Like(in.X)
		return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] }, in.X)
	},
	Backward: func(x *autodiff.Exec, _ none, in unaryIn, _ none, dy out) (unaryIn, error) { return unaryIn{dy.Y}, nil },
	Ref:      func(t *autodiff.Tape, _ none, in unaryIn) out { return noBackward.Apply(t, none{}, in) },
})

func TestRegressRefLosesGradient(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s, autodiff.Strict(), autodiff.Off("lossy_ref"))
	x := tp.Param(p)
	y := mul.Apply(tp, none{}, binaryIn{x, lossyRef.Apply(tp, none{}, unaryIn{x}).Y}).Y
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
		return
	}
	g := grad(t, x)
	if l, err := tp.Close(); err == nil && !eq(g, []float64{2, 4, 6, 8}) {
		t.Errorf("dp is %v, want [2 4 6 8]; books %s", g, l)
	}
}

// The sum of two gradients overflows: anomaly mode looks at every result.
func TestRegressAnomalySum(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F16, []float64{1, 2}, 1, 2))
	big := tensor(t, s, dtype.F16, []float64{60000, 1}, 1, 2)
	tp := tape(t, s, autodiff.Anomaly())
	x := tp.Param(p)
	y := ops.Add(tp, x, x)
	err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: big})
	if err == nil {
		t.Errorf("no error; dp is %v", grad(t, x))
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

func TestRegressAnomalyUnneeded(t *testing.T) {
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

// Tags with mistakes.
type boundIn struct {
	A autodiff.Tensor `op:"[rows,n] T"`
	B autodiff.Tensor `op:"[rows,n] T:f32"`
}

var bound = autodiff.New("bound", autodiff.Spec[none, boundIn, out, none]{
	Forward: func(x *autodiff.Exec, _ none, in boundIn) (out, none, error) {
		return out{x.Zero(x.Like(in.A))}, none{}, nil
	},
})

func TestRegressBoundType(t *testing.T) {
	s := sim(t)
	h := tensor(t, s, dtype.BF16, []float64{1, 2}, 1, 2)
	tp := tape(t, s)
	bound.Apply(tp, none{}, boundIn{tp.Input("a", h), tp.Input("b", h)})
	if _, err := tp.Close(); err == nil {
		t.Error("port B, T:f32, took bf16")
	}
}

// ErrDType for element types.
func TestRegressErrDType(t *testing.T) {
	s := sim(t)
	words := tensor(t, s, dtype.I32, make([]float64, 4), 2, 2)
	tp := tape(t, s)
	cube.Apply(tp, none{}, unaryIn{tp.Input("x", words)})
	if _, err := tp.Close(); !errors.Is(err, device.ErrDType) {
		t.Errorf("an element type that a port does not take is not ErrDType: %v", err)
	}
}

// The caller's line through the functions of kernels/ops.
func TestRegressCallersLine(t *testing.T) {
	s := sim(t)
	a, b := tensor(t, s, dtype.F32, []float64{1, 2}, 2), tensor(t, s, dtype.F32, []float64{1, 2, 3}, 3)
	tp := tape(t, s)
	ops.Add(tp, tp.Input("a", a), tp.Input("b", b))
	if _, err := tp.Close(); err == nil || !strings.Contains(err.Error(), "regress_test.go:") {
		t.Errorf("the caller's line is missing: %v", err)
	}
}

// Block of an array of tensors.
func TestRegressBlockArray(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2}, 1, 2))
	tp := tape(t, s, autodiff.WithPhase(autodiff.Eval))
	ys := autodiff.Block(tp, func() [2]autodiff.Tensor {
		y := cube.Apply(tp, none{}, unaryIn{tp.Param(p)}).Y
		return [2]autodiff.Tensor{y, y}
	})
	if _, err := ys[0].Floats(); err != nil {
		t.Error(err)
	}
	tp.Close()
}

func TestRegressMisusePanics(t *testing.T) {
	s := sim(t)
	try := func(name string, f func()) {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s panics: %v", name, r)
			}
		}()
		f()
	}
	x := tensor(t, s, dtype.F32, []float64{1, 2}, 1, 2)
	try("Block(nil)", func() { autodiff.Block(nil, func() autodiff.Tensor { return autodiff.Tensor{} }) })
	try("NewPool(nil)", func() { autodiff.Capture(autodiff.NewPool(nil), func(*autodiff.Recording) error { return nil }) })
	try("nil step", func() { pool := autodiff.NewPool(s); defer pool.Close(); autodiff.Capture(pool, nil) })
	try("NewControl(nil)", func() { autodiff.NewControl(nil, "a") })
	try("Control without names", func() {
		c, err := autodiff.NewControl(s)
		t.Logf("no names: %v", err)
		if c != nil {
			c.Close()
		}
	})
	try("Upload of a closed Control", func() {
		c, err := autodiff.NewControl(s, "a")
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		c.Upload()
	})
	try("nil Update", func() { tp := tape(t, s); tp.Update("x", nil); tp.Close() })
	try("nil option", func() { autodiff.NewTape(s, nil) })
	try("huge", func() {
		tp := tape(t, s)
		faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) {
			return out{x.New(dtype.F32, 1<<40, 1<<20)}, nil
		}}, unaryIn{tp.Input("x", x)})
		_, err := tp.Close()
		t.Logf("huge: %v", err)
	})
	try("huge2", func() {
		tp := tape(t, s)
		faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) {
			return out{x.New(dtype.F32, 1<<60, 2)}, nil
		}}, unaryIn{tp.Input("x", x)})
		_, err := tp.Close()
		t.Logf("huge: %v", err)
	})
	try("huge3", func() {
		tp := tape(t, s)
		faulty.Apply(tp, faultySpec{forward: func(x *autodiff.Exec, in unaryIn) (out, error) {
			return out{x.New(dtype.F16, 1<<61, 1)}, nil
		}}, unaryIn{tp.Input("x", x)})
		_, err := tp.Close()
		t.Logf("huge: %v", err)
	})
}

// An Upload that a capture refused does not spoil the Control.
func TestRegressControlAfterCapture(t *testing.T) {
	s := sim(t)
	c, err := autodiff.NewControl(s, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 6 {
		if err := c.Upload(); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Capture(func() error { return c.Upload() })
	t.Logf("in a capture: %v", err)
	for i := range 6 {
		c.Set("a", float32(i))
		if err := c.Upload(); err != nil {
			t.Errorf("upload %d after it: %v", i, err)
		}
	}
}

// A pool that is closed while a tape is open.
func TestRegressPoolClosedEarly(t *testing.T) {
	s := sim(t)
	a := tensor(t, s, dtype.F32, []float64{1, 2}, 2)
	pool := autodiff.NewPool(s)
	tp := tape(t, s, autodiff.WithPool(pool))
	y := ops.Add(tp, tp.Input("x", a), tp.Input("x", a))
	pool.Close()
	ops.Add(tp, y, y)
	if _, err := tp.Close(); err == nil {
		t.Error("no error")
	} else {
		t.Log(err)
	}
}

// Retained, several losses, loss of a loss.
func TestRegressLosses(t *testing.T) {
	s := sim(t)
	pool := autodiff.NewPool(s).Poison()
	defer pool.Close()
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{3}, 1, 1))
	for _, st := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
		tp := tape(t, s, autodiff.WithPool(pool), autodiff.WithStrategy(st), autodiff.Strict())
		x := tp.Param(p)
		var l1, l2 autodiff.Tensor
		autodiff.Block(tp, func() struct{} {
			l1 = cube.Apply(tp, none{}, unaryIn{x}).Y.Retain()
			l2 = mul.Apply(tp, none{}, binaryIn{l1, l1}).Y.Retain()
			return struct{}{}
		})
		if err := tp.Backward(l1, l2, l1); err != nil {
			t.Fatal(err)
		}
		// x^3 *2 + x^6: 6x^2 + 6x^5 = 54 + 1458
		equal(t, "dp", grad(t, x), []float64{1512})
		equal(t, "dl1", grad(t, l1), []float64{2 + 54})
		closed(t, tp)
		if pool.Stats().InUse != 0 {
			t.Errorf("in use")
		}
	}
}
