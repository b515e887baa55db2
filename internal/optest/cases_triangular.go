//go:build !gotilegen

package optest

import (
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

// triangularCases are a case for each size.
func triangularCases() []tiletest.Case {
	var out []tiletest.Case
	for _, n := range []int{8, 16, 32} {
		out = append(out, opCase(ir.InverseUnitLower, fmt.Sprint("f32/", n), func(r run) error {
			for _, n := range []int{n, n - 3} {
				if err := checkTriangular(r, n); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return out
}

// checkTriangular takes matrices with few ones below the diagonal, so that all is exact, and NaN elsewhere.
func checkTriangular(r run, n int) error {
	const groups = 5
	ls := make([]float64, groups*n*n)
	want := make([]int, groups*n*n)
	for g := range groups {
		l, inv := ls[g*n*n:][:n*n], want[g*n*n:][:n*n]
		for i := range n {
			for j := range n {
				l[i*n+j] = math.NaN()
				if j < i {
					l[i*n+j] = float64(tiletest.Bits(r.Seed, uint64((g*n+i)*n+j)) % 9 / 4 * (1 - 2*uint64(i%2))) // 0, 1 or 2
					if l[i*n+j] > 2 {
						l[i*n+j] = -1
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
	p := triangularParams{L: r.In(dtype.F32, ls, groups, n, n), Y: r.Out(dtype.F32, groups, n, n)}
	if err := launchTriangular(r.Stream, p); err != nil {
		return err
	}
	for _, x := range want {
		if x > 1<<24 || x < -1<<24 {
			return fmt.Errorf("the inverse of a case has %d, which is not exact in f32", x)
		}
	}
	ints(r, fmt.Sprintf("inverses of %dx%d", n, n), p.Y, want)
	return nil
}
