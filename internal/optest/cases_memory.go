//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func memoryCases() []tiletest.Case {
	var out []tiletest.Case
	for _, op := range []ir.Op{ir.Load, ir.Store, ir.Dim} {
		for _, t := range dtype.Arithmetic() {
			out = append(out, opCase(op, t.String(), func(r run) error { return checkMove(r, t) }))
		}
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.F16, dtype.I64} {
		out = append(out, opCase(ir.Load, "static/"+t.String(), func(r run) error { return checkStatic(r, t) }))
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I64} {
		out = append(out, opCase(ir.Load, "strided/"+t.String(), func(r run) error { return checkStrided(r, t) }))
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		out = append(out, opCase(ir.Load, "gather/"+t.String(), func(r run) error { return checkGather(r, t) }))
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I32, dtype.I64} {
		out = append(out, opCase(ir.Barrier, "shared/"+t.String(), func(r run) error { return checkShared(r, t) }))
	}
	return append(out, opCase(ir.Barrier, "carry", checkCarry), opCase(ir.Barrier, "warp", checkWarpShared))
}

// lie says how a matrix lies in memory.
type lie struct {
	rows, n, pad, offset int
}

func (l lie) String() string { return fmt.Sprintf("%dx%d+%d@%d", l.rows, l.n, l.pad, l.offset) }

func (l lie) place(r run, role tiletest.Role, t dtype.Type, x []uint64) device.Tensor {
	return r.Place(tiletest.Spec{Role: role, DType: t, Bits: x, Shape: []int{l.rows, l.n}, Strides: []int{l.n + l.pad, 1}, Offset: l.offset})
}

// input is a tensor to read that lies so.
func (l lie) input(r run, t dtype.Type, values []float64) device.Tensor {
	return r.Place(tiletest.Spec{Role: tiletest.Input, DType: t, Values: values, Shape: []int{l.rows, l.n}, Strides: []int{l.n + l.pad, 1}, Offset: l.offset})
}

// output is one to write.
func (l lie) output(r run, t dtype.Type) device.Tensor { return l.place(r, tiletest.Output, t, nil) }

// moveCap is the capacity of the move kernels.
var moveCap = map[dtype.Type]int{dtype.F32: 300, dtype.BF16: 700, dtype.F16: 128, dtype.I32: 64, dtype.U32: 300, dtype.I64: 200}

func checkMove(r run, t dtype.Type) error {
	n := moveCap[t]
	for _, l := range []lie{{5, n, 0, 0}, {3, n - 1, 0, 0}, {3, n - 4, 4, 0}, {3, n &^ 15, 0, 8}, {3, n &^ 15, 16, 1}, {3, n &^ 15, 3, 0}, {4, 1, 0, 0}, {3, 17, 15, 2}, {19, 32, 0, 0}} {
		x := patterns(t, tiletest.Bits(r.Seed, uint64(l.n)), l.rows*l.n)
		y := r.Place(tiletest.Spec{Role: tiletest.Output, DType: t, Shape: []int{6, l.rows, l.n}, Strides: []int{l.rows * (l.n + l.pad), l.n + l.pad, 1}, Offset: l.offset})
		p := moveParams{X: l.place(r, tiletest.Input, t, x), Y: y, S: r.Out(t, l.rows)}
		if err := launchMove(r.Stream, p); err != nil {
			return err
		}
		var want []uint64
		for range 6 {
			want = append(want, x...)
		}
		equal(r, "rows of "+l.String(), t, r.Bits(p.Y), want)
		equal(r, "scalars of "+l.String(), t, r.Bits(p.S), column(x, l.n, 0))
	}
	return nil
}

func checkStatic(r run, t dtype.Type) error {
	for _, l := range []lie{{12, 64, 0, 0}, {12, 64, 1, 0}, {12, 64, 8, 1}} {
		x := patterns(t, tiletest.Bits(r.Seed, 1), 12*64)
		p := staticParams{X: l.place(r, tiletest.Input, t, x), Y: l.output(r, t), Z: r.Out(t, 64)}
		if err := launchStatic(r.Stream, p); err != nil {
			return err
		}
		var want []uint64
		for i := range 12 {
			want = append(append(want, x[64*i+32:][:32]...), x[64*i:][:32]...)
		}
		equal(r, "halves of "+l.String(), t, r.Bits(p.Y), want)
		equal(r, "last row of "+l.String(), t, r.Bits(p.Z), x[11*64:])
	}
	return nil
}

func checkStrided(r run, t dtype.Type) error {
	for _, s := range []struct{ rows, n, row, col int }{{10, 32, 96, 3}, {9, 31, 62, 2}, {10, 32, 32, 1}, {10, 32, 1, 10}, {1, 1, 1, 1}} {
		x := patterns(t, tiletest.Bits(r.Seed, uint64(s.row)), s.rows*s.n)
		spec := tiletest.Spec{Role: tiletest.Input, DType: t, Bits: x, Shape: []int{s.rows, s.n}, Strides: []int{s.row, s.col}, Offset: 1}
		out := tiletest.Spec{Role: tiletest.Output, DType: t, Shape: spec.Shape, Strides: spec.Strides}
		p := stridedParams{X: r.Place(spec), Y: r.Place(out), V: r.Place(tiletest.Spec{Role: tiletest.Output, DType: t, Shape: []int{s.n}, Strides: []int{5}})}
		if err := launchStrided(r.Stream, p); err != nil {
			return err
		}
		what := fmt.Sprintf("%dx%d with strides %d, %d", s.rows, s.n, s.row, s.col)
		equal(r, what, t, r.Bits(p.Y), x)
		checkReduced(r, what, t, ir.MaxOf, r.Bits(p.V), func(i int) []uint64 { return column(x, s.n, i) })
	}
	return nil
}

func checkGather(r run, t dtype.Type) error {
	const rows, m = 9, 23
	for _, n := range []int{200, 197, 3} {
		x := patterns(t, tiletest.Bits(r.Seed, uint64(n)), rows*n)
		index := r.Ints(0, rows-1, 7, m)
		p := gatherParams{X: place(r, t, x, rows, n), Index: r.In(dtype.I32, index, m), Y: r.Out(t, m, n), S: r.Out(t, m)}
		if err := launchGather(r.Stream, p); err != nil {
			return err
		}
		var y, s []uint64
		for _, f := range index {
			i := int(f)
			y, s = append(y, x[i*n:][:n]...), append(s, x[i*n+i%n])
		}
		equal(r, "rows", t, r.Bits(p.Y), y)
		equal(r, "elements", t, r.Bits(p.S), s)
	}
	return nil
}

func checkShared(r run, t dtype.Type) error {
	for _, s := range [][2]int{{16, 48}, {15, 45}, {1, 1}, {7, 32}} {
		rows, n := s[0], s[1]
		x := patterns(t, tiletest.Bits(r.Seed, uint64(n)), rows*n)
		p := sharedParams{X: place(r, t, x, rows, n), Y: r.Out(t, rows, n), V: r.Out(t, rows, n), S: r.Out(t, rows)}
		if err := launchShared(r.Stream, p); err != nil {
			return err
		}
		what := fmt.Sprintf("%dx%d", rows, n)
		equal(r, "tile of "+what, t, r.Bits(p.Y), x)
		equal(r, "rows of "+what, t, r.Bits(p.V), x)
		checkReduced(r, "rows of "+what, t, ir.MaxOf, r.Bits(p.S), func(i int) []uint64 { return x[i*n:][:n] })
	}
	return nil
}

func checkCarry(r run) error {
	for _, steps := range []int{1, 2, 9} {
		for _, n := range []int{128, 127, 5} {
			xs := r.Ints(-1000, 1000, uint64(n), steps*n)
			p := carryParams{X: r.In(dtype.I32, xs, steps, n), Y: r.Out(dtype.I32, steps, n)}
			if err := launchCarry(r.Stream, p); err != nil {
				return err
			}
			var want []int
			for i, x := range xs {
				if i >= n {
					x += xs[i-n]
				}
				want = append(want, int(x))
			}
			ints(r, "sums with the row before", p.Y, want)
		}
	}
	return nil
}

func checkWarpShared(r run) error {
	for _, rows := range []int{1, 3, 50} {
		for _, n := range []int{64, 61} {
			x := patterns(dtype.F32, tiletest.Bits(r.Seed, uint64(n)), rows*n)
			p := warpSharedParams{X: place(r, dtype.F32, x, rows, n), Y: r.Out(dtype.F32, rows, n)}
			if err := launchWarpShared(r.Stream, p); err != nil {
				return err
			}
			equal(r, "rows", dtype.F32, r.Bits(p.Y), x)
		}
	}
	return nil
}
