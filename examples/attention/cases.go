//go:build !gotilegen

package attention

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// Cases is the test table, for the simulator and for GPUs.
func Cases() []tiletest.Case {
	const bar = 8e-3 // scale-relative, against float64: probabilities and results are rounded to bf16
	var out []tiletest.Case
	for _, s := range [][2]int{{0, 5}, {1, 1}, {64, 64}, {100, 75}, {130, 300}} {
		m, n := s[0], s[1]
		out = append(out, tiletest.Case{Name: fmt.Sprintf("%dx%d", m, n), Run: func(r *tiletest.Run) error {
			q, k, v := r.Uniform(dtype.BF16, 1, m*head), r.Uniform(dtype.BF16, 2, n*head), r.Uniform(dtype.BF16, 3, n*head)
			in := func(x []float64, rows int) device.Tensor { return r.In(dtype.BF16, x, rows, head) }
			o := r.Out(dtype.BF16, m, head) // poisoned, between guard bands
			if err := launchAttention(r.Stream, attentionParams{Q: in(q, m), K: in(k, n), V: in(v, n), O: o, Scale: 0.5}); err != nil {
				return err
			}
			r.Compare("o", r.Floats(o), reference(q, k, v, m, n, 0.5), bar)
			return nil
		}})
	}
	return out
}

// reference is attention in float64.
func reference(q, k, v []float64, m, n int, scale float64) []float64 {
	out := make([]float64, m*head)
	for i := range m {
		e, sum, top := make([]float64, n), 0.0, math.Inf(-1)
		for j := range n {
			for l := range head {
				e[j] += q[i*head+l] * k[j*head+l] * scale
			}
			top = max(top, e[j])
		}
		for j := range n {
			e[j] = math.Exp(e[j] - top)
			sum += e[j]
		}
		for j := range n {
			for l := range head {
				out[i*head+l] += e[j] / sum * v[j*head+l]
			}
		}
	}
	return out
}
