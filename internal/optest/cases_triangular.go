//go:build !gotilegen

package optest

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// triangularCases are a case for each size.
func triangularCases() []tiletest.Case {
	var out []tiletest.Case
	for _, n := range []int{8, 16, 32} {
		out = append(out, opCase(ir.InverseUnitLower, fmt.Sprint("f32/", n), func(r run) error {
			for _, n := range []int{n, n - 3} {
				if err := checkInverse(r, n, func(s *device.Stream, l, y device.Tensor) error {
					return launchTriangular(s, triangularParams{L: l, Y: y})
				}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return out
}

// checkInverse takes matrices with small integers below the diagonal, few enough that all is exact, and NaN elsewhere.
func checkInverse(r run, n int, launch func(s *device.Stream, l, y device.Tensor) error) error {
	const groups = 5
	ls := make([]float64, groups*n*n)
	want := make([]int, groups*n*n)
	for g := range groups {
		l, inv := ls[g*n*n:][:n*n], want[g*n*n:][:n*n]
		for i := range n {
			for j := range n {
				l[i*n+j] = math.NaN()
				if j < i {
					l[i*n+j] = 0
					if h := tiletest.Bits(r.Seed, uint64((g*n+i)*n+j)); h%uint64(n) < 4 { // four a row
						l[i*n+j] = float64(h>>32%2)*2 - 1
					}
				}
			}
		}
		for j := range n {
			for i := j; i < n; i++ {
				x := 0
				if i == j {
					x = 1
				}
				for k := j; k < i; k++ {
					x -= int(l[i*n+k]) * inv[k*n+j]
				}
				inv[i*n+j] = x
			}
		}
	}
	y := r.Out(dtype.F32, groups, n, n)
	if err := launch(r.Stream, r.In(dtype.F32, ls, groups, n, n), y); err != nil {
		return err
	}
	for _, x := range want {
		if x > 1<<24 || x < -1<<24 {
			return fmt.Errorf("the inverse of a case has %d, which is not exact in f32", x)
		}
	}
	ints(r, fmt.Sprintf("inverses of %dx%d", n, n), y, want)
	return nil
}
