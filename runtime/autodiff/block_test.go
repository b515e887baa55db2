package autodiff_test

import (
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
)

// What an inner Block returned ends with the outer one.
func TestNestedBlocks(t *testing.T) {
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
		closed(t, tp)
		pool.Close()
	}
	if use[true] != use[false] {
		t.Errorf("after the outer block %d bytes are in use with inner blocks, %d without", use[true], use[false])
	}
}

// What a Block returns in an array stays, too.
func TestBlockArray(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2}, 1, 2))
	tp := tape(t, s, autodiff.WithPhase(autodiff.Eval))
	ys := autodiff.Block(tp, func() [2]autodiff.Tensor {
		y := cube.Apply(tp, none{}, unaryIn{tp.Param(p)}).Y
		return [2]autodiff.Tensor{y, y}
	})
	equal(t, "y", floats(t, ys[1], nil), []float64{1, 8})
	closed(t, tp)
}

// A memory-bound op that returns its input can be replayed.
var hand = autodiff.New("hand", autodiff.Spec[none, unaryIn, out, none]{
	MemoryBound: true,
	Forward:     func(x *autodiff.Exec, _ none, in unaryIn) (out, none, error) { return out{in.X}, none{}, nil },
	Backward:    func(x *autodiff.Exec, _ none, in unaryIn, _ none, dy out) (unaryIn, error) { return unaryIn{dy.Y}, nil },
})

func TestReplayOfIdentity(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	for _, strategy := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
		tp := tape(t, s, autodiff.WithStrategy(strategy), autodiff.Strict())
		x := tp.Param(p)
		y := autodiff.Block(tp, func() autodiff.Tensor {
			z := hand.Apply(tp, none{}, unaryIn{cube.Apply(tp, none{}, unaryIn{x}).Y}).Y
			return mul.Apply(tp, none{}, binaryIn{z, z}).Y
		})
		if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
			t.Fatalf("%s: %v", strategy, err)
		}
		equal(t, "dp", grad(t, x), []float64{6, 192, 1458, 6144}) // 6x^5
		closed(t, tp)
	}
}

// The launches of the books are those of the stream, though replays run within other passes.
func TestLaunchesAreCountedOnce(t *testing.T) {
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
	sum := 0
	for _, c := range closed(t, tp).Ops[autodiff.Train] {
		sum += c.Launches.Forward + c.Launches.Backward + c.Launches.Replay
	}
	if sum != made {
		t.Errorf("the books have %d launches, the stream made %d", sum, made)
	}
}
