package autodiff_test

import (
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
)

// L = sum((a*b + a)^3): gradients through a tensor used twice, an op that passes one gradient to two inputs, and a
// memory-bound op that saves.
func TestGradients(t *testing.T) {
	s := sim(t)
	a := autodiff.NewParam("a", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	b := autodiff.NewParam("b", tensor(t, s, dtype.F32, []float64{1, -1, 2, -2}, 2, 2))
	for _, strategy := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
		for _, off := range [][]string{nil, {"cube"}} {
			tp := tape(t, s, autodiff.WithStrategy(strategy), autodiff.Off(off...), autodiff.Strict(), autodiff.Anomaly())
			A, B := tp.Param(a), tp.Param(b)
			loss := autodiff.Block(tp, func() autodiff.Tensor {
				h := add.Apply(tp, none{}, binaryIn{mul.Apply(tp, none{}, binaryIn{A, B}).Y, A}).Y
				return total.Apply(tp, none{}, unaryIn{cube.Apply(tp, none{}, unaryIn{h}).Y}).L
			})
			if err := tp.Backward(loss); err != nil {
				t.Fatal(err)
			}
			// h = 2 0 9 -4; dh = 3h^2 = 12 0 243 48; da = dh*(b+1), db = dh*a
			equal(t, "loss", floats(t, loss, nil), []float64{8 + 729 - 64})
			equal(t, "da", grad(t, A), []float64{24, 0, 729, -48})
			equal(t, "db", grad(t, B), []float64{12, 0, 729, 192})
			l := closed(t, tp)
			want := "train cube=1/1 bwd=1 ref=0 plus=1/1 bwd=1 times=1/1 bwd=1 total=1/1 bwd=1"
			if off != nil {
				want = "train cube=0/1 bwd=0 ref=1 declined(killed)=1 plus=1/1 bwd=1 times=3/3 bwd=3 total=1/1 bwd=1"
			}
			if l.String() != want {
				t.Errorf("%s %v:\n got %s\nwant %s", strategy, off, l, want)
			}
			if got := l.Of(autodiff.Train, "cube").Replays; strategy == autodiff.Recompute && off == nil && got != 1 || strategy == autodiff.SaveAll && got != 0 {
				t.Errorf("%s: %d replays", strategy, got)
			}
		}
	}
}
