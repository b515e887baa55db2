//go:build !gotilegen

package rmsnorm

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile/tiletest"
)

// shape is a row of the test table.
type shape struct {
	rows, n int
	pad     int // elements between rows
	offset  int // elements by which the tensors start past a 256-byte boundary
}

func (s shape) String() string {
	out := fmt.Sprintf("%dx%d", s.rows, s.n)
	if s.pad > 0 {
		out += fmt.Sprintf("+%d", s.pad)
	}
	if s.offset > 0 {
		out += fmt.Sprintf("@%d", s.offset)
	}
	return out
}

// shapes are ragged, tiny, full, padded and unaligned rows for every capacity.
func shapes() []shape {
	var out []shape
	for _, n := range []int{1, 7, 64, 100, 512, 1000, 1024, 2048, 4096, 5120, 8191, 8192, 16384} {
		for _, rows := range []int{0, 1, 3, 17} {
			if rows > 3 && n > 5120 { // the simulator's time
				rows = 5
			}
			out = append(out, shape{rows: rows, n: n})
		}
	}
	return append(out,
		shape{rows: 9, n: 512, pad: 8}, shape{rows: 9, n: 512, pad: 3}, shape{rows: 5, n: 4096, offset: 1}, shape{rows: 5, n: 100, pad: 28, offset: 4},
		shape{rows: 200, n: 96}, shape{rows: 67, n: 1536}) // more rows than blocks that run at once on the simulator
}

// bars are the largest scale-relative errors against float64: of y, and of the gradients.
type bars struct{ forward, backward float64 }

func barsOf(t dtype.Type) bars {
	switch t {
	case dtype.BF16:
		return bars{4e-3, 4e-3}
	case dtype.F16:
		return bars{5e-4, 5e-4}
	}
	return bars{2e-7, 1e-6}
}

const testEps = 1e-6

// Cases are the differential tests of every committed kernel, for the simulator and for GPUs.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []struct{ x, w dtype.Type }{
		{dtype.BF16, dtype.BF16}, {dtype.BF16, dtype.F32}, {dtype.F16, dtype.F16}, {dtype.F16, dtype.F32}, {dtype.F32, dtype.F32}} {
		for _, s := range shapes() {
			for _, residual := range []bool{false, true} {
				name := fmt.Sprintf("%s-%s/%s", t.x, t.w, s)
				if residual {
					name = "add/" + name
				}
				p := problem{shape: s, x: t.x, w: t.w, residual: residual}
				out = append(out, tiletest.Case{Name: name, Run: p.check})
			}
		}
	}
	return append(out, repeatable(), large())
}

// problem is one case: both passes over one shape.
type problem struct {
	shape
	x, w     dtype.Type
	residual bool
}

// check runs forward and backward and compares them with float64.
func (p problem) check(r *tiletest.Run) error {
	count := p.rows * p.n
	xs, ws, dys := r.Uniform(p.x, 1, count), r.Uniform(p.w, 2, p.n), r.Uniform(p.x, 3, count)
	ref := Reference{Rows: p.rows, N: p.n, X: xs, W: ws, Eps: float64(float32(testEps))}
	in := Inputs{X: p.matrix(r, tiletest.Input, xs), W: p.vector(r, tiletest.Input, p.w, ws), Eps: testEps}
	out := Outputs{Y: p.matrix(r, tiletest.Output, nil), Rstd: r.Out(dtype.F32, p.rows)}
	saved := Saved{X: in.X, W: in.W}
	var dss []float64
	if p.residual {
		rs := r.Uniform(p.x, 4, count)
		in.R, out.S = p.matrix(r, tiletest.Input, rs), p.matrix(r, tiletest.Output, nil)
		for i := range xs {
			xs[i] = float64(p.x.Round(float32(xs[i] + rs[i]))) // the sum of two such numbers is exact in float64
		}
		dss = r.Uniform(p.x, 5, count)
		saved.X, saved.DS = out.S, p.matrix(r, tiletest.Input, dss)
	}
	if err := Forward(r.Stream, in, out); err != nil {
		return err
	}
	bar := barsOf(p.x)
	r.Compare("y", r.Floats(out.Y), ref.Forward(), bar.forward)
	r.Compare("rstd", r.Floats(out.Rstd), ref.Rstd(), 5e-7)
	if p.residual {
		r.Compare("s", r.Floats(out.S), xs, 0)
	}

	saved.Rstd, saved.DY = out.Rstd, p.matrix(r, tiletest.Input, dys)
	grads := Gradients{DX: p.matrix(r, tiletest.Output, nil), DW: p.vector(r, tiletest.Output, p.w, nil)}
	parts, err := Parts(r.Stream, saved, grads)
	if err != nil {
		return err
	}
	if err := Backward(r.Stream, saved, grads, r.Out(dtype.F32, parts, p.n)); err != nil {
		return err
	}
	dx, dw := ref.Backward(dys)
	barX := bar.backward
	if p.n == 1 {
		// dx = rstd*w*dy*(1 - xh^2) with xh^2 = 1 up to eps: what is left of two equal numbers. The bar is relative to
		// the numbers, not to the difference.
		barX *= conditioning(ref, dys, dx)
	}
	for i := range dss {
		dx[i] += dss[i]
	}
	r.Compare("dx", r.Floats(grads.DX), dx, barX)
	r.Compare("dw", r.Floats(grads.DW), dw, max(barsOf(p.w).backward, 1e-6))
	return nil
}

// conditioning is how much larger than dx the terms are of which it is the difference; at least 1.
func conditioning(ref Reference, dy, dx []float64) float64 {
	terms, result := 0.0, 0.0
	for i, rstd := range ref.Rstd() {
		for j := range ref.N {
			k := i*ref.N + j
			terms = max(terms, abs(rstd*ref.W[j]*dy[k]))
			result = max(result, abs(dx[k]))
		}
	}
	if result == 0 {
		return 1
	}
	return max(1, terms/result)
}

func abs(x float64) float64 { return max(x, -x) }
