//go:build !gotilegen

package rmsnorm

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

func brkSim(t *testing.T) *device.Stream {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d.Stream()
}

func brkTensor(t *testing.T, s *device.Stream, dt dtype.Type, v []float64, shape ...int) device.Tensor {
	t.Helper()
	x, err := s.NewTensor(dt, shape...)
	if err == nil && len(v) > 0 {
		err = device.UploadFloats(s, x, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A gate without an activation: fused it is refused, switched off it is silu.
func TestRegressGatedWithoutActivation(t *testing.T) {
	s := brkSim(t)
	x, w := brkTensor(t, s, dtype.F32, []float64{1, 2}, 1, 2), brkTensor(t, s, dtype.F32, []float64{1, 2}, 2)
	for _, act := range []Activation{0, 77} {
		var errs [2]error
		for i, off := range [][]string{nil, {"rmsnorm_gated"}} {
			tp, err := autodiff.NewTape(s, autodiff.Off(off...))
			if err != nil {
				t.Fatal(err)
			}
			GatedOp.Apply(tp, Params{Eps: 1e-5, Act: act}, GatedIn{tp.Input("x", x), tp.Input("z", x), tp.Input("w", w)})
			_, errs[i] = tp.Close()
		}
		if errs[0] == nil || errs[1] == nil {
			t.Errorf("activation %v: fused %v, as Ref %v", act, errs[0], errs[1])
		}
	}
	// an activation where there is no gate
	tp, _ := autodiff.NewTape(s)
	Op.Apply(tp, Params{Eps: 1e-5, Act: Silu}, In{tp.Input("x", x), tp.Input("w", w)})
	if _, err := tp.Close(); err == nil || !strings.Contains(err.Error(), "the op has no gate; use GatedOp") {
		t.Errorf("an activation where there is no gate: %v", err)
	}
}

// eps that is negative or no finite number: both arms refuse. 0 is one.
func TestRegressEps(t *testing.T) {
	s := brkSim(t)
	x, w := brkTensor(t, s, dtype.F32, []float64{1, 2}, 1, 2), brkTensor(t, s, dtype.F32, []float64{1, 2}, 2)
	for _, eps := range []float32{-1, float32(math.NaN()), 0, float32(math.Inf(1))} {
		var errs [2]error
		for i, off := range [][]string{nil, {"rmsnorm"}} {
			tp, err := autodiff.NewTape(s, autodiff.Off(off...))
			if err != nil {
				t.Fatal(err)
			}
			Op.Apply(tp, Params{Eps: eps}, In{tp.Input("x", x), tp.Input("w", w)})
			_, errs[i] = tp.Close()
		}
		for _, err := range errs {
			if (eps == 0) != (err == nil) || err != nil && !errors.Is(err, bind.ErrValue) {
				t.Errorf("eps %v: fused %v, as Ref %v", eps, errs[0], errs[1])
			}
		}
	}
}

// No rows: the gradient of w is zeros.
func TestRegressNoRows(t *testing.T) {
	s := brkSim(t)
	pool := autodiff.NewPool(s).Poison()
	defer pool.Close()
	for _, n := range []int{2, 4096} {
		for _, off := range [][]string{nil, {"rmsnorm"}} {
			tp, _ := autodiff.NewTape(s, autodiff.WithPool(pool), autodiff.Off(off...))
			W := tp.TrackedInput("w", brkTensor(t, s, dtype.F32, make([]float64, n), n))
			y := Op.Apply(tp, Params{Eps: 1e-5}, In{tp.TrackedInput("x", brkTensor(t, s, dtype.F32, nil, 0, n)), W}).Y
			if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: brkTensor(t, s, dtype.F32, nil, 0, n)}); err != nil {
				t.Errorf("n %d, off %v: %v", n, off, err)
				continue
			}
			g, err := W.Grad()
			if err != nil {
				t.Fatal(err)
			}
			v, err := g.Floats()
			for _, e := range v {
				if e != 0 || err != nil {
					t.Errorf("n %d, off %v: dw is %v %v", n, off, e, err)
					break
				}
			}
			tp.Close()
		}
	}
}

// Only some inputs tracked, poisoned memory, both strategies, residual stream used outside of its block.
func TestRegressSubsets(t *testing.T) {
	s := brkSim(t)
	const rows, n = 3, 10
	vals := func(k int) []float64 {
		v := make([]float64, rows*n)
		for i := range v {
			v[i] = math.Sin(float64(i*k + k))
		}
		return v
	}
	tx, tr, tz := brkTensor(t, s, dtype.F32, vals(1), rows, n), brkTensor(t, s, dtype.F32, vals(2), rows, n), brkTensor(t, s, dtype.F32, vals(3), rows, n)
	tw, dy := brkTensor(t, s, dtype.F32, vals(4)[:n], n), brkTensor(t, s, dtype.F32, vals(5), rows, n)
	p := Params{Eps: 1e-5, Act: Silu}
	run := func(mask int, strategy autodiff.Strategy, off bool) (out [4][]float64) {
		pool := autodiff.NewPool(s).Poison()
		defer pool.Close()
		opts := []autodiff.Option{autodiff.WithPool(pool), autodiff.WithStrategy(strategy), autodiff.Strict(), autodiff.Anomaly()}
		if off {
			opts = append(opts, autodiff.Off("rmsnorm", "rmsnorm_add", "rmsnorm_gated"))
		}
		tp, err := autodiff.NewTape(s, opts...)
		if err != nil {
			t.Fatal(err)
		}
		var in [4]autodiff.Tensor
		for i, d := range []device.Tensor{tx, tr, tz, tw} {
			if mask>>i&1 == 1 {
				in[i] = tp.TrackedInput(string("xrzw"[i]), d)
			} else {
				in[i] = tp.Input(string("xrzw"[i]), d)
			}
		}
		type two struct{ Y, S autodiff.Tensor }
		b := autodiff.Block(tp, func() two {
			h := GatedOp.Apply(tp, p, GatedIn{in[0], in[2], in[3]}).Y
			a := AddOp.Apply(tp, Params{Eps: p.Eps}, AddIn{h, in[1], in[3]})
			return two(a)
		})
		y := autodiff.Block(tp, func() autodiff.Tensor {
			a := AddOp.Apply(tp, Params{Eps: p.Eps}, AddIn{b.Y, b.S, in[3]})
			c := AddOp.Apply(tp, Params{Eps: p.Eps}, AddIn{a.Y, a.S, in[3]})
			return Op.Apply(tp, Params{Eps: p.Eps}, In{c.S, in[3]}).Y
		})
		if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: dy}); err != nil {
			t.Fatalf("%d %s %v: %v", mask, strategy, off, err)
		}
		for i := range in {
			if in[i].Tracked() {
				g, err := in[i].Grad()
				if err == nil {
					out[i], err = g.Floats()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := tp.Close(); err != nil && mask == 15 {
			t.Errorf("%d %s %v: %v", mask, strategy, off, err)
		}
		if st := pool.Stats(); st.InUse != 0 {
			t.Errorf("in use %d", st.InUse)
		}
		return out
	}
	all := run(15, autodiff.SaveAll, false)
	for mask := 1; mask < 16; mask++ {
		for _, st := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
			for _, off := range []bool{false, true} {
				got := run(mask, st, off)
				for i := range got {
					for j := range got[i] {
						if d := math.Abs(got[i][j] - all[i][j]); !(d < 1e-4) || !off && got[i][j] != all[i][j] {
							t.Fatalf("mask %d %s off %v: gradient %d[%d] is %v, want %v", mask, st, off, i, j, got[i][j], all[i][j])
						}
					}
				}
			}
		}
	}
}
