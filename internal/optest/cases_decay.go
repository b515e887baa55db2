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

// decayCases are a case for each type, then the inverses by blocks.
func decayCases() []tiletest.Case {
	depths := map[dtype.Type][]int{dtype.F32: {1, 32, 100}, dtype.BF16: {64, 50}}
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		out = append(out, opCase(ir.Exp2, "decay/"+t.String(), func(r run) error {
			for _, n := range depths[t] {
				if err := checkDecay(r, t, n); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for _, n := range []int{32, 64} {
		out = append(out, opCase(ir.InverseUnitLower, fmt.Sprint("blocks/", n), func(r run) error {
			for _, n := range []int{n, n - 5} {
				if err := checkInverse(r, n, func(s *device.Stream, l, y device.Tensor) error {
					return launchBlocks(s, blocksParams{L: l, Y: y})
				}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return out
}

// checkDecay compares with float64. Decays are sums of small steps down, as those of a chunk are.
func checkDecay(r run, t dtype.Type, n int) error {
	const groups, rows = 3, 16
	a, b := r.Ints(-4, 4, 1, groups*rows*n), r.Ints(-4, 4, 2, groups*rows*n)
	g := make([]float64, groups*rows*n)
	for i := range g {
		if i/n%rows > 0 {
			g[i] = float64(float32(g[i-n] - float64(tiletest.Bits(r.Seed, uint64(i))%1000)/512))
		}
	}
	p := decayParams{A: r.In(t, a, groups, rows, n), B: r.In(t, b, groups, rows, n), G: r.In(dtype.F32, g, groups, rows, n), C: r.Out(dtype.F32, groups, rows, rows)}
	if err := launchDecay(r.Stream, p); err != nil {
		return err
	}
	want := make([]float64, groups*rows*rows)
	for k := range want {
		group, i, j := k/(rows*rows), k/rows%rows, k%rows
		if j > i {
			continue
		}
		for d := range n {
			x, y := (group*rows+i)*n+d, (group*rows+j)*n+d
			want[k] += a[x] * b[y] * math.Exp2(g[x]-g[y])
		}
	}
	r.Compare(fmt.Sprintf("contractions over %d", n), r.Floats(p.C), want, 1e-6) // sums of at most 100 terms in fp32
	return nil
}
