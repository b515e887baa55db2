//go:build !gotilegen

package gemm

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/gate"
	"github.com/gotile/gotile/tile/tiletest"
)

// gateCases are the gates of Op in all forms: ragged, with whole vectors, and with a gradient in parts of k.
func gateCases() []tiletest.Case {
	var out []tiletest.Case
	for _, f := range Forms {
		for _, s := range []struct {
			m, n, k int
			t       dtype.Type
		}{{5, 3, 7, dtype.BF16}, {24, 40, 16, dtype.F16}, {512, 16, 8, dtype.BF16}, {6, 9, 5, dtype.F32}} {
			name := fmt.Sprintf("gate/%v/%dx%dx%d/%v", f, s.m, s.n, s.k, s.t)
			ar, ac := sidesOf(s.m, s.k, f.TransA())
			br, bc := sidesOf(s.k, s.n, f.TransB())
			c := gate.Case[Params]{
				Name: name, Params: Params{Form: f}, Fast: s.m > 100,
				In: []gate.Input{{Type: s.t, Shape: []int{ar, ac}}, {Type: s.t, Shape: []int{br, bc}}},
				Reference: func(p Params, in [][]float64) [][]float64 {
					return [][]float64{Reference{Form: p.Form, Batch: 1, M: s.m, N: s.n, K: s.k, A: in[0], B: in[1]}.Product()}
				},
				Gradient: func(p Params, in, d [][]float64) [][]float64 {
					return productGradients(p.Form, s.m, s.n, s.k, in[0], in[1], d[0])
				},
			}
			out = append(out, tiletest.Case{Name: name, Run: func(r *tiletest.Run) error {
				report, err := gate.Check(r.Stream, Op, c)
				if err != nil {
					return err
				}
				return report.Err()
			}})
		}
	}
	return out
}

// productGradients are the gradients of A and B, element by element from the definition.
func productGradients(f Form, m, n, k int, a, b, d []float64) [][]float64 {
	da, db := make([]float64, len(a)), make([]float64, len(b))
	for i := range m {
		for j := range n {
			for l := range k {
				at, bt := i*k+l, l*n+j
				if f.TransA() {
					at = l*m + i
				}
				if f.TransB() {
					bt = j*k + l
				}
				da[at] += d[i*n+j] * b[bt]
				db[bt] += d[i*n+j] * a[at]
			}
		}
	}
	return [][]float64{da, db}
}
