//go:build !gotilegen

package axpy

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile/tiletest"
)

// Cases is the test table.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		for _, n := range []int{1, 7, 64, 100, 1000} {
			for _, rows := range []int{0, 1, 5} {
				out = append(out, tiletest.Case{
					Name: fmt.Sprintf("axpy/%v/rows=%d/n=%d", t, rows, n),
					Run:  func(r *tiletest.Run) error { return axpyCase(r, t, rows, n) },
				})
			}
		}
	}
	return append(out,
		tiletest.Case{Name: "sum/rows=7/n=100", Run: func(r *tiletest.Run) error { return sumCase(r, 7, 100) }},
		tiletest.Case{Name: "sum/rows=300/n=512", Run: func(r *tiletest.Run) error { return sumCase(r, 300, 512) }},
		tiletest.Case{Name: "pairs/rows=6/first=0", Run: func(r *tiletest.Run) error { return pairsCase(r, 6, 0) }},
		tiletest.Case{Name: "pairs/rows=7/first=2", Run: func(r *tiletest.Run) error { return pairsCase(r, 7, 2) }},
	)
}

// axpyCase uses small integers: the result is exact in each type.
func axpyCase(r *tiletest.Run, t dtype.Type, rows, n int) error {
	x, b := r.Ints(-8, 8, 1, rows*n), r.Ints(-8, 8, 2, n)
	want := make([]float64, rows*n)
	for i := range want {
		want[i] = 3*x[i] + b[i%n]
	}
	y := r.Place(tiletest.Spec{Role: tiletest.Output, DType: t, Shape: []int{rows, n}, Strides: []int{n + 3, 1}})
	if err := launchAxpy(r.Stream, axpyParams{X: r.In(t, x, rows, n), B: r.In(t, b, n), Y: y, Alpha: 3}); err != nil {
		return err
	}
	r.Compare("y", r.Floats(y), want, 0)
	return nil
}

// sumCase sizes the partial sums by the grid and adds them up on the host.
func sumCase(r *tiletest.Run, rows, n int) error {
	x := r.Ints(-8, 8, 1, rows*n)
	p := sumParams{X: r.In(dtype.F32, x, rows, n)}
	blocks, err := gridSum(r.Stream, p)
	if err != nil {
		return err
	}
	p.Partial = r.Out(dtype.F32, blocks, n)
	if err := launchSum(r.Stream, p); err != nil {
		return err
	}
	got, want := make([]float64, n), make([]float64, n)
	for i, v := range r.Floats(p.Partial) {
		got[i%n] += v
	}
	for i, v := range x {
		want[i%n] += v
	}
	r.Compare("sum", got, want, 0)
	return nil
}

// pairsCase reads a transposed tensor.
func pairsCase(r *tiletest.Run, rows, first int) error {
	x := r.Ints(-8, 8, 1, rows*4)
	want := make([]float64, rows*4)
	for i := range want {
		if want[i] = 77; i/4 >= first {
			want[i] = x[i]*0.5 + 3
		}
	}
	in := r.Place(tiletest.Spec{DType: dtype.F32, Shape: []int{rows, 4}, Strides: []int{1, rows}, Values: x})
	old := make([]float64, rows*4)
	for i := range old {
		old[i] = 77
	}
	y := r.InOut(dtype.F32, old, rows, 4)
	half := dtype.F16FromFloat32(0.5)
	if err := launchPairs(r.Stream, pairsParams{Type: in, Y: y, Half: half, Count: 3, First: int32(first)}); err != nil {
		return err
	}
	r.Compare("y", r.Floats(y), want, 0)
	return nil
}
