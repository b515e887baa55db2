package autodiff_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/fixture"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// traced notes its passes: "forward 2", "backward 2".
type trace struct {
	log *[]string
	n   int
}

var traced = autodiff.New("traced", autodiff.Spec[trace, unaryIn, out, cubeSaved]{
	MemoryBound: true,
	Forward: func(x *autodiff.Exec, p trace, in unaryIn) (o out, s cubeSaved, err error) {
		o.Y, s.Square = x.Like(in.X), x.Scratch(dtype.F32, 1)
		err = host(x, o.Y, func(_ int, v ...float64) float64 { return 2 * v[0] }, in.X)
		*p.log = append(*p.log, fmt.Sprint("forward ", p.n))
		return o, s, err
	},
	Backward: func(x *autodiff.Exec, p trace, in unaryIn, _ cubeSaved, dy out) (d unaryIn, err error) {
		*p.log = append(*p.log, fmt.Sprint("backward ", p.n))
		d.X = x.Like(in.X)
		return d, host(x, d.X, func(_ int, v ...float64) float64 { return 2*v[0] + 0*v[1] }, dy.Y, in.X)
	},
})

// Each op of a block is replayed once, in the order of the forward pass, before the backward steps that need it.
func TestReplayedOnceInOrder(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2}, 1, 2))
	var log []string
	tp := tape(t, s, autodiff.WithStrategy(autodiff.Recompute), autodiff.Strict())
	x := tp.Param(p)
	for block := range 2 {
		x = autodiff.Block(tp, func() autodiff.Tensor {
			y := x
			for i := range 3 {
				y = traced.Apply(tp, trace{&log, 3*block + i}, unaryIn{y}).Y
			}
			return y
		})
	}
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{x}).L); err != nil {
		t.Fatal(err)
	}
	if want := []string{
		"forward 0", "forward 1", "forward 2", "forward 3", "forward 4", "forward 5",
		"forward 3", "forward 4", "forward 5", "backward 5", "backward 4", "backward 3",
		"forward 0", "forward 1", "forward 2", "backward 2", "backward 1", "backward 0",
	}; !slices.Equal(log, want) {
		t.Errorf("passes: %q", log)
	}
	equal(t, "dp", grad(t, tp.Param(p)), []float64{64, 64})
	if c := closed(t, tp).Of(autodiff.Train, "traced"); c.Replays != 6 || c.Forward != 6 || c.Backward != 6 {
		t.Errorf("the books: %+v", c)
	}
}

// stack is 8 blocks, each a residual RMSNorm whose output gates itself, as a model has them: x, s = norm(x + s), then
// norm(x)*silu(x).
type stack struct {
	s     *device.Stream
	x, t  device.Tensor
	add   []*autodiff.Param
	gated []*autodiff.Param
}

func newStack(t testing.TB, s *device.Stream, dt dtype.Type, rows, n int) *stack {
	data := func(seed uint64, shape ...int) device.Tensor {
		count := 1
		for _, d := range shape {
			count *= d
		}
		return tensor(t, s, dt, fixture.Uniform(dt, seed, count), shape...)
	}
	m := &stack{s: s, x: data(1, rows, n), t: data(2, rows, n)}
	for i := range uint64(8) {
		m.add = append(m.add, autodiff.NewParam(fmt.Sprint("add", i), data(10+i, n)))
		m.gated = append(m.gated, autodiff.NewParam(fmt.Sprint("gated", i), data(20+i, n)))
	}
	return m
}

// step is the forward and the backward pass.
func (m *stack) step(t testing.TB, tp *autodiff.Tape) {
	type pair struct{ X, S autodiff.Tensor }
	p := pair{tp.TrackedInput("x", m.x), tp.TrackedInput("s", m.t)}
	eps, gate := rmsnorm.Params{Eps: 1e-5}, rmsnorm.Params{Eps: 1e-5, Act: rmsnorm.Silu}
	for i := range m.add {
		p = autodiff.Block(tp, func() pair {
			a := rmsnorm.AddOp.Apply(tp, eps, rmsnorm.AddIn{X: p.X, R: p.S, W: tp.Param(m.add[i])})
			y := rmsnorm.GatedOp.Apply(tp, gate, rmsnorm.GatedIn{X: a.Y, Z: a.Y, W: tp.Param(m.gated[i])}).Y
			return pair{y, a.S}
		})
	}
	target := tp.Input("target", m.t)
	if err := tp.Backward(optim.SquaredError(tp, p.X, target), optim.SquaredError(tp, p.S, target)); err != nil {
		t.Fatal(err)
	}
}

// By Recompute gradients have the bits that they have by SaveAll, with less memory; replays count as launches, and not
// as forward passes.
func TestRecomputeHasTheSameBits(t *testing.T) {
	s := sim(t)
	for _, dt := range []dtype.Type{dtype.F32, dtype.BF16} {
		m := newStack(t, s, dt, 3, 40)
		var bits [2][][]float64
		var peak [2]int64
		for i, strategy := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
			pool := autodiff.NewPool(s).Poison()
			tp := tape(t, s, autodiff.WithStrategy(strategy), autodiff.WithPool(pool), autodiff.Strict())
			m.step(t, tp)
			for _, p := range append(m.add, m.gated...) {
				bits[i] = append(bits[i], grad(t, tp.Param(p)))
			}
			l := closed(t, tp)
			for _, op := range []string{"rmsnorm_add", "rmsnorm_gated"} {
				c := l.Of(autodiff.Train, op)
				if c.Forward != 8 || c.Backward != 8 || c.Launches.Forward != 8 || c.Replays != 8*i || c.Launches.Replay != 8*i {
					t.Errorf("%v %s %s: %+v", dt, strategy, op, c)
				}
			}
			peak[i] = pool.Stats().Peak
			if err := pool.Close(); err != nil {
				t.Error(err)
			}
		}
		for i := range bits[0] {
			equal(t, fmt.Sprintf("%v, gradient %d", dt, i), bits[1][i], bits[0][i])
			if slices.Max(bits[0][i]) == slices.Min(bits[0][i]) {
				t.Errorf("%v, gradient %d is %v everywhere", dt, i, bits[0][i][0])
			}
		}
		if peak[1] >= peak[0] {
			t.Errorf("%v: a peak of %d bytes by Recompute, %d by SaveAll", dt, peak[1], peak[0])
		}
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
			closed(t, tp)
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

// What is not tracked and was made again for a backward step is given back with it, and not only by Close.
func TestUntrackedRemadeIsGivenBack(t *testing.T) {
	s := sim(t)
	pool := autodiff.NewPool(s).Poison()
	defer pool.Close()
	c := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 1, 1, 1}, 2, 2))
	tp := tape(t, s, autodiff.WithStrategy(autodiff.Recompute), autodiff.WithPool(pool), autodiff.Strict())
	x := tp.Param(p)
	for range 8 { // each with constants of its own, which backward reads
		x = autodiff.Block(tp, func() autodiff.Tensor {
			k := cube.Apply(tp, none{}, unaryIn{cube.Apply(tp, none{}, unaryIn{tp.Input("c", c)}).Y}).Y
			return mul.Apply(tp, none{}, binaryIn{x, k}).Y
		})
	}
	pool.ResetPeak()
	before := pool.Stats().InUse
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{x}).L); err != nil {
		t.Fatal(err)
	}
	// Beside x of each block: the loss and its gradient, a gradient in and out, two constants and what cube saves.
	const tensor = 512
	if st := pool.Stats(); st.Peak > before+8*tensor {
		t.Errorf("backward took %d bytes beside the %d of the forward pass", st.Peak-before, before)
	}
	if got := closed(t, tp).Of(autodiff.Train, "cube"); got.Replays != 16 || got.Untracked != 16 {
		t.Errorf("the books: %+v", got)
	}
	if st := pool.Stats(); st.InUse != 0 {
		t.Errorf("%d bytes in use after Close", st.InUse)
	}
}
