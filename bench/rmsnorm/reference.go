//go:build !gotilegen

package rmsnorm

import (
	"math"
	"runtime"
	"sync"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile/tiletest"
)

// columns is how many elements of a row, and of dw, are compared: the last ones, where a mistake about the end shows.
const columns = 256

// rowsChecked are the rows that are compared.
func (p problem) rowsChecked() []int {
	if p.rows < 3 {
		return []int{p.rows - 1}
	}
	return []int{0, p.rows / 2, p.rows - 1}
}

// checks are a float64 reference at a sample of the outputs of a group. The tolerance of 16-bit types is a few of their
// steps, that of f32 leaves room for sums in any order and approximate square roots: these checks find kernels that
// compute something else, receipts vouch for the precision.
func (p problem) checks(group int) []bench.Check {
	tol, sumTol := 2e-2, 2e-2
	if p.dt == dtype.F32 {
		tol, sumTol = 1e-5, 1e-4
	}
	first := max(0, p.n-columns)
	var out []bench.Check
	add := func(output string, at int, want []float64, tol float64) {
		out = append(out, bench.Check{Output: output, At: at, Want: want, Tol: tol})
	}
	w := p.row(weight, group, 0)
	for _, r := range p.rowsChecked() {
		x := p.input(group, r)
		rstd := p.rstd(x)
		at := r*p.n + first
		if p.backward() {
			g := p.upstream(group, r)
			dx := p.gradient(group, r, x, g, w, rstd)
			lost := 1.0 // of dx, a difference of terms that are as much larger: a row of one element has dx = 0 up to eps
			if p.n == 1 && dx[0] != 0 {
				lost = max(1, math.Abs(rstd*g[0]*w[0]/dx[0]))
			}
			add("dx", at, dx[first:], tol*lost)
			if p.name == "gated_bwd" {
				z, dy := p.row(1, group, r), p.row(2, group, r)
				for j := range dy { // dy * xh*w * silu'(z)
					dy[j] *= x[j] * rstd * w[j] * sigmoid(z[j]) * (1 + z[j]*sigmoid(-z[j]))
				}
				add("dz", at, dy[first:], tol)
			}
			continue
		}
		if p.name == "add_fwd" {
			add("s", at, x[first:], tol)
		}
		y := make([]float64, p.n)
		for j := range y {
			y[j] = x[j] * rstd * w[j]
		}
		if p.name == "gated_fwd" {
			for j, z := range p.row(1, group, r) {
				y[j] *= z * sigmoid(z)
			}
		}
		add("y", at, y[first:], tol)
	}
	if p.backward() {
		add("dw", first, p.weightGradient(group, first), sumTol)
	}
	return out
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// row is a row of an input of a group, numbered as passes says.
func (p problem) row(input, group, r int) []float64 {
	x, seed := make([]float64, p.n), bench.Seed(input, group)
	for j := range x {
		x[j] = tiletest.UniformAt(p.dt, seed, uint64(r*p.n+j))
	}
	return x
}

// input is what is normalised: x, with a residual rounded to its type.
func (p problem) input(group, r int) []float64 {
	x := p.row(0, group, r)
	if p.name == "add_fwd" {
		for j, v := range p.row(1, group, r) {
			x[j] += v
			if p.dt == dtype.BF16 {
				x[j] = float64(dtype.BF16FromFloat32(float32(x[j])).Float32())
			}
		}
	}
	return x
}

func (p problem) rstd(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return 1 / math.Sqrt(sum/float64(p.n)+eps)
}

// upstreamAt is an element of the gradient of xh*w: dy, times the gate where there is one.
func (p problem) upstreamAt(group, i int) float64 {
	at := func(input int) float64 { return tiletest.UniformAt(p.dt, bench.Seed(input, group), uint64(i)) }
	if p.name == "gated_bwd" {
		z := at(1)
		return at(2) * z * sigmoid(z)
	}
	return at(1)
}

func (p problem) upstream(group, r int) []float64 {
	g := make([]float64, p.n)
	for j := range g {
		g[j] = p.upstreamAt(group, r*p.n+j)
	}
	return g
}

// gradient is a row of dx, for the gradient g of xh*w.
func (p problem) gradient(group, r int, x, g, w []float64, rstd float64) []float64 {
	dx := make([]float64, p.n)
	mean := 0.0
	for j := range dx {
		dx[j] = g[j] * w[j]
		mean += dx[j] * x[j] * rstd / float64(p.n)
	}
	for j := range dx {
		dx[j] = rstd * (dx[j] - x[j]*rstd*mean)
	}
	if p.name == "add_bwd" {
		for j, v := range p.row(2, group, r) {
			dx[j] += v
		}
	}
	return dx
}

// weightGradient is dw from a column on. It needs all of x, so all processors share the rows.
func (p problem) weightGradient(group, first int) []float64 {
	workers := runtime.GOMAXPROCS(0)
	parts := make([][]float64, workers)
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			part := make([]float64, p.n-first)
			for r := k; r < p.rows; r += workers {
				x := p.input(group, r)
				rstd := p.rstd(x)
				for j := range part {
					part[j] += x[first+j] * rstd * p.upstreamAt(group, r*p.n+first+j)
				}
			}
			parts[k] = part
		})
	}
	wg.Wait()
	for _, part := range parts[1:] {
		for j, v := range part {
			parts[0][j] += v
		}
	}
	return parts[0]
}

// copied is what the copies write, as words: the exclusive or of the inputs' bits.
func (p problem) copied(group int) []bench.Check {
	first, per := max(0, p.n-columns), 4/p.dt.Size()
	var out []bench.Check
	for _, r := range p.rowsChecked() {
		at := (r*p.n + first) / per
		want := make([]float64, (r*p.n+p.n)/per-at)
		for i := range want {
			want[i] = float64(p.word(group, at+i))
		}
		out = append(out, bench.Check{Output: "words", At: at, Want: want})
	}
	return out
}

// word is 4 bytes of all inputs' exclusive or.
func (p problem) word(group, i int) (w uint32) {
	for input := range p.reads {
		at := func(i int) float32 { return float32(tiletest.UniformAt(p.dt, bench.Seed(input, group), uint64(i))) }
		if p.dt == dtype.F32 {
			w ^= math.Float32bits(at(i))
		} else {
			w ^= uint32(dtype.BF16FromFloat32(at(2*i)).Bits()) | uint32(dtype.BF16FromFloat32(at(2*i+1)).Bits())<<16
		}
	}
	return w
}
