//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile/tiletest"
)

// foldCases are a case for each type: rows shorter than a chunk, of one chunk, and of several.
func foldCases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range dtype.Arithmetic() {
		out = append(out, opCase(ir.Fold, t.String(), func(r run) error {
			for _, n := range []int{1, 7, foldCap - 1, foldCap, foldCap + 1, 3*foldCap + 5} {
				if err := checkFold(r, t, n); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return out
}

func checkFold(r run, t dtype.Type, n int) error {
	const rows = 3
	xs := r.Ints(1, 2, uint64(n), rows*n)
	p := foldParams{X: r.In(t, xs, rows, n), Y: r.Out(t, rows, foldThreads), S: r.Out(t, rows)}
	if err := launchFold(r.Stream, p); err != nil {
		return err
	}
	d := layout.Striped(foldThreads, foldCap, 16/t.Size())
	own, sums := make([]int, rows*foldThreads), make([]int, rows)
	for i := range rows {
		for thread := range foldThreads {
			for v := range d.Values() {
				if c := d.Coord(thread, v)[0]; c < min(n, foldCap) {
					own[i*foldThreads+thread] += int(xs[i*n+c])
				}
			}
		}
		for _, x := range xs[i*n:][:n] {
			sums[i] += int(x)
		}
	}
	ints(r, fmt.Sprintf("sums of threads, n %d", n), p.Y, own)
	if t != dtype.BF16 { // whose sums are not exact above 256
		ints(r, fmt.Sprintf("sums of rows, n %d", n), p.S, sums)
	}
	return nil
}
