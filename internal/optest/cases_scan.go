//go:build !gotilegen

package optest

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile"
	"github.com/gotile/gotile/tile/tiletest"
)

// scanShapes are whole tiles and ragged ones, by type: smaller ones first, so that they choose among the kernels.
var scanShapes = map[dtype.Type][][2]int{
	dtype.F32: {{24, 40}, {1, 1}, {23, 39}},
	dtype.I32: {{20, 300}, {3, 65}},
	dtype.I64: {{24, 40}, {7, 33}},
}

// scanCases are a case for each scan and type.
func scanCases() []tiletest.Case {
	var out []tiletest.Case
	for o, op := range scans {
		for _, t := range dtype.All() {
			if scanShapes[t] != nil {
				out = append(out, opCase(op, t.String(), func(r run) error { return checkScans(r, t, o) }))
			}
		}
	}
	return out
}

func checkScans(r run, t dtype.Type, o int) error {
	of := reductions[o]
	for _, s := range scanShapes[t] {
		for kind, name := range reduceKinds {
			if !orderFree(t, of, kind) {
				continue
			}
			const groups = 3
			rows, n := s[0], s[1]
			x := reduceData(t, kind, tiletest.Bits(r.Seed, uint64(rows*n+kind)), groups*rows*n)
			p := scanParams{X: place(r, t, x, groups, rows, n), Y: r.Out(t, groups, 16, rows, n)}
			if err := launchScan(r.Stream, p); err != nil {
				return err
			}
			y := r.Bits(p.Y)
			for g := range groups {
				for axis := range 2 {
					for nth := range 2 {
						m := &mistakes{r: r, what: fmt.Sprintf("%v of %s %v %dx%d along axis %d, %v", scans[o], name, t, rows, n, axis, scanWay(o, nth))}
						at := (g*16 + scanOutput(o, axis, nth)) * rows * n
						checkScan(m, t, of, x[g*rows*n:][:rows*n], y[at:][:rows*n], n, axis, scanWay(o, nth))
					}
				}
			}
		}
	}
	return nil
}

// checkScan checks one scan of a tile with rows of n.
func checkScan(m *mistakes, t dtype.Type, op ir.Op, x, y []uint64, n, axis int, way []tile.ScanOption) {
	for i := range x {
		var count []uint64 // what element i counts, in the order of the scan
		row, col := i/n, i%n
		for j := range x {
			along := [2]int{j / n, j % n}
			here := [2]int{row, col}
			if along[1-axis] != here[1-axis] {
				continue
			}
			before := along[axis] < here[axis]
			if slices.Contains(way, tile.Reverse) {
				before = along[axis] > here[axis]
			}
			if before || j == i && !slices.Contains(way, tile.Exclusive) {
				count = append(count, x[j])
			}
		}
		if len(count) == 0 {
			if want := neutral(t, op); y[i] != want {
				m.at(i, fmt.Sprintf("%#x", y[i]), fmt.Sprintf("%#x", want))
			}
			continue
		}
		if want, ok := reduced(t, op, count, y[i]); !ok {
			m.at(i, fmt.Sprintf("%#x", y[i]), want)
		}
	}
	m.done(len(x))
}

// neutral is the bit pattern of the identity of a reduction.
func neutral(t dtype.Type, op ir.Op) uint64 {
	least, most := exact.Limits(t)
	switch {
	case op == ir.Sum:
		return 0
	case op == ir.Prod:
		return encode(t, 1)
	case !t.IsFloat() && op == ir.MaxOf:
		return uint64(least) & (1<<(8*t.Size()-1)<<1 - 1)
	case !t.IsFloat():
		return uint64(most) & (1<<(8*t.Size()-1)<<1 - 1)
	case op == ir.MaxOf:
		return encode(t, math.Inf(-1))
	}
	return encode(t, math.Inf(1))
}
