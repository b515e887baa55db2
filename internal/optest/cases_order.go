//go:build !gotilegen

package optest

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

func orderCases() []tiletest.Case {
	out := []tiletest.Case{
		opCase(ir.AtomicAdd, "order/last_block", checkLastBlock), opCase(ir.AtomicAdd, "order/tree", checkTree),
		opCase(ir.Load, "order/mail", checkMail), opCase(ir.Store, "order/mail", checkMail),
		opCase(ir.AtomicAdd, "order/f32", checkFloatOrder), opCase(ir.AtomicExch, "order/f32", checkFloatOrder),
	}
	for i, op := range atomicOps {
		for _, t := range []dtype.Type{dtype.I32, dtype.U32, dtype.I64} {
			out = append(out, opCase(op, "order/"+t.String(), func(r run) error { return checkOrder(r, t, i) }))
		}
	}
	return out
}

// columnSums are small integers and their sums, exact in any order.
func columnSums(r run, rows, n int) (xs []float64, sums []int) {
	xs, sums = r.Ints(-99, 99, uint64(rows), rows*n), make([]int, n)
	for i, x := range xs {
		sums[i%n] += int(x)
	}
	return xs, sums
}

func checkLastBlock(r run) error {
	for _, s := range [][3]int{{1, 1, 1}, {40, 256, 7}, {3, 130, 5}, {64, 255, 16}} {
		rows, n, blocks := s[0], s[1], s[2]
		xs, sums := columnSums(r, rows, n)
		p := lastBlockParams{X: r.In(dtype.F32, xs, rows, n), Part: r.Out(dtype.F32, blocks, n), Count: change(r, dtype.U32, []uint64{0}, 1)}
		for range 2 { // the counter serves the next launch
			p.Y = r.Out(dtype.F32, n)
			if err := launchLastBlock(r.Stream, p); err != nil {
				return err
			}
			what := fmt.Sprintf("%d rows by %d blocks", rows, blocks)
			ints(r, what, p.Y, sums)
			equal(r, "counter after "+what, dtype.U32, r.Bits(p.Count), []uint64{0})
		}
	}
	return nil
}

func checkClusterLast(r run) error {
	for _, s := range [][3]int{{1, 1, 1}, {40, 256, 7}, {3, 130, 5}, {64, 255, 16}, {9, 64, 2}} {
		rows, n, clusters := s[0], s[1], s[2]
		xs, sums := columnSums(r, rows, n)
		total := 0
		for _, s := range sums {
			total += s
		}
		p := clusterLastParams{X: r.In(dtype.F32, xs, rows, n), Part: r.Out(dtype.F32, clusters, n), Count: change(r, dtype.U32, []uint64{0}, 1)}
		for range 2 {
			p.Y, p.Sum = r.Out(dtype.F32, n), r.Out(dtype.F32, 1)
			if err := launchClusterLast(r.Stream, p); err != nil {
				return err
			}
			what := fmt.Sprintf("%d rows by %d clusters", rows, clusters)
			ints(r, what, p.Y, sums)
			ints(r, "sum of "+what, p.Sum, []int{total})
			equal(r, "counter after "+what, dtype.U32, r.Bits(p.Count), []uint64{0})
		}
	}
	return nil
}

func checkTree(r run) error {
	for _, s := range [][3]int{{1, 1, 1}, {40, 256, 7}, {3, 130, 5}, {64, 255, 16}, {30, 64, 10}} {
		rows, n, blocks := s[0], s[1], s[2]
		size := 1
		for size*size < blocks {
			size++
		}
		groups := (blocks + size - 1) / size
		xs, sums := columnSums(r, rows, n)
		p := treeParams{X: r.In(dtype.F32, xs, rows, n), Part: r.Out(dtype.F32, blocks, n), Group: r.Out(dtype.F32, groups, n), Size: int32(size),
			Done: change(r, dtype.U32, make([]uint64, groups), groups), Count: change(r, dtype.U32, []uint64{0}, 1)}
		for range 2 {
			p.Y = r.Out(dtype.F32, n)
			if err := launchTree(r.Stream, p); err != nil {
				return err
			}
			what := fmt.Sprintf("%d rows by %d blocks in groups of %d", rows, blocks, size)
			ints(r, what, p.Y, sums)
			equal(r, "counters after "+what, dtype.U32, append(r.Bits(p.Done), r.Bits(p.Count)...), make([]uint64, groups+1))
		}
	}
	return nil
}

func checkMail(r run) error {
	for _, rows := range []int{1, 2, 9} {
		const n = 125
		xs := r.Ints(0, 999, uint64(rows), rows*n)
		p := mailParams{X: r.In(dtype.I32, xs, rows, n), Mail: r.Out(dtype.I32, rows, n), Flag: change(r, dtype.I32, make([]uint64, rows), rows),
			Y: r.Out(dtype.I32, rows, n), Seen: r.Out(dtype.I32, rows, 2), Warp: r.Out(dtype.I32, rows, n)}
		if err := launchMail(r.Stream, p); err != nil {
			return err
		}
		flags := r.Floats(p.Seen) // who came first is the device's choice
		var want [2][]int
		for row := range rows {
			for i := range want {
				for j := range n {
					x := -1
					if flags[2*row+i] == 1 {
						x = int(xs[(row+2*rows-1-i)%rows*n+j])
					}
					want[i] = append(want[i], x)
				}
			}
		}
		if rows == 1 && flags[0] != 1 {
			r.Errorf("a block does not see its own flag")
		}
		ints(r, "rows of the blocks before", p.Y, want[0])
		ints(r, "rows of the blocks two before", p.Warp, want[1])
		equal(r, "flags", dtype.I32, r.Bits(p.Flag), slices.Repeat([]uint64{1}, rows))
	}
	return nil
}

func checkOrder(r run, t dtype.Type, op int) error {
	for _, blocks := range []int{1, 4} {
		const start = 77
		one := []uint64{start, 1, start, start, start}
		p := orderParams{One: change(r, t, one, 5), Old: r.Out(t, blocks, 5), Mine: r.Out(dtype.I32, 9)}
		if err := launchOrder(r.Stream, p); err != nil {
			return err
		}
		var olds []uint64
		for b := range blocks {
			olds = append(olds, r.Bits(p.Old)[b*5+op])
		}
		if why := counterRight(op, one[op], r.Bits(p.One)[op], olds); why != "" {
			r.Errorf("%v of %d blocks' numbers on %d: %s; they got %v and left %d", atomicOps[op], blocks, one[op], why, olds, r.Bits(p.One)[op])
		}
	}
	return nil
}

func checkFloatOrder(r run) error {
	const blocks = 6
	p := floatOrderParams{Sum: r.InOut(dtype.F32, []float64{0}, 1), Exch: r.InOut(dtype.F32, []float64{0}, 1), Old: r.Out(dtype.F32, blocks, 2), Mine: r.Out(dtype.I32, 9)}
	if err := launchFloatOrder(r.Stream, p); err != nil {
		return err
	}
	sums, seen := r.Floats(p.Sum), r.Floats(p.Exch)
	for b := range blocks {
		sums, seen = append(sums, r.Floats(p.Old)[2*b]), append(seen, r.Floats(p.Old)[2*b+1])
	}
	slices.Sort(sums)
	slices.Sort(seen)
	for i := range seen {
		if seen[i] != float64(i) || sums[i] != float64(2*i) {
			r.Errorf("exchanges %v and sums %v: one is lost or doubled", seen, sums)
			break
		}
	}
	return nil
}
