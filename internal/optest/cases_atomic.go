//go:build !gotilegen

package optest

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

var atomicOps = []ir.Op{ir.AtomicAdd, ir.AtomicMax, ir.AtomicMin, ir.AtomicExch, ir.AtomicCAS}

func atomicCases() []tiletest.Case {
	var out []tiletest.Case
	for i, op := range atomicOps {
		for _, t := range []dtype.Type{dtype.I32, dtype.U32, dtype.I64} {
			out = append(out, opCase(op, t.String(), func(r run) error { return checkAtomic(r, t, i) }))
		}
	}
	return append(out, opCase(ir.AtomicAdd, "f32", checkFloatAtomic), opCase(ir.AtomicExch, "f32", checkFloatAtomic))
}

// checkAtomic checks one atomic: on a tile, and on a counter of which each block takes one value.
func checkAtomic(r run, t dtype.Type, op int) error {
	for _, blocks := range []int{1, 4} {
		const rows, n, start = 6, 93, 77
		x := make([]uint64, rows*n)
		for i := range x {
			x[i] = random(t, tiletest.Bits(r.Seed, uint64(i)))
		}
		init := make([]uint64, 5*n)
		for i := range init {
			init[i] = []uint64{0, 1, 5}[i%3]
		}
		tickets := blocks * 2 // a warp takes one
		one := []uint64{start, start, start, start, start, 0}
		if op == 1 {
			one[1] = 1 // among the blocks' numbers, so that the maximum moves
		}
		p := atomicParams{X: place(r, t, x, rows, n), Tile: change(r, t, init, 5, n), One: change(r, t, one, 6), Old: r.Out(t, blocks, 5), Warp: r.Out(t, tickets, 32)}
		if err := launchAtomic(r.Stream, p); err != nil {
			return err
		}
		got := r.Bits(p.Tile)[op*n:][:n]
		m := &mistakes{r: r, what: fmt.Sprintf("%v of tiles of %v by %d blocks", atomicOps[op], t, blocks)}
		for j := range n {
			if col := column(x, n, j); !tileAtomicRight(t, op, init[op*n+j], col, got[j]) {
				m.at(j, hex(got[j]), "what %#x makes of %#x", col, init[op*n+j])
			}
		}
		m.done(n)

		var olds []uint64
		for b := range blocks {
			olds = append(olds, r.Bits(p.Old)[b*5+op])
		}
		if why := counterRight(op, one[op], r.Bits(p.One)[op], olds); why != "" {
			r.Errorf("%v of %d blocks' numbers on %d: %s; they got %v and left %d", atomicOps[op], blocks, one[op], why, olds, r.Bits(p.One)[op])
		}
		if got := r.Bits(p.One)[5]; got != uint64(tickets) {
			r.Errorf("%d warps left a counter of %d", tickets, got)
		}
		equal(r, "tickets", t, r.Bits(p.Warp), slices.Repeat([]uint64{1}, 32*tickets))
	}
	return nil
}

// tileAtomicRight reports whether an element that several values met may end as got; the order of rows is free.
func tileAtomicRight(t dtype.Type, op int, init uint64, xs []uint64, got uint64) bool {
	switch atomicOps[op] {
	case ir.AtomicExch:
		return slices.Contains(xs, got)
	case ir.AtomicCAS:
		return init == 1 && slices.Contains(xs, got) || init != 1 && got == init
	}
	acc := intOf(t, init)
	for _, x := range xs {
		v := intOf(t, x)
		switch atomicOps[op] {
		case ir.AtomicAdd:
			acc = new(big.Int).Add(acc, v)
		case ir.AtomicMax:
			if v.Cmp(acc) > 0 {
				acc = v
			}
		case ir.AtomicMin:
			if v.Cmp(acc) < 0 {
				acc = v
			}
		}
	}
	return wrap(t, acc) == got
}

// counterRight explains what is wrong with the history of a counter that each block changed once: by 3, or with its own
// number b.
func counterRight(op int, start, end uint64, olds []uint64) string {
	n := uint64(len(olds))
	sorted := slices.Clone(olds)
	slices.Sort(sorted)
	switch atomicOps[op] {
	case ir.AtomicAdd: // every partial sum was returned once
		for i, o := range sorted {
			if o != start+3*uint64(i) {
				return "a partial sum is missing"
			}
		}
		if end != start+3*n {
			return "wrong sum"
		}
	case ir.AtomicMax:
		if end != max(start, n-1) {
			return "not the largest"
		}
		if sorted[0] != start || sorted[n-1] > end {
			return "a value that the counter never had"
		}
	case ir.AtomicMin:
		if end != 0 {
			return "not the smallest"
		}
		if sorted[n-1] != start {
			return "nobody got the first value"
		}
	case ir.AtomicExch: // start and all numbers, each once: with one of them, the last, still there
		var seen uint64
		for _, o := range append(sorted, end) {
			if o == start {
				o = n
			}
			seen |= 1 << o
		}
		if bits.OnesCount64(seen) != len(olds)+1 || seen>>(n+1) != 0 {
			return "a value was lost or doubled"
		}
	case ir.AtomicCAS: // the first block finds the start, the others its number
		if end >= n || olds[end] != start {
			return "the value is not that of the block that found the first"
		}
		for b, o := range olds {
			if uint64(b) != end && o != end {
				return "a later block got something else"
			}
		}
	}
	return ""
}

func checkFloatAtomic(r run) error {
	const rows, n = 21, 125
	xs := r.Ints(-99, 99, 1, rows*n)
	init := r.Ints(-9, 9, 2, n)
	p := floatAtomicParams{X: r.In(dtype.F32, xs, rows, n), Sum: r.InOut(dtype.F32, init, n), Exch: r.InOut(dtype.F32, []float64{0}, 1), Old: r.Out(dtype.F32, rows)}
	if err := launchFloatAtomic(r.Stream, p); err != nil {
		return err
	}
	var want []int
	for j, x := range init {
		for i := range rows {
			x += xs[i*n+j]
		}
		want = append(want, int(x))
	}
	ints(r, "sums", p.Sum, want)
	seen := append(r.Floats(p.Old), r.Floats(p.Exch)...)
	slices.Sort(seen)
	for i, v := range seen {
		if v != float64(i) {
			r.Errorf("exchanges returned and left %v: %d is lost or doubled", seen, i)
			break
		}
	}
	return nil
}
