//go:build !gotilegen

package softmax

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile/tiletest"
)

// Cases is the test table, for the simulator and for GPUs.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.BF16, dtype.F32} {
		bar := map[dtype.Type]float64{dtype.BF16: 4e-3, dtype.F32: 1e-6}[t] // scale-relative, against float64
		for _, rows := range []int{0, 1, 5} {
			for _, n := range []int{1, 100, 1001, 4096} {
				out = append(out, tiletest.Case{Name: fmt.Sprintf("%v/%dx%d", t, rows, n), Run: func(r *tiletest.Run) error {
					x := r.Uniform(t, 1, rows*n)
					y := r.Out(t, rows, n) // poisoned, between guard bands
					if err := launchSoftmax(r.Stream, softmaxParams{X: r.In(t, x, rows, n), Y: y}); err != nil {
						return err
					}
					r.Compare("y", r.Floats(y), reference(x, rows, n), bar)
					return nil
				}})
			}
		}
	}
	return out
}

// reference is softmax in float64.
func reference(x []float64, rows, n int) []float64 {
	y := make([]float64, rows*n)
	for i := range rows {
		sum := 0.0
		for j := range n {
			y[i*n+j] = math.Exp(x[i*n+j]) // |x| < 1: nothing to subtract
			sum += y[i*n+j]
		}
		for j := range n {
			y[i*n+j] /= sum
		}
	}
	return y
}
