//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// fragmentCases move tiles through the registers of tensor cores, of warps and of warpgroups.
func fragmentCases() []tiletest.Case {
	var out []tiletest.Case
	for _, op := range []ir.Op{ir.Load, ir.Store, ir.Var} {
		for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.F16} {
			out = append(out, opCase(op, "fragment/"+t.String(), func(r run) error {
				return checkFragment(r, t, func(s *device.Stream, x, y, z device.Tensor) error {
					return launchFragment(s, fragmentParams{X: x, Y: y, Z: z})
				})
			}))
		}
		for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
			out = append(out, opCase(op, "fragment_group/"+t.String(), func(r run) error {
				return checkFragment(r, t, func(s *device.Stream, x, y, z device.Tensor) error {
					return launchFragmentGroup(s, fragmentGroupParams{X: x, Y: y, Z: z})
				})
			}))
		}
	}
	return out
}

// checkFragment takes whole tiles and ragged ones, with rows that vectors serve and rows that they do not.
func checkFragment(r run, t dtype.Type, launch func(s *device.Stream, x, y, z device.Tensor) error) error {
	for i, l := range []lie{{64, 192, 0, 0}, {1, 1, 0, 0}, {100, 50, 6, 8}, {33, 75, 2, 1}} {
		xs := r.Ints(-99, 99, uint64(i), l.rows*l.n)
		x, y, z := l.input(r, t, xs), l.output(r, dtype.F32), l.output(r, t)
		if err := launch(r.Stream, x, y, z); err != nil {
			return err
		}
		once, twice := make([]int, len(xs)), make([]int, len(xs))
		for j, x := range xs {
			once[j], twice[j] = int(x), 2*int(x)
		}
		ints(r, fmt.Sprintf("twice %v", l), y, twice)
		ints(r, fmt.Sprintf("%v through shared memory", l), z, once)
	}
	return nil
}
