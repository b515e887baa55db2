//go:build !gotilegen

package swiglu

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/gate"
	"github.com/gotile/gotile/tile/tiletest"
)

// Cases is the test table, for the simulator and for GPUs: the gates of Op, whole vectors and a ragged end.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, n := range []int{1, 37, 2048, 2500} {
		out = append(out, tiletest.Case{Name: fmt.Sprintf("gate/3x%d", n), Run: func(r *tiletest.Run) error {
			in := gate.Input{Type: dtype.BF16, Shape: []int{3, n}}
			report, err := gate.Check(r.Stream, Op, gate.Case[none]{
				Name: fmt.Sprintf("3x%d", n), In: []gate.Input{in, in}, Fast: n > 100, Reference: reference, Gradient: gradient,
			})
			if err != nil {
				return err
			}
			return report.Err()
		}})
	}
	return out
}

// reference is silu(a)*b in float64.
func reference(_ none, in [][]float64) [][]float64 {
	y := make([]float64, len(in[0]))
	for i, a := range in[0] {
		y[i] = a / (1 + math.Exp(-a)) * in[1][i]
	}
	return [][]float64{y}
}

// gradient is that of reference.
func gradient(_ none, in, dy [][]float64) [][]float64 {
	da, db := make([]float64, len(in[0])), make([]float64, len(in[0]))
	for i, a := range in[0] {
		s := 1 / (1 + math.Exp(-a))
		da[i], db[i] = dy[0][i]*in[1][i]*s*(1+a*(1-s)), dy[0][i]*a*s
	}
	return [][]float64{da, db}
}
