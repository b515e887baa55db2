//go:build !gotilegen

package optest

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

func columnsCases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I64} {
		out = append(out, opCase(ir.Range, "columns/"+t.String(), func(r run) error { return checkColumns(r, t) }))
	}
	return out
}

// checkColumns tries rows around every number of chunks, aligned and not.
func checkColumns(r run, t dtype.Type) error {
	const c = columnsChunk
	for _, l := range []lie{{3, 1, 0, 0}, {2, c - 1, 1, 0}, {3, c, 0, 0}, {3, c + 1, 7, 0}, {3, 2*c - 8, 0, 0}, {3, 2 * c, 0, 1}, {1, 2*c + 8, 0, 0}, {3, 3*c + 5, 3, 0}, {2, 5 * c, 8, 8}, {2, 5*c + 120, 0, 0}} {
		few := r.Ints(0, 9, uint64(l.n), l.rows*l.n) // 0s and 1s, so that sums stay exact in bf16
		xs := make([]float64, len(few))
		for i, x := range few {
			if x == 9 && i%3 == 0 {
				xs[i] = 1
			}
		}
		p := columnsParams{X: l.input(r, t, xs), Y: l.output(r, t), Max: r.Out(t, l.rows), Sum: r.Out(t, l.rows), Two: r.Out(t, l.rows, 2)}
		if err := launchColumns(r.Stream, p); err != nil {
			return err
		}
		var y, largest, sum, two []int
		for i := range l.rows {
			row := xs[i*l.n:][:l.n]
			most, total := slices.Max(row), 0
			for _, x := range row {
				y, total = append(y, int(x+most)), total+int(x)
			}
			largest, sum = append(largest, int(most)), append(sum, total)
		}
		for i := range l.rows {
			next := 0
			if i+1 < l.rows {
				next = sum[i+1]
			}
			two = append(two, sum[i], next)
		}
		ints(r, "rows of "+l.String(), p.Y, y)
		ints(r, "largest of "+l.String(), p.Max, largest)
		ints(r, "sums of "+l.String(), p.Sum, sum)
		ints(r, "sums of two rows of "+l.String(), p.Two, two)
	}
	return nil
}
