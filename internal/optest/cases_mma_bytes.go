//go:build !gotilegen

package optest

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// mmaSquareCases multiply small integers in 8 bits, and 16-bit types by the instruction of half of k.
func mmaSquareCases() []tiletest.Case {
	var out []tiletest.Case
	for _, c := range []struct {
		t, acc dtype.Type
		group  bool
	}{{dtype.E4M3, dtype.F32, true}, {dtype.E5M2, dtype.F32, false}, {dtype.I8, dtype.I32, true}, {dtype.BF16, dtype.F32, false}, {dtype.F16, dtype.F16, false}} {
		out = append(out, opCase(ir.MMA, "square/"+c.t.String(), func(r run) error {
			for _, s := range [][4]int{{mmaSquareMost, mmaSquareRows, mmaN, mmaE}, {19, 11, 13, 13}, {1, 1, 1, 1}} {
				err := checkMMASquare(r, c.t, c.acc, 4, s, func(a, b, c, d, e device.Tensor) error {
					return launchMmaSquare(r.Stream, mmaSquareParams{A: a, B: b, C: c, D: d, E: e})
				})
				if err != nil {
					return err
				}
			}
			return nil
		}))
		if c.group {
			out = append(out, opCase(ir.MMA, "square_group/"+c.t.String(), func(r run) error {
				return checkMMASquare(r, c.t, c.acc, 2, [4]int{mmaSquareMost - 1, 61, mmaN, mmaE}, func(a, b, c, d, e device.Tensor) error {
					return launchMmaSquareGroup(r.Stream, mmaSquareGroupParams{A: a, B: b, C: c, D: d, E: e})
				})
			}))
		}
	}
	return append(out, opCase(ir.MMA, "wrap/i8", checkMMAWrap))
}

// checkMMASquare takes the side of A and B, then m, n and the columns of E.
func checkMMASquare(r run, t, acc dtype.Type, times int, s [4]int, launch func(a, b, c, d, e device.Tensor) error) error {
	side, m, n, part := s[0], s[1], s[2], s[3]
	k := min(side, mmaDepth[t])
	as, bs, cs := r.Ints(-3, 3, 1, side*side), r.Ints(-3, 3, 2, side*side), r.Ints(-99, 99, 3, m*n)
	d, e := r.Out(acc, len(mmaForms)*times, m, n), r.Out(acc, len(mmaForms), m, part)
	if err := launch(r.In(t, as, side, side), r.In(t, bs, side, side), r.In(acc, cs, m, n), d, e); err != nil {
		return err
	}
	var want, parts []int
	for _, form := range mmaForms {
		at := func(x []float64, trans bool) func(i, j int) int {
			return func(i, j int) int {
				i, j = mmaSides(i, j, trans)
				return int(x[i*side+j])
			}
		}
		a, b := at(as, transposedA(form)), at(bs, transposedB(form))
		var sums []int
		for i := range m {
			for j := range n {
				p := product(a, b, k, i, j)
				sums = append(sums, int(cs[i*n+j])+p)
				if j < part {
					parts = append(parts, p)
				}
			}
		}
		for range times {
			want = append(want, sums...)
		}
	}
	what := fmt.Sprintf("%v m%dn%dk%d", t, m, n, k)
	ints(r, what, d, want)
	ints(r, "a part of "+what, e, parts)
	return nil
}

// checkMMAWrap adds the largest products to an accumulator that has no room for them.
func checkMMAWrap(r run) error {
	const s = mmaSquareMost
	x, c, most := make([]float64, s*s), make([]float64, mmaSquareRows*mmaN), 1<<31-1
	for i := range x {
		x[i] = -128
	}
	for i := range c {
		c[i] = float64(most - i)
	}
	d, e := r.Out(dtype.I32, 16, mmaSquareRows, mmaN), r.Out(dtype.I32, 4, mmaSquareRows, mmaE)
	if err := launchMmaSquare(r.Stream, mmaSquareParams{A: r.In(dtype.I8, x, s, s), B: r.In(dtype.I8, x, s, s), C: r.In(dtype.I32, c, mmaSquareRows, mmaN), D: d, E: e}); err != nil {
		return err
	}
	sum := mmaDepth[dtype.I8] * 128 * 128
	var want []int
	for i := range 16 * mmaSquareRows * mmaN {
		want = append(want, int(int32(most-i%(mmaSquareRows*mmaN)+sum)))
	}
	ints(r, "sums beyond i32", d, want)
	ints(r, "the largest products", e, slices.Repeat([]int{sum}, 4*mmaSquareRows*mmaE))
	return nil
}
