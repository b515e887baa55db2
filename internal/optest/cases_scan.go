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

// scanSpreads are those of the kernels of each type.
var scanSpreads = map[dtype.Type][]spread{
	dtype.F32: {frag16x16, frag32x32, group64x32}, dtype.BF16: {frag16x64, group64x64}, dtype.F16: {frag64x16}, dtype.I32: {blockwise}, dtype.I64: {striped},
}

// scanCases are a case for each scan, type and spread.
func scanCases() []tiletest.Case {
	var out []tiletest.Case
	for o, op := range scans {
		for _, t := range dtype.Arithmetic() {
			for _, p := range scanSpreads[t] {
				out = append(out, opCase(op, t.String()+"/"+p.name, func(r run) error { return checkScans(r, t, o, p) }))
			}
		}
	}
	return out
}

func checkScans(r run, t dtype.Type, o int, p spread) error {
	of := reductions[o]
	for i, s := range p.shapes() {
		kind := i % len(reduceKinds)
		if !orderFree(t, of, kind) {
			kind = 0
		}
		const groups = 3
		rows, n := s[0], s[1]
		x := reduceData(t, kind, tiletest.Bits(r.Seed, uint64(rows*n+kind)), groups*rows*n)
		in, y := place(r, t, x, groups, rows, n), r.Out(t, groups, 8, rows, n)
		err := launchScan(r.Stream, scanParams{X: in, Y: y})
		if p.group {
			err = launchScanGroup(r.Stream, scanGroupParams{X: in, Y: y})
		}
		if err != nil {
			return err
		}
		got := r.Bits(y)
		for g := range groups {
			for nth := range 2 {
				axis, way := scanOutput(2*o + nth)
				m := &mistakes{r: r, what: fmt.Sprintf("%v of %s %v %dx%d along axis %d, %v", scans[o], reduceKinds[kind], t, rows, n, axis, way)}
				checkScan(m, t, of, x[g*rows*n:][:rows*n], got[(g*8+2*o+nth)*rows*n:][:rows*n], n, axis, way)
			}
		}
	}
	return nil
}

// checkScan checks one scan of a tile with rows of n.
func checkScan(m *mistakes, t dtype.Type, op ir.Op, x, y []uint64, n, axis int, way []tile.ScanOption) {
	for i := range x {
		line, here := column(x, n, i%n), i/n // what element i lies on
		if axis == 1 {
			line, here = x[i-i%n:][:n], i%n
		}
		end := here + 1
		if slices.Contains(way, tile.Exclusive) {
			end = here
		}
		count := line[:end]
		if slices.Contains(way, tile.Reverse) {
			count = line[2*here+1-end:]
		}
		if len(count) == 0 {
			if want := neutral(t, op); y[i] != want {
				m.at(i, hex(y[i]), "%#x", want)
			}
			continue
		}
		if want, ok := reduced(t, op, count, y[i]); !ok {
			m.at(i, hex(y[i]), "%v", want)
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
