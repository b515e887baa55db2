//go:build !gotilegen

package gemm

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile/tiletest"
)

// largeCases are products of which each block computes several tiles, with all of them running at the same time, for GPUs:
// a simulator would take minutes.
func largeCases() []tiletest.Case {
	var out []tiletest.Case
	for _, f := range Forms {
		for _, z := range sizes {
			p := problem{form: f, t: dtype.BF16, o: dtype.BF16, m: 4096 + 8, n: 3000, k: 248, Choice: Choice{Size: z.name, Splits: 1}}
			out = append(out, tiletest.Case{Name: "large/" + p.String(), Run: p.large, Deep: true, Alone: true})
		}
		p := problem{form: f, t: dtype.BF16, o: dtype.BF16, m: 520, n: 1408, k: 2000, Choice: Choice{Splits: 4}}
		out = append(out, tiletest.Case{Name: "large/" + p.String(), Run: p.large, Deep: true, Alone: true})
	}
	return out
}

// large computes the product d of matrices A and B and checks d v = A (B v) for a vector v, for which a reference takes
// mn + mk + nk steps and not mnk (Freivalds, 1977). All is exact: A and B are of -1, 0 and 1, so elements of d have a standard
// deviation of at most 30 and stay below 256, up to where bf16 has the integers. Those of v are distinct, so that no two
// elements of a row of d may be exchanged.
func (p problem) large(r *tiletest.Run) error {
	a, b := r.Ints(-1, 1, 1, p.m*p.k), r.Ints(-1, 1, 2, p.k*p.n)
	ar, ac := sidesOf(p.m, p.k, p.form.TransA())
	br, bc := sidesOf(p.k, p.n, p.form.TransB())
	in := Inputs{A: p.matrix(r, tiletest.Input, p.t, ar, ac, a), B: p.matrix(r, tiletest.Input, p.t, br, bc, b)}
	d := p.matrix(r, tiletest.Output, p.o, p.m, p.n, nil)
	if p.Splits > 1 {
		in.Scratch = p.scratch(r)
	}
	if err := multiply(r.Stream, p.form, in, d, p.Choice); err != nil {
		return err
	}
	v := make([]float64, p.n)
	for j := range v {
		v[j] = float64((j*7919)%p.n + 1)
	}
	want := times(a, times(b, v, p.k, p.n, p.form.TransB()), p.m, p.k, p.form.TransA())
	r.Compare("d v", times(r.Floats(d), v, p.m, p.n, false), want, 0)
	return nil
}

// times is a matrix of rows x cols, or given transposed, times a vector.
func times(x, v []float64, rows, cols int, trans bool) []float64 {
	out := make([]float64, rows)
	for i := range rows {
		for j := range cols {
			if trans {
				out[i] += x[j*rows+i] * v[j]
			} else {
				out[i] += x[i*cols+j] * v[j]
			}
		}
	}
	return out
}
