//go:build !gotilegen

package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
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

func brkGrad(t *testing.T, x autodiff.Tensor) []float64 {
	t.Helper()
	g, err := x.Grad()
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Floats()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Div is computed in f32 and rounded once: -dy*a/b^2 of f16 does not overflow in between.
func TestRegressDivOverflow(t *testing.T) {
	s := brkSim(t)
	tp, _ := autodiff.NewTape(s)
	a, b := tp.TrackedInput("a", brkTensor(t, s, dtype.F16, []float64{300}, 1)), tp.TrackedInput("b", brkTensor(t, s, dtype.F16, []float64{100}, 1))
	if err := tp.BackwardFrom(autodiff.Seed{Of: ops.Div(tp, a, b), Grad: brkTensor(t, s, dtype.F16, []float64{300}, 1)}); err != nil {
		t.Fatal(err)
	}
	if g := brkGrad(t, b); math.Abs(g[0]+9) > 0.01 {
		t.Errorf("db is %v, want -9", g)
	}
	// and does not vanish
	tp, _ = autodiff.NewTape(s)
	a, b = tp.TrackedInput("a", brkTensor(t, s, dtype.F16, []float64{1e-4}, 1)), tp.TrackedInput("b", brkTensor(t, s, dtype.F16, []float64{1e-2}, 1))
	if err := tp.BackwardFrom(autodiff.Seed{Of: ops.Div(tp, a, b), Grad: brkTensor(t, s, dtype.F16, []float64{1e-4}, 1)}); err != nil {
		t.Fatal(err)
	}
	if g := brkGrad(t, b); math.Abs(g[0]+1e-4) > 1e-6 {
		t.Errorf("db is %v, want -1e-4", g)
	}
}

// Tensors without elements, in poisoned memory.
func TestRegressEmpty(t *testing.T) {
	s := brkSim(t)
	for _, dt := range []dtype.Type{dtype.F32, dtype.F16, dtype.BF16} {
		for _, shape := range [][2]int{{0, 5}, {3, 0}, {0, 0}} {
			for name, f := range map[string]func(tp *autodiff.Tape, x, w, d autodiff.Tensor) autodiff.Tensor{
				"mul_rows": func(tp *autodiff.Tape, x, w, d autodiff.Tensor) autodiff.Tensor { return ops.MulRows(tp, x, w) },
				"div_cols": func(tp *autodiff.Tape, x, w, d autodiff.Tensor) autodiff.Tensor { return ops.DivCols(tp, x, d) },
				"silu":     func(tp *autodiff.Tape, x, w, d autodiff.Tensor) autodiff.Tensor { return ops.Silu(tp, x) },
				"add":      func(tp *autodiff.Tape, x, w, d autodiff.Tensor) autodiff.Tensor { return ops.Add(tp, x, x) },
				"div":      func(tp *autodiff.Tape, x, w, d autodiff.Tensor) autodiff.Tensor { return ops.Div(tp, x, x) },
			} {
				pool := autodiff.NewPool(s).Poison()
				tp, _ := autodiff.NewTape(s, autodiff.WithPool(pool), autodiff.Anomaly())
				x := tp.TrackedInput("x", brkTensor(t, s, dt, nil, shape[0], shape[1]))
				w := tp.TrackedInput("w", brkTensor(t, s, dt, make([]float64, shape[1]), shape[1]))
				one := make([]float64, shape[0])
				for i := range one {
					one[i] = 1
				}
				d := tp.TrackedInput("d", brkTensor(t, s, dtype.F32, one, shape[0]))
				y := f(tp, x, w, d)
				if tp.Err() != nil {
					t.Errorf("%s %v %v: %v", name, dt, shape, tp.Err())
					continue
				}
				if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: brkTensor(t, s, dt, nil, shape[0], shape[1])}); err != nil {
					t.Errorf("%s %v %v: %v", name, dt, shape, err)
					continue
				}
				for _, leaf := range []autodiff.Tensor{w, d} {
					if g, err := leaf.Grad(); err == nil {
						v, err := g.Floats()
						for _, e := range v {
							if e != 0 || err != nil {
								t.Errorf("%s %v %v: a gradient is %v %v, want zeros", name, dt, shape, v, err)
								break
							}
						}
					}
				}
				tp.Close()
				pool.Close()
			}
		}
	}
}

// Strided inputs: right, or refused.
func TestRegressStrided(t *testing.T) {
	s := brkSim(t)
	whole := brkTensor(t, s, dtype.F32, []float64{1, 2, 100, 200, 3, 4, 300, 400}, 2, 4)
	x, err := device.View(whole.Buffer(), 0, dtype.F32, []int{2, 2}, []int{4, 1})
	if err != nil {
		t.Fatal(err)
	}
	xt, err := device.View(whole.Buffer(), 0, dtype.F32, []int{2, 2}, []int{1, 4})
	if err != nil {
		t.Fatal(err)
	}
	rep, err := device.View(whole.Buffer(), 0, dtype.F32, []int{2, 2}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	w := brkTensor(t, s, dtype.F32, []float64{10, 20}, 2)
	seed := brkTensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	for name, c := range map[string]struct {
		x    device.Tensor
		vals []float64
	}{"rows": {x, []float64{1, 2, 3, 4}}, "transposed": {xt, []float64{1, 3, 2, 4}}, "repeated": {rep, []float64{1, 2, 1, 2}}} {
		for _, sd := range []device.Tensor{seed, x} {
			sv, _ := device.DownloadFloats(s, sd)
			pool := autodiff.NewPool(s).Poison()
			tp, _ := autodiff.NewTape(s, autodiff.WithPool(pool))
			X, W := tp.TrackedInput("x", c.x), tp.TrackedInput("w", w)
			y := ops.MulRows(tp, X, W)
			if tp.Err() != nil {
				t.Logf("%s refused: %v", name, tp.Err())
				continue
			}
			yv, _ := y.Floats()
			for i := range yv {
				if yv[i] != c.vals[i]*[]float64{10, 20}[i%2] {
					t.Errorf("%s: y is %v", name, yv)
					break
				}
			}
			if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: sd}); err != nil {
				t.Logf("%s backward refused: %v", name, err)
				continue
			}
			gx, gw := brkGrad(t, X), brkGrad(t, W)
			for i := range gx {
				if gx[i] != sv[i]*[]float64{10, 20}[i%2] {
					t.Errorf("%s: dx is %v, seed %v", name, gx, sv)
					break
				}
			}
			if gw[0] != sv[0]*c.vals[0]+sv[2]*c.vals[2] || gw[1] != sv[1]*c.vals[1]+sv[3]*c.vals[3] {
				t.Errorf("%s: dw is %v", name, gw)
			}
			tp.Close()
		}
		tp, _ := autodiff.NewTape(s)
		ops.Silu(tp, tp.Input("x", c.x))
		if tp.Err() == nil {
			t.Errorf("%s: silu took a strided tensor", name)
		}
		tp, _ = autodiff.NewTape(s)
		m := ops.Mean(tp, tp.Input("x", c.x))
		if tp.Err() == nil {
			v, _ := m.Floats()
			if v[0] != (c.vals[0]+c.vals[1])/2 || v[1] != (c.vals[2]+c.vals[3])/2 {
				t.Errorf("%s: mean %v", name, v)
			}
		}
	}
}

// x^p where p is 2 or x is not above 0, x^0, x^1.
func TestRegressPow(t *testing.T) {
	s := brkSim(t)
	for _, p := range []float32{2, 1, 0, 3} {
		tp, _ := autodiff.NewTape(s)
		x := tp.TrackedInput("x", brkTensor(t, s, dtype.F32, []float64{0, 1, -1, 4}, 4))
		y := ops.Pow(tp, x, p)
		v, _ := y.Floats()
		if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: brkTensor(t, s, dtype.F32, []float64{1, 1, 1, 1}, 4)}); err != nil {
			t.Fatal(err)
		}
		t.Logf("p %v: %v slope %v", p, v, brkGrad(t, x))
	}
}

// Sigmoid and silu at the ends.
func TestRegressEnds(t *testing.T) {
	s := brkSim(t)
	for name, f := range map[string]func(*autodiff.Tape, autodiff.Tensor) autodiff.Tensor{"silu": ops.Silu, "sigmoid": ops.Sigmoid, "sqrt": ops.Sqrt} {
		tp, _ := autodiff.NewTape(s)
		in := []float64{-1e4, -90, 90, 1e4, -3e38, 3e38}
		if name == "sqrt" {
			in = []float64{1e-30, 1e30, 4, 9, 1, 3e38}
		}
		x := tp.TrackedInput("x", brkTensor(t, s, dtype.F32, in, 6))
		y := f(tp, x)
		v, _ := y.Floats()
		if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: brkTensor(t, s, dtype.F32, []float64{1, 1, 1, 1, 1, 1}, 6)}); err != nil {
			t.Fatal(err)
		}
		g := brkGrad(t, x)
		for _, e := range append(append([]float64{}, v...), g...) {
			if math.IsNaN(e) {
				t.Errorf("%s: %v slope %v", name, v, g)
				break
			}
		}
		t.Log(name, fmt.Sprint(v, g))
	}
}
