//go:build !gotilegen

package optest

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// mmaScaledCases scale live accumulators between products.
func mmaScaledCases() []tiletest.Case {
	return []tiletest.Case{
		opCase(ir.MMA, "scaled/bf16", func(r run) error {
			return checkMMAScaled(r, 16, func(p mmaScaledParams) error { return launchMmaScaled(r.Stream, p) })
		}),
		opCase(ir.MMA, "group_scaled/bf16", func(r run) error {
			return checkMMAScaled(r, mmaScaledSide, func(p mmaScaledParams) error {
				return launchWgmmaScaled(r.Stream, wgmmaScaledParams(p))
			})
		}),
	}
}

// checkMMAScaled has products of at most 16, so that P, at most 112, is a bf16.
func checkMMAScaled(r run, rows int, launch func(p mmaScaledParams) error) error {
	m, n, k, d := rows-2, mmaScaledSide-1, 16, mmaScaledSide-5
	ints1 := func(stream uint64, rows, cols int) (device.Tensor, func(i, j int) int) {
		xs := r.Ints(-1, 1, stream, rows*cols)
		return r.In(dtype.BF16, xs, rows, cols), func(i, j int) int { return int(xs[i*cols+j]) }
	}
	a, at := ints1(1, m, k)
	b, bt := ints1(2, n, k)
	v, vt := ints1(3, n, d)
	byRow, byCol := r.Ints(0, 2, 4, m), r.Ints(1, 2, 5, n)
	p := mmaScaledParams{A: a, B: b, V: v, Rows: r.In(dtype.F32, byRow, m), Cols: r.In(dtype.F32, byCol, n), P: r.Out(dtype.F32, m, n), D: r.Out(dtype.F32, m, d)}
	if err := launch(p); err != nil {
		return err
	}
	scaled := make([]int, m*n)
	for i := range scaled {
		once := product(at, func(l, j int) int { return bt(j, l) }, k, i/n, i%n)
		scaled[i] = (once*int(byRow[i/n])+once)*int(byCol[i%n]) + once
	}
	want := make([]int, m*d)
	for i := range want {
		want[i] = product(func(i, j int) int { return scaled[i*n+j] }, vt, n, i/d, i%d)
	}
	ints(r, "the scaled products", p.P, scaled)
	ints(r, "their product", p.D, want)
	return nil
}
