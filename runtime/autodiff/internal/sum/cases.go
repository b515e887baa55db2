//go:build !gotilegen

package sum

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// Cases is the test table, for the simulator and for GPUs. The sums are exact, so the bars are 0.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, dt := range []dtype.Type{dtype.BF16, dtype.F16, dtype.F32} {
		for _, n := range []int{0, 1, 7, 2048, 5001} {
			out = append(out,
				tiletest.Case{Name: fmt.Sprintf("add/%v/%d", dt, n), Run: func(r *tiletest.Run) error { return checkAdd(r, dt, n, false) }},
				tiletest.Case{Name: fmt.Sprintf("add/%v/%d/in-place", dt, n), Run: func(r *tiletest.Run) error { return checkAdd(r, dt, n, true) }},
				tiletest.Case{Name: fmt.Sprintf("fill/%v/%d", dt, n), Run: func(r *tiletest.Run) error {
					y := r.Out(dt, n)
					if err := Fill(r.Stream, y, -3); err != nil {
						return err
					}
					want := make([]float64, n)
					for i := range want {
						want[i] = -3
					}
					r.Compare("out", r.Floats(y), want, 0)
					return nil
				}})
		}
	}
	return out
}

// checkAdd adds small integers.
func checkAdd(r *tiletest.Run, dt dtype.Type, n int, inPlace bool) error {
	a, b, want := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		a[i], b[i] = float64(i%61-30), float64(i%47-20)
		want[i] = a[i] + b[i]
	}
	tb, out := r.In(dt, b, n), r.Out(dt, n)
	var ta device.Tensor
	if !inPlace {
		ta = r.In(dt, a, n)
	} else if err := device.UploadFloats(r.Stream, out, a); err != nil {
		return err
	} else {
		ta = out
	}
	if err := Add(r.Stream, out, ta, tb); err != nil {
		return err
	}
	r.Compare("out", r.Floats(out), want, 0)
	return nil
}
