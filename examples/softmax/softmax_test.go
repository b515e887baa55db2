//go:build !gotilegen

package softmax

import (
	"fmt"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }

// TestInPlace: y may be x, by 16 bytes (n = 4096) and element by element (n = 1001).
func TestInPlace(t *testing.T) {
	var cases []tiletest.Case
	for dt, bar := range map[dtype.Type]float64{dtype.BF16: 4e-3, dtype.F32: 1e-6} {
		for _, n := range []int{1001, 4096} {
			cases = append(cases, tiletest.Case{Name: fmt.Sprintf("%v/5x%d", dt, n), Run: func(r *tiletest.Run) error {
				x := r.Uniform(dt, 1, 5*n)
				y := r.InOut(dt, x, 5, n)
				if err := Forward(r.Stream, y, y); err != nil {
					return err
				}
				r.Compare("y", r.Floats(y), reference(x, 5, n), bar)
				return nil
			}})
		}
	}
	tiletest.RunCases(t, cases)
}
