//go:build !gotilegen

package copies

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

//go:generate go run ../../cmd/gotile gen .

// Copy copies x to y, both [rows, Cols] bf16.
func Copy(s *device.Stream, x, y device.Tensor) error {
	return launchCopy(s, copyParams{X: x, Y: y})
}

// Copy2 writes the larger of x and z to y, all [rows, Cols] bf16.
func Copy2(s *device.Stream, x, z, y device.Tensor) error {
	return launchCopy2(s, copy2Params{X: x, Z: z, Y: y})
}

// Cases check both kernels exactly.
func Cases() []tiletest.Case {
	const rows = 3
	return []tiletest.Case{{Name: fmt.Sprintf("%dx%d", rows, Cols), Run: func(r *tiletest.Run) error {
		xs, zs := r.Uniform(dtype.BF16, 1, rows*Cols), r.Uniform(dtype.BF16, 2, rows*Cols)
		x, z := r.In(dtype.BF16, xs, rows, Cols), r.In(dtype.BF16, zs, rows, Cols)
		y, y2 := r.Out(dtype.BF16, rows, Cols), r.Out(dtype.BF16, rows, Cols)
		if err := Copy(r.Stream, x, y); err != nil {
			return err
		}
		if err := Copy2(r.Stream, x, z, y2); err != nil {
			return err
		}
		r.Compare("copy", r.Floats(y), xs, 0)
		larger := slices.Clone(xs)
		for i := range larger {
			larger[i] = max(xs[i], zs[i])
		}
		r.Compare("copy2", r.Floats(y2), larger, 0)
		return nil
	}}}
}
