//go:build !gotilegen

package rmsnorm

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile/tiletest"
)

// Cases are the differential tests of every committed kernel, for the simulator and for GPUs.
func Cases() []tiletest.Case {
	out := gateCases()
	for _, t := range pairs {
		for _, s := range shapes() {
			for _, p := range (problem{shape: s, x: t.x, w: t.w}).variants() {
				out = append(out, tiletest.Case{Name: p.String(), Run: p.check})
				if p.split = s.n <= smallCap; p.split {
					out = append(out, tiletest.Case{Name: p.String(), Run: p.check})
				}
			}
		}
		for _, s := range wideShapes() {
			for _, p := range (problem{shape: s, x: t.x, w: t.w}).variants() {
				out = append(out, tiletest.Case{Name: p.String(), Run: p.wide})
			}
		}
		for _, s := range []shape{{rows: 301, n: 512}, {rows: 301, n: 4096}, {rows: 301, n: 16384}, {rows: 301, n: 20000}, {rows: 67, n: clustered}} {
			for _, p := range (problem{shape: s, x: t.x, w: t.w}).variants() {
				out = append(out, tiletest.Case{Name: "repeat/" + p.String(), Run: p.repeat})
				if p.split = s.n <= smallCap; p.split {
					out = append(out, tiletest.Case{Name: "repeat/" + p.String(), Run: p.repeat})
				}
			}
		}
	}
	for _, p := range (problem{x: dtype.BF16, w: dtype.BF16}).variants() {
		// First small, so that the simulator tests the case itself.
		p.shape = shape{rows: 3, n: 1024, pad: 24}
		out = append(out, p.far(false))
		p.shape = shape{rows: 3, n: 1024, pad: 1<<30 + 8 - 1024} // the last row starts past 2^31
		out = append(out, p.far(true))
		p.shape = shape{rows: 3, n: 20000, pad: 1<<30 + 8 - 20000}
		out = append(out, p.far(true))
		p.shape = shape{rows: 23, n: 600}
		out = append(out, p.long(false))
		p.shape = shape{rows: 1<<17 + 5, n: 16384} // 2^31 elements and five rows
		out = append(out, p.long(true))
		p.shape = shape{rows: 301, n: clustered} // several rows a cluster
		out = append(out, p.long(true))
	}
	return out
}

// clustered is the length of rows that clusters share, backward in all types and forward in f32; a GPU holds fewer
// clusters at once than the cases of it have rows.
const clustered = 131072

// variants are the problem in all forms.
func (p problem) variants() []problem {
	add, silu, sigmoid := p, p, p
	add.residual, silu.act, sigmoid.act = true, Silu, Sigmoid
	return []problem{p, add, silu, sigmoid}
}

const defaultEps = 1e-6

// shape is a row of the test table.
type shape struct {
	rows, n int
	pad     int     // elements between rows
	offset  int     // elements by which the tensors start past a 256-byte boundary
	eps     float32 // 0: defaultEps
}

func (s shape) String() string {
	out := fmt.Sprintf("%dx%d", s.rows, s.n)
	if s.pad > 0 {
		out += fmt.Sprintf("+%d", s.pad)
	}
	if s.offset > 0 {
		out += fmt.Sprintf("@%d", s.offset)
	}
	if s.eps > 0 {
		out += fmt.Sprintf("/eps=%g", s.eps)
	}
	return out
}

// shapes are ragged, tiny, full, padded and unaligned rows for every capacity.
func shapes() []shape {
	var out []shape
	for _, n := range []int{1, 7, 64, 100, 512, 1001, 1000, 1024, 2048, 4096, 5120, 8191, 8192, 16384} {
		for _, rows := range []int{0, 1, 3, 17} {
			if rows > 3 && n > 5120 { // the simulator's time
				rows = 5
			}
			out = append(out, shape{rows: rows, n: n})
		}
	}
	// Rows apart by whole vectors, rows of which each starts at another place in its vector, and rows that all start
	// past a vector's boundary.
	for _, s := range []shape{{rows: 9, n: 512}, {rows: 5, n: 4096}, {rows: 2, n: 16384}} {
		for _, place := range []struct{ pad, offset int }{{8, 0}, {3, 0}, {0, 1}} {
			s.pad, s.offset = place.pad, place.offset
			out = append(out, s)
		}
	}
	return append(out,
		shape{rows: 5, n: 100, pad: 28, offset: 4},
		shape{rows: 200, n: 96}, shape{rows: 67, n: 1536}, // more rows than blocks that run at once on the simulator
		shape{rows: 17, n: 1, eps: 1}, shape{rows: 3, n: 100, eps: 1}) // eps as large as x^2: see problem.compareDX
}

// wideShapes are rows that no block holds: whole and ragged chunks, several rows, padded and unaligned.
func wideShapes() []shape {
	return []shape{
		{rows: 1, n: 16385}, {rows: 3, n: 16392}, {rows: 150, n: 20000}, {rows: 0, n: 40001}, {rows: 2, n: 40001}, {rows: 2, n: 32768},
		{rows: 2, n: 20480, pad: 8}, {rows: 2, n: 20480, pad: 3}, {rows: 2, n: 20480, offset: 1},
		{rows: 1, n: 65536}, {rows: 1, n: 100003}, {rows: 1, n: 131072}, {rows: 3, n: 262144},
	}
}

// bars are the largest scale-relative errors against float64: of y, and of the gradients.
type bars struct{ forward, backward float64 }

func barsOf(t dtype.Type) bars {
	switch t {
	case dtype.BF16:
		return bars{4e-3, 4e-3}
	case dtype.F16:
		return bars{5e-4, 5e-4}
	}
	return bars{2e-7, 1e-6}
}

// barDW is the bar of dw for a type of w; the sums are f32 in any case.
func barDW(w dtype.Type) float64 { return max(barsOf(w).backward, 1e-6) }
