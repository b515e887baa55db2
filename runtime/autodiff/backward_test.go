package autodiff_test

import (
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// Several losses, one of them twice and one that another depends on; both are retained.
func TestLosses(t *testing.T) {
	s := sim(t)
	pool := autodiff.NewPool(s).Poison()
	defer pool.Close()
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{3}, 1, 1))
	for _, strategy := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
		tp := tape(t, s, autodiff.WithPool(pool), autodiff.WithStrategy(strategy), autodiff.Strict())
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
		if st := pool.Stats(); st.InUse != 0 {
			t.Errorf("%s: %d bytes in use after Close", strategy, st.InUse)
		}
	}
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
