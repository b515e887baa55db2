//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

// segmentCases are pipelines whose trip counts memory says, 0 included: work lists, early exits, slots held.
func segmentCases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		for _, op := range []ir.Op{ir.SlotRelease, ir.StoreTensor} {
			out = append(out, opCase(op, "segments/"+t.String(), func(r run) error { return checkSegments(r, t) }))
		}
		for _, op := range []ir.Op{ir.SlotAcquire, ir.SlotWait} {
			out = append(out, opCase(op, "leave/"+t.String(), func(r run) error { return checkLeave(r, t) }))
		}
		out = append(out, opCase(ir.SlotRelease, "held/"+t.String(), func(r run) error { return checkHeld(r, t) }))
	}
	return out
}

// checkSegments cuts matrices into segments of 0 rows and more, whole boxes and ragged ones, which the list has in another
// order than memory: a segment's last box must leave the rows of the next one alone.
func checkSegments(r run, t dtype.Type) error {
	vec := 16 / t.Size()
	for _, l := range []lie{{rows: 4 * segmentRows, n: segmentCols}, {rows: 307, n: 2*segmentCols + vec, pad: vec, offset: vec}, {rows: 90, n: vec, pad: 1}, {rows: 61, n: segmentCols, offset: 1}} {
		var list []float64
		for first, i := 0, 0; first < l.rows; i++ {
			n := min([]int{segmentRows, 3, 0, 1, 4*segmentRows + 5, 2 * segmentRows, 0, 17}[i%8], l.rows-first)
			list = append([]float64{float64(first), float64(n)}, list...)
			first += n
		}
		xs, ws := r.Ints(0, 9, 1, l.rows*l.n), r.Ints(0, 9, 2, l.rows*l.n)
		shape := []int{l.rows, l.n}
		p := segmentParams{X: l.input(r, t, xs), W: l.input(r, t, ws), Y: r.Place(tiletest.Spec{Role: tiletest.Output, DType: t, Shape: shape, Strides: padded(t, shape, 1)}),
			List: r.In(dtype.I32, list, len(list)/2, 2)}
		if err := launchSegment(r.Stream, p); err != nil {
			return err
		}
		want := make([]int, len(xs))
		for i, x := range xs {
			want[i] = int(x + ws[i])
		}
		ints(r, "sums of "+l.String(), p.Y, want)
	}
	return nil
}

// checkLeave has every trip count from 0 to past twice the stages, also of rows that copies of 16 bytes cannot copy. No row
// is written in which nobody comes.
func checkLeave(r run, t dtype.Type) error {
	const items, rows = 40, 2*pipeStages + 2
	for _, n := range []int{leaveCols, leaveCols / 2, leaveCols - 3, 1} {
		xs, ws, counts := r.Ints(0, 9, 1, items*rows*n), r.Ints(0, 9, 2, items*rows*n), make([]float64, items)
		want := make([]int, len(xs))
		for i := range xs {
			item, row := i/(rows*n), i/n%rows
			counts[item] = float64(item % (rows + 1))
			if want[i] = 99; row < item%(rows+1) {
				want[i] = int(xs[i] + 2*ws[i])
			}
		}
		initial := make([]float64, len(xs))
		for i := range initial {
			initial[i] = 99
		}
		p := leaveParams{X: r.In(t, xs, items, rows, n), W: r.In(t, ws, items, rows, n), Y: r.InOut(t, initial, items, rows, n), Count: r.In(dtype.I32, counts, items)}
		if err := launchLeave(r.Stream, p); err != nil {
			return err
		}
		ints(r, fmt.Sprintf("sums of rows of %d", n), p.Y, want)
	}
	return nil
}

// checkHeld has every number of boxes from 1 to past the stages, the last of which is ragged.
func checkHeld(r run, t dtype.Type) error {
	const items = 11
	for boxes := 1; boxes <= pipeStages+2; boxes++ {
		for _, n := range []int{heldCols, heldCols - 3} {
			rows := boxes*heldRows - boxes%heldRows
			xs := r.Ints(0, 9, uint64(boxes), items*rows*n)
			want := make([]int, len(xs))
			for i, x := range xs {
				want[i] = int(x)
				if row := i / n % rows; row >= heldRows {
					want[i] += int(xs[i-heldRows*n])
				}
			}
			p := heldParams{X: r.In(t, xs, items, rows, n), Y: r.Out(t, items, rows, n)}
			if err := launchHeld(r.Stream, p); err != nil {
				return err
			}
			ints(r, fmt.Sprintf("sums of %d rows of %d", rows, n), p.Y, want)
		}
	}
	return nil
}
