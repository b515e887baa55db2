//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// matrixCases move tiles by matrix loads and stores and within registers.
func matrixCases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.BF16, dtype.F16} {
		for _, op := range []ir.Op{ir.LoadMatrix, ir.MoveMatrix} {
			out = append(out, opCase(op, "load/"+t.String(), func(r run) error { return checkMatrixLoad(r, t) }))
		}
		out = append(out, opCase(ir.StoreMatrix, "store/"+t.String(), func(r run) error {
			return checkMatrixStore(r, t, matrixRows, matrixCols, func(x, y, z device.Tensor) error {
				return launchMatrixStore(r.Stream, matrixStoreParams{X: x, Y: y, T: z})
			})
		}))
	}
	for _, op := range []ir.Op{ir.LoadMatrix, ir.StoreMatrix} {
		out = append(out, opCase(op, "group/bf16", func(r run) error {
			return checkMatrixStore(r, dtype.BF16, 64, 64, func(x, y, z device.Tensor) error {
				return launchMatrixGroup(r.Stream, matrixGroupParams{X: x, Y: y, T: z})
			})
		}))
	}
	return out
}

// transposed is a matrix of rows x n, column by column.
func transposed(x []uint64, n int) []uint64 {
	var out []uint64
	for j := range n {
		out = append(out, column(x, n, j)...)
	}
	return out
}

func checkMatrixLoad(r run, t dtype.Type) error {
	for _, s := range [][2]int{{matrixRows, matrixCols}, {matrixRows - 3, matrixCols - 5}, {1, 1}} {
		rows, n := s[0], s[1]
		x := patterns(t, tiletest.Bits(r.Seed, uint64(n)), rows*n)
		p := matrixParams{X: place(r, t, x, rows, n), Y: r.Out(t, 4, rows, n), T: r.Out(t, n, rows)}
		if err := launchMatrix(r.Stream, p); err != nil {
			return err
		}
		what := fmt.Sprintf("%dx%d", rows, n)
		equal(r, what, t, r.Bits(p.Y), append(append(append(append([]uint64{}, x...), x...), x...), x...))
		equal(r, "the transpose of "+what, t, r.Bits(p.T), transposed(x, n))
	}
	return nil
}

// checkMatrixStore takes a tile of at most rows x cols.
func checkMatrixStore(r run, t dtype.Type, rows, cols int, launch func(x, y, z device.Tensor) error) error {
	for _, s := range [][2]int{{rows, cols}, {rows - 3, cols - 5}, {1, 1}} {
		rows, n := s[0], s[1]
		x := patterns(t, tiletest.Bits(r.Seed, uint64(n)), rows*n)
		y, z := r.Out(t, 2, rows, n), r.Out(t, n, rows)
		if err := launch(place(r, t, x, rows, n), y, z); err != nil {
			return err
		}
		what := fmt.Sprintf("%dx%d", rows, n)
		equal(r, what, t, r.Bits(y), append(append([]uint64{}, x...), x...))
		equal(r, "the transpose of "+what, t, r.Bits(z), transposed(x, n))
	}
	return nil
}

// mmaCases multiply small integers, whose products and sums are exact.
func mmaCases() []tiletest.Case {
	var out []tiletest.Case
	type launch = func(r run, a, b, c, d, e device.Tensor) error
	forms := []struct {
		name           string
		transA, transB bool
		types          []dtype.Type
		launch         launch
	}{
		{"ab", false, false, []dtype.Type{dtype.BF16, dtype.F16}, func(r run, a, b, c, d, e device.Tensor) error {
			return launchMmaAB(r.Stream, mmaABParams{A: a, B: b, C: c, D: d, E: e})
		}},
		{"abt", false, true, []dtype.Type{dtype.BF16, dtype.F16}, func(r run, a, b, c, d, e device.Tensor) error {
			return launchMmaABt(r.Stream, mmaABtParams{A: a, B: b, C: c, D: d, E: e})
		}},
		{"atb", true, false, []dtype.Type{dtype.BF16}, func(r run, a, b, c, d, e device.Tensor) error {
			return launchMmaAtB(r.Stream, mmaAtBParams{A: a, B: b, C: c, D: d, E: e})
		}},
		{"atbt", true, true, []dtype.Type{dtype.BF16}, func(r run, a, b, c, d, e device.Tensor) error {
			return launchMmaAtBt(r.Stream, mmaAtBtParams{A: a, B: b, C: c, D: d, E: e})
		}},
	}
	for _, f := range forms {
		for _, t := range f.types {
			out = append(out, opCase(ir.MMA, f.name+"/"+t.String(), func(r run) error {
				for _, s := range [][3]int{{mmaM, mmaN, mmaK}, {mmaM - 5, mmaN - 3, mmaK - 7}, {1, 1, 1}, {mmaM, mmaE - 9, 16}} {
					if err := checkMMA(r, t, 4, s[0], s[1], s[2], f.transA, f.transB, f.launch); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	}
	return append(out, opCase(ir.MMA, "chain/f16", checkMMAChain))
}

// operand makes a matrix of small integers of rows x cols, given transposed or not.
func mmaOperand(r run, t dtype.Type, stream uint64, rows, cols int, trans bool) (device.Tensor, func(i, j int) int) {
	gr, gc := mmaSides(rows, cols, trans)
	xs := r.Ints(-3, 3, stream, gr*gc)
	return r.In(t, xs, gr, gc), func(i, j int) int {
		i, j = mmaSides(i, j, trans)
		return int(xs[i*gc+j])
	}
}

// product is the element of a product.
func product(a, b func(i, j int) int, k, i, j int) (sum int) {
	for l := range k {
		sum += a(i, l) * b(l, j)
	}
	return sum
}

// checkMMA wants the sums so many times.
func checkMMA(r run, t dtype.Type, times, m, n, k int, transA, transB bool, launch func(r run, a, b, c, d, e device.Tensor) error) error {
	a, at := mmaOperand(r, t, 1, m, k, transA)
	b, bt := mmaOperand(r, t, 2, k, n, transB)
	cs := r.Ints(-99, 99, 3, m*n)
	part := min(n, mmaE) // as many as wgmmaE
	d, e := r.Out(dtype.F32, times, m, n), r.Out(dtype.F32, m, part)
	if err := launch(r, a, b, r.In(dtype.F32, cs, m, n), d, e); err != nil {
		return err
	}
	var sums, parts []int
	for i := range m {
		for j := range n {
			p := product(at, bt, k, i, j)
			sums = append(sums, int(cs[i*n+j])+p)
			if j < part {
				parts = append(parts, p)
			}
		}
	}
	var want []int
	for range times {
		want = append(want, sums...)
	}
	what := fmt.Sprintf("m%dn%dk%d", m, n, k)
	ints(r, what, d, want)
	ints(r, "a part of "+what, e, parts)
	return nil
}

// checkMMAChain keeps all numbers below 2048, which f16 has exactly.
func checkMMAChain(r run) error {
	const m, n, k = mmaM - 2, mmaN - 1, mmaK - 9
	a, at := mmaOperand(r, dtype.F16, 1, m, k, false)
	b, bt := mmaOperand(r, dtype.F16, 2, k, n, true)
	v, vt := mmaOperand(r, dtype.F16, 3, n, k, false)
	p := mmaChainParams{A: a, B: b, V: v, D: r.Out(dtype.F32, m, k), H: r.Out(dtype.F16, m, n)}
	if err := launchMmaChain(r.Stream, p); err != nil {
		return err
	}
	return checkChain(r, m, n, k, at, bt, vt, p.D, p.H)
}

// checkChain wants the product of a and b, and that of it and v.
func checkChain(r run, m, n, k int, at, bt, vt func(i, j int) int, d, h device.Tensor) error {
	scores := make([]int, m*n)
	for i := range scores {
		scores[i] = product(at, bt, k, i/n, i%n)
	}
	want := make([]int, m*k)
	for i := range want {
		want[i] = product(func(i, j int) int { return scores[i*n+j] }, vt, n, i/k, i%k)
	}
	ints(r, "scores in f16", h, scores)
	ints(r, "the second product", d, want)
	return nil
}
