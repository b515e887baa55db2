//go:build !gotilegen

package optest

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

// wgmmaBytesCases multiply small integers of 8 bits by wgmma.
func wgmmaBytesCases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.E4M3, dtype.E5M2, dtype.I8} {
		out = append(out, opCase(ir.MMA, "group_bytes/"+t.String(), func(r run) error { return checkWGMMABytes(r, t) }))
	}
	return out
}

func checkWGMMABytes(r run, t dtype.Type) error {
	const m, n, k = wgmmaBytesM, wgmmaBytesN, wgmmaBytesK
	sums := dtype.F32
	if t == dtype.I8 {
		sums = dtype.I32
	}
	a, at := mmaOperand(r, t, 1, m, k, false)
	b, bt := mmaOperand(r, t, 2, k, n, true)
	p := wgmmaBytesParams{A: a, B: b, D: r.Out(sums, 2, m, n), E: r.Out(sums, m, 8)}
	if err := launchWgmmaBytes(r.Stream, p); err != nil {
		return err
	}
	// dot is the sum over k from a place on.
	dot := func(i, j, from, depth int) (sum int) {
		for l := from; l < from+depth; l++ {
			sum += at(i, l) * bt(l, j)
		}
		return sum
	}
	var d, e []int
	for _, part := range [][2]int{{0, k}, {wgmmaBytesAt, wgmmaBytesDepth}} {
		for i := range m {
			for j := range n {
				d = append(d, dot(i, j, part[0], part[1]))
			}
		}
	}
	for i := range m {
		for j := range 8 {
			e = append(e, 1+dot(i, wgmmaBytesRow+j, 0, k))
		}
	}
	ints(r, "products", p.D, d)
	ints(r, "of a part of B", p.E, e)
	return nil
}
