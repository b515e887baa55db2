//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

// shiftCases are a case for each type.
func shiftCases() []tiletest.Case {
	var out []tiletest.Case
	for _, c := range []struct {
		t dtype.Type
		p shiftSpread
	}{{dtype.F32, shiftFragment}, {dtype.BF16, shiftFragment}, {dtype.F16, shiftStriped}} {
		out = append(out, opCase(ir.Load, "shifted/"+c.t.String(), func(r run) error { return checkShifts(r, c.t, c.p.rows) }))
	}
	return out
}

// checkShifts takes sequences of whole tiles, shorter ones than the shifts, and ragged ones.
func checkShifts(r run, t dtype.Type, tileRows int) error {
	for i, s := range [][2]int{{4 * tileRows, 64}, {1, 3}, {2*tileRows + 1, 50}, {3*tileRows - 1, 32}} {
		rows, n := s[0], s[1]
		xs := r.Ints(1, 99, uint64(i), rows*n)
		p := shiftParams{X: r.In(t, xs, rows, n), Y: r.Out(t, len(shifts), rows, n), Z: r.Out(t, len(shifts), rows, n)}
		if err := launchShift(r.Stream, p); err != nil {
			return err
		}
		var all, within []int
		for _, by := range shifts {
			for j := range xs {
				row, from := j/n, j/n-by
				x := 0
				if from >= 0 && from < rows {
					x = int(xs[from*n+j%n])
				}
				all = append(all, x)
				if first := row / tileRows * tileRows; from < first || from >= first+tileRows {
					x = 0
				}
				within = append(within, x)
			}
		}
		ints(r, fmt.Sprintf("shifted %v %dx%d", t, rows, n), p.Y, all)
		ints(r, fmt.Sprintf("shifted %v %dx%d in shared tiles", t, rows, n), p.Z, within)
	}
	return nil
}
