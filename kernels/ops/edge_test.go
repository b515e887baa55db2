//go:build !gotilegen

package ops_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

func open(t *testing.T) *device.Stream {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d.Stream()
}

func tensorOf(t *testing.T, s *device.Stream, dt dtype.Type, v []float64, shape ...int) device.Tensor {
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

func gradOf(t *testing.T, x autodiff.Tensor) []float64 {
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
func TestDivOverflow(t *testing.T) {
	s := open(t)
	tp, _ := autodiff.NewTape(s)
	a, b := tp.TrackedInput("a", tensorOf(t, s, dtype.F16, []float64{300}, 1)), tp.TrackedInput("b", tensorOf(t, s, dtype.F16, []float64{100}, 1))
	if err := tp.BackwardFrom(autodiff.Seed{Of: ops.Div(tp, a, b), Grad: tensorOf(t, s, dtype.F16, []float64{300}, 1)}); err != nil {
		t.Fatal(err)
	}
	if g := gradOf(t, b); math.Abs(g[0]+9) > 0.01 {
		t.Errorf("db is %v, want -9", g)
	}
	// and does not vanish
	tp, _ = autodiff.NewTape(s)
	a, b = tp.TrackedInput("a", tensorOf(t, s, dtype.F16, []float64{1e-4}, 1)), tp.TrackedInput("b", tensorOf(t, s, dtype.F16, []float64{1e-2}, 1))
	if err := tp.BackwardFrom(autodiff.Seed{Of: ops.Div(tp, a, b), Grad: tensorOf(t, s, dtype.F16, []float64{1e-4}, 1)}); err != nil {
		t.Fatal(err)
	}
	if g := gradOf(t, b); math.Abs(g[0]+1e-4) > 1e-6 {
		t.Errorf("db is %v, want -1e-4", g)
	}
}

// Tensors without elements, in poisoned memory.
func TestEmpty(t *testing.T) {
	s := open(t)
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
				x := tp.TrackedInput("x", tensorOf(t, s, dt, nil, shape[0], shape[1]))
				w := tp.TrackedInput("w", tensorOf(t, s, dt, make([]float64, shape[1]), shape[1]))
				one := make([]float64, shape[0])
				for i := range one {
					one[i] = 1
				}
				d := tp.TrackedInput("d", tensorOf(t, s, dtype.F32, one, shape[0]))
				y := f(tp, x, w, d)
				if tp.Err() != nil {
					t.Errorf("%s %v %v: %v", name, dt, shape, tp.Err())
					continue
				}
				if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: tensorOf(t, s, dt, nil, shape[0], shape[1])}); err != nil {
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

// Ops of rows and columns take rows apart from one another; what is not in rows, and ops that do not care for the shape,
// refuse other strides.
func TestStrided(t *testing.T) {
	s := open(t)
	whole := tensorOf(t, s, dtype.F32, []float64{1, 2, 100, 200, 3, 4, 300, 400}, 2, 4)
	view := func(strides ...int) device.Tensor {
		x, err := device.View(whole.Buffer(), 0, dtype.F32, []int{2, 2}, strides)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	w, d := tensorOf(t, s, dtype.F32, []float64{10, 20}, 2), tensorOf(t, s, dtype.F32, []float64{2, 4}, 2)
	seed := tensorOf(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	for name, c := range map[string]struct {
		x    device.Tensor
		rows bool
		v    []float64
	}{
		"padded rows": {view(4, 1), true, []float64{1, 2, 3, 4}}, "repeated rows": {view(0, 1), true, []float64{1, 2, 1, 2}},
		"transposed": {view(1, 4), false, nil},
	} {
		tp, _ := autodiff.NewTape(s, autodiff.Strict())
		x, W := tp.TrackedInput("x", c.x), tp.TrackedInput("w", w)
		y, z, m := ops.MulRows(tp, x, W), ops.DivCols(tp, x, tp.Input("d", d)), ops.Mean(tp, x)
		if !c.rows {
			if _, err := tp.Close(); !errors.Is(err, bind.ErrStride) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		v := c.v
		same(t, name+": mul_rows", y, v[0]*10, v[1]*20, v[2]*10, v[3]*20)
		same(t, name+": div_cols", z, v[0]/2, v[1]/2, v[2]/4, v[3]/4)
		same(t, name+": mean", m, (v[0]+v[1])/2, (v[2]+v[3])/2)
		if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: seed}, autodiff.Seed{Of: z, Grad: seed}, autodiff.Seed{Of: m, Grad: d}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if g := gradOf(t, x); !slices.Equal(g, []float64{10 + 0.5 + 1, 40 + 1 + 1, 30 + 0.75 + 2, 80 + 1 + 2}) {
			t.Errorf("%s: dx is %v", name, g)
		}
		if g := gradOf(t, W); !slices.Equal(g, []float64{v[0] + 3*v[2], 2*v[1] + 4*v[3]}) {
			t.Errorf("%s: dw is %v", name, g)
		}
		if _, err := tp.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, op := range map[string]func(*autodiff.Tape, autodiff.Tensor) autodiff.Tensor{"silu": ops.Silu, "sqrt": ops.Sqrt} {
		tp, _ := autodiff.NewTape(s)
		op(tp, tp.Input("x", view(4, 1)))
		if _, err := tp.Close(); !errors.Is(err, device.ErrShape) {
			t.Errorf("%s of padded rows: %v", name, err)
		}
	}
}

// same compares a tensor with numbers that are exact.
func same(t *testing.T, what string, x autodiff.Tensor, want ...float64) {
	t.Helper()
	if v, err := x.Floats(); err != nil || !slices.Equal(v, want) {
		t.Errorf("%s is %v, %v; want %v", what, v, err, want)
	}
}

// x^p and its slope where the formula by logarithms has no number: x = 0, x below 0, p = 0.
func TestPow(t *testing.T) {
	s := open(t)
	nan := math.NaN()
	for _, c := range []struct {
		p        float32
		y, slope []float64 // at 0, 1, -1 and 4
	}{
		{2, []float64{0, 1, 1, 16}, []float64{0, 2, -2, 8}},
		{1, []float64{0, 1, nan, 4}, []float64{nan, 1, nan, 1}},
		{0, []float64{nan, 1, nan, 1}, []float64{nan, 0, nan, 0}},
		{3, []float64{0, 1, nan, 64}, []float64{0, 3, nan, 48}},
	} {
		tp, _ := autodiff.NewTape(s)
		x := tp.TrackedInput("x", tensorOf(t, s, dtype.F32, []float64{0, 1, -1, 4}, 4))
		y := ops.Pow(tp, x, c.p)
		v, err := y.Floats()
		if err != nil {
			t.Fatal(err)
		}
		if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: tensorOf(t, s, dtype.F32, []float64{1, 1, 1, 1}, 4)}); err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprintf("x^%v", c.p), v, c.y)
		near(t, fmt.Sprintf("the slope of x^%v", c.p), gradOf(t, x), c.slope)
	}
}

// Roots and activations at the ends of f32: no NaN, and the limits.
func TestEnds(t *testing.T) {
	s := open(t)
	for name, c := range map[string]struct {
		op           func(*autodiff.Tape, autodiff.Tensor) autodiff.Tensor
		x, y, slopes []float64
	}{
		"silu":     {ops.Silu, []float64{-3e38, -1e4, 0, 1e4, 3e38}, []float64{0, 0, 0, 1e4, 3e38}, []float64{0, 0, 0.5, 1, 1}},
		"sigmoid":  {ops.Sigmoid, []float64{-3e38, -1e4, 0, 1e4, 3e38}, []float64{0, 0, 0.5, 1, 1}, []float64{0, 0, 0.25, 0, 0}},
		"tanh":     {ops.Tanh, []float64{-3e38, -20, 0, 20, 3e38}, []float64{-1, -1, 0, 1, 1}, []float64{0, 4 * math.Exp(-40), 1, 4 * math.Exp(-40), 0}},
		"softplus": {ops.Softplus, []float64{-3e38, -50, 0, 50, 3e38}, []float64{0, math.Exp(-50), math.Ln2, 50, 3e38}, []float64{0, math.Exp(-50), 0.5, 1, 1}},
		"log":      {ops.Log, []float64{1e-30, 1, math.E, 8, 1e30}, []float64{math.Log(1e-30), 0, 1, math.Log(8), math.Log(1e30)}, []float64{1e30, 1, 1 / math.E, 0.125, 1e-30}},
		"exp":      {ops.Exp, []float64{-3e38, -80, 0, 1, 80}, []float64{0, math.Exp(-80), 1, math.E, math.Exp(80)}, []float64{0, math.Exp(-80), 1, math.E, math.Exp(80)}},
		"neg":      {ops.Neg, []float64{-3e38, -1, 0, 1, 3e38}, []float64{3e38, 1, 0, -1, -3e38}, []float64{-1, -1, -1, -1, -1}},
		"sqrt":     {ops.Sqrt, []float64{1e-30, 1, 4, 9, 1e30}, []float64{1e-15, 1, 2, 3, 1e15}, []float64{5e14, 0.5, 0.25, 1.0 / 6, 5e-16}},
	} {
		tp, _ := autodiff.NewTape(s)
		x := tp.TrackedInput("x", tensorOf(t, s, dtype.F32, c.x, 5))
		y := c.op(tp, x)
		v, err := y.Floats()
		if err != nil {
			t.Fatal(err)
		}
		if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: tensorOf(t, s, dtype.F32, []float64{1, 1, 1, 1, 1}, 5)}); err != nil {
			t.Fatal(err)
		}
		near(t, name, v, c.y)
		near(t, "the slope of "+name, gradOf(t, x), c.slopes)
	}
}

// near compares with an error of 1e-6 of each number, and NaN with NaN.
func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 1e-6*math.Abs(w)) && !(math.IsNaN(got[i]) && math.IsNaN(w)) {
			t.Errorf("%s is %v, want %v", what, got, want)
			return
		}
	}
}

// Softmax of large, masked and infinite elements, as a row tells: -Inf counts nothing, +Inf and NaN make a row NaN.
func TestSoftmaxEnds(t *testing.T) {
	s := open(t)
	inf, nan := math.Inf(1), math.NaN()
	tp, _ := autodiff.NewTape(s, autodiff.WithPhase(autodiff.Eval))
	x := tp.Input("x", tensorOf(t, s, dtype.F32, []float64{
		1e30, 1e30, -1e30,
		-inf, 0, 0,
		-inf, -inf, -inf,
		inf, 0, 0,
		nan, 0, 0,
	}, 5, 3))
	y, err := ops.Softmax(tp, x).Floats()
	if err != nil {
		t.Fatal(err)
	}
	one, err := ops.Softmax(tp, tp.Input("one", tensorOf(t, s, dtype.F32, []float64{-3, 5}, 2, 1))).Floats()
	if err != nil {
		t.Fatal(err)
	}
	near(t, "softmax of rows of one", one, []float64{1, 1})
	near(t, "softmax", y, []float64{0.5, 0.5, 0, 0, 0.5, 0.5, nan, nan, nan, nan, nan, nan, nan, nan, nan})
	z, err := ops.LogSoftmax(tp, x).Floats()
	if err != nil {
		t.Fatal(err)
	}
	ln2 := math.Log(0.5)
	near(t, "log softmax of masked elements", z[4:6], []float64{ln2, ln2})
	if !math.IsInf(z[3], -1) {
		t.Errorf("log softmax of -Inf is %v", z[3])
	}
}
