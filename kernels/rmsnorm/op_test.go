//go:build !gotilegen

package rmsnorm

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// The ops give the gradients of the reference, by both strategies, and the books say that the kernels did it.
func TestOps(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := d.Stream()
	const rows, n, eps = 5, 96, 1e-5
	input := func(seed uint64, shape ...int) ([]float64, device.Tensor) {
		x, err := device.NewTensor(d, dtype.F32, shape...)
		v := make([]float64, x.Elems())
		for i := range v {
			v[i] = tiletest.UniformAt(dtype.F32, seed, uint64(i))
		}
		if err == nil {
			err = device.UploadFloats(s, x, v)
		}
		if err != nil {
			t.Fatal(err)
		}
		return v, x
	}
	x, tx := input(1, rows, n)
	r, tr := input(2, rows, n)
	z, tz := input(3, rows, n)
	w, tw := input(4, n)
	dy, tdy := input(5, rows, n)
	sum := make([]float64, len(x))
	for i := range x {
		sum[i] = float64(float32(x[i]) + float32(r[i]))
	}
	near := func(what string, got autodiff.Tensor, err error, want []float64) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		g, err := got.Floats()
		if err != nil {
			t.Fatal(err)
		}
		var diff, scale float64
		for i := range want {
			diff, scale = max(diff, math.Abs(g[i]-want[i])), max(scale, math.Abs(want[i]))
		}
		if !(diff <= 1e-6*scale) {
			t.Errorf("%s is off by %.2g of %.2g", what, diff, scale)
		}
	}
	for _, strategy := range []autodiff.Strategy{autodiff.SaveAll, autodiff.Recompute} {
		t.Run(string(strategy), func(t *testing.T) {
			tape := func() (*autodiff.Tape, autodiff.Tensor, autodiff.Tensor) {
				tp, err := autodiff.NewTape(s, autodiff.WithStrategy(strategy), autodiff.Strict())
				if err != nil {
					t.Fatal(err)
				}
				return tp, tp.TrackedInput("x", tx), tp.TrackedInput("w", tw)
			}
			end := func(tp *autodiff.Tape, y autodiff.Tensor, line string) {
				t.Helper()
				if err := tp.Err(); err != nil {
					t.Fatal(err)
				}
				l, err := tp.Close()
				if err != nil {
					t.Fatal(err)
				}
				if l.String() != line {
					t.Errorf("the ledger is %q, want %q", l, line)
				}
			}
			run := func(tp *autodiff.Tape, y autodiff.Tensor) {
				t.Helper()
				if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: tdy}); err != nil {
					t.Fatal(err)
				}
			}

			ref := Reference{Rows: rows, N: n, X: x, W: w, Eps: eps}
			tp, X, W := tape()
			y := autodiff.Block(tp, func() autodiff.Tensor { return Op.Apply(tp, Params{Eps: eps}, In{X, W}).Y })
			near("y", y, nil, ref.Forward())
			run(tp, y)
			dx, dw := ref.Backward(dy)
			g, err := X.Grad()
			near("dx", g, err, dx)
			g, err = W.Grad()
			near("dw", g, err, dw)
			end(tp, y, "train rmsnorm=1/1 bwd=1 ref=0")

			ref.X = sum
			tp, X, W = tape()
			R := tp.TrackedInput("r", tr)
			a := AddOp.Apply(tp, Params{Eps: eps}, AddIn{X, R, W})
			near("s", a.S, nil, sum)
			run(tp, a.Y)
			dx, dw = ref.Backward(dy)
			for name, v := range map[string]autodiff.Tensor{"dx": X, "dr": R} {
				g, err := v.Grad()
				near(name+" of the residual form", g, err, dx)
			}
			g, err = W.Grad()
			near("dw of the residual form", g, err, dw)
			end(tp, a.Y, "train rmsnorm_add=1/1 bwd=1 ref=0")

			for _, act := range []Activation{Sigmoid, Silu} {
				ref := Reference{Rows: rows, N: n, X: x, W: w, Z: z, Act: act, Eps: eps}
				tp, X, W = tape()
				Z := tp.TrackedInput("z", tz)
				y := GatedOp.Apply(tp, Params{Eps: eps, Act: act}, GatedIn{X, Z, W}).Y
				near("y", y, nil, ref.Forward())
				run(tp, y)
				dx, dw = ref.Backward(dy)
				g, err = X.Grad()
				near(fmt.Sprint("dx, ", act), g, err, dx)
				g, err = Z.Grad()
				near(fmt.Sprint("dz, ", act), g, err, ref.BackwardGate(dy))
				g, err = W.Grad()
				near(fmt.Sprint("dw, ", act), g, err, dw)
				end(tp, y, "train rmsnorm_gated=1/1 bwd=1 ref=0")
			}
		})
	}
}

// Switched off, the ops are composed of primitive ones: the same results, other books.
func TestOpsSwitchedOff(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := d.Stream()
	const rows, n = 4, 50
	tensor := func(seed uint64, shape ...int) device.Tensor {
		x, err := device.NewTensor(d, dtype.F32, shape...)
		if err == nil {
			err = device.UploadFloats(s, x, tiletest.Uniform(dtype.F32, seed, x.Elems()))
		}
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	tx, tr, tz, tw, tdy := tensor(1, rows, n), tensor(2, rows, n), tensor(3, rows, n), tensor(4, n), tensor(5, rows, n)
	run := func(opts ...autodiff.Option) (results [][]float64, line string, launches int) {
		tp, err := autodiff.NewTape(s, append(opts, autodiff.Strict())...)
		if err != nil {
			t.Fatal(err)
		}
		x, r, z, w := tp.TrackedInput("x", tx), tp.TrackedInput("r", tr), tp.TrackedInput("z", tz), tp.TrackedInput("w", tw)
		before := s.Launches()
		p := Params{Eps: 1e-5, Act: Silu}
		y := Op.Apply(tp, Params{Eps: p.Eps}, In{x, w}).Y
		launches = s.Launches() - before
		a := AddOp.Apply(tp, Params{Eps: p.Eps}, AddIn{y, r, w})
		g := GatedOp.Apply(tp, p, GatedIn{a.S, z, w}).Y
		if err := tp.BackwardFrom(autodiff.Seed{Of: a.Y, Grad: tdy}, autodiff.Seed{Of: g, Grad: tdy}); err != nil {
			t.Fatal(err)
		}
		for _, v := range []autodiff.Tensor{g, x, r, z, w} {
			if v != g {
				if v, err = v.Grad(); err != nil {
					t.Fatal(err)
				}
			}
			f, err := v.Floats()
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, f)
		}
		l, err := tp.Close()
		if err != nil {
			t.Fatal(err)
		}
		return results, l.String(), launches
	}
	fused, line, launches := run(autodiff.Audit(1, 1e-6))
	if want := "train rmsnorm=1/1 bwd=1 ref=0 rmsnorm_add=1/1 bwd=1 ref=0 rmsnorm_gated=1/1 bwd=1 ref=0"; line != want {
		t.Errorf("the ledger is %q, want %q", line, want)
	}
	composed, line, launchesOff := run(autodiff.Off("rmsnorm", "rmsnorm_add", "rmsnorm_gated"))
	if want := "declined(killed)=1 rmsnorm_add=0/1 bwd=0 ref=1"; !strings.Contains(line, want) {
		t.Errorf("the ledger is %q, want %q in it", line, want)
	}
	if launches < 1 || launchesOff != 6 {
		t.Errorf("a fused forward is %d launches with its audit, a composed one %d, want 6", launches, launchesOff)
	}
	for i := range fused {
		var diff, scale float64
		for j := range fused[i] {
			diff, scale = max(diff, math.Abs(fused[i][j]-composed[i][j])), max(scale, math.Abs(composed[i][j]))
		}
		if !(diff <= 2e-6*scale) || scale == 0 {
			t.Errorf("result %d is off by %.2g of %.2g", i, diff, scale)
		}
	}
}

// A call that the kernels cannot take is an error of the tape, in the words of the launch.
func TestOpMistakes(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x, err := device.NewTensor(d, dtype.F32, 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := device.NewTensor(d, dtype.F32, 0)
	if err != nil {
		t.Fatal(err)
	}
	tp, err := autodiff.NewTape(d.Stream())
	if err != nil {
		t.Fatal(err)
	}
	Op.Apply(tp, Params{}, In{tp.Input("x", x), tp.Input("w", w)})
	if _, err := tp.Close(); err == nil || !strings.HasSuffix(err.Error(), ": rmsnorm: rmsnorm.Forward: Inputs.X: n is 0; a row has at least 1 element") || !strings.HasPrefix(err.Error(), "op_test.go:") {
		t.Errorf("rows of no element: %v", err)
	}
}

// In f16 the squares of x are beyond its largest number, 65504; the kernels and Ref keep them in f32.
func TestRefOfLargeHalves(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := d.Stream()
	const rows, n = 3, 40
	half := func(scale float64, seed uint64, shape ...int) device.Tensor {
		x, err := device.NewTensor(d, dtype.F16, shape...)
		v := make([]float64, x.Elems())
		for i := range v {
			v[i] = scale * tiletest.UniformAt(dtype.F16, seed, uint64(i))
		}
		if err == nil {
			err = device.UploadFloats(s, x, v)
		}
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x, w, dy := half(32768, 1, rows, n), half(1, 2, n), half(1, 3, rows, n)
	var dw [2][]float64
	for i, off := range [][]string{nil, {"rmsnorm"}} {
		tp, err := autodiff.NewTape(s, autodiff.Anomaly(), autodiff.Audit(1, 4e-3), autodiff.Off(off...))
		if err != nil {
			t.Fatal(err)
		}
		W := tp.TrackedInput("w", w)
		y := Op.Apply(tp, Params{Eps: 1e-6}, In{tp.TrackedInput("x", x), W}).Y
		if err := tp.BackwardFrom(autodiff.Seed{Of: y, Grad: dy}); err != nil {
			t.Fatal(err)
		}
		g, err := W.Grad()
		if err == nil {
			dw[i], err = g.Floats()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tp.Close(); err != nil {
			t.Error(err)
		}
	}
	for i := range dw[0] {
		if math.Abs(dw[0][i]-dw[1][i]) > 0.02 {
			t.Errorf("dw[%d] is %v by the kernels, %v by Ref", i, dw[0][i], dw[1][i])
		}
	}
}
