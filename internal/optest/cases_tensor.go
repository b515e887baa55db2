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

// tensorCases run each kernel of tensor copies as a case of the ops in it.
func tensorCases() []tiletest.Case {
	var out []tiletest.Case
	add := func(variant string, check func(r run) error, ops ...ir.Op) {
		for _, op := range ops {
			out = append(out, opCase(op, variant, check))
		}
	}
	ranks := func(rank int, types []dtype.Type, launch func(s *device.Stream, x, y device.Tensor) error) {
		for _, t := range types {
			add(fmt.Sprintf("rank%d/%v", rank, t), func(r run) error { return checkTensors(r, t, tensorShapes[rank], launch) }, ir.CopyTensor, ir.StoreTensor)
		}
	}
	ranks(1, []dtype.Type{dtype.F32, dtype.BF16}, func(s *device.Stream, x, y device.Tensor) error { return launchTensor1(s, tensor1Params{X: x, Y: y}) })
	ranks(2, []dtype.Type{dtype.F32, dtype.I64, dtype.BF16, dtype.F16, dtype.I32}, func(s *device.Stream, x, y device.Tensor) error {
		return launchTensor2(s, tensor2Params{X: x, Y: y})
	})
	ranks(3, []dtype.Type{dtype.BF16, dtype.F32}, func(s *device.Stream, x, y device.Tensor) error { return launchTensor3(s, tensor3Params{X: x, Y: y}) })
	ranks(4, []dtype.Type{dtype.F16, dtype.F32}, func(s *device.Stream, x, y device.Tensor) error { return launchTensor4(s, tensor4Params{X: x, Y: y}) })
	ranks(5, []dtype.Type{dtype.U32}, func(s *device.Stream, x, y device.Tensor) error { return launchTensor5(s, tensor5Params{X: x, Y: y}) })
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16} {
		add("halo/"+t.String(), func(r run) error { return checkHalo(r, t) }, ir.CopyTensor, ir.PrefetchTensor)
		add("add/"+t.String(), func(r run) error { return checkTensorReduce(r, t, func(a, b int) int { return a + b }) }, ir.ReduceTensor)
		add("cluster/"+t.String(), func(r run) error { return checkMulticast(r, t) }, ir.MulticastTensor)
	}
	add("min/i32", func(r run) error { return checkTensorReduce(r, dtype.I32, func(a, b int) int { return min(a, b) }) }, ir.ReduceTensor)
	add("max/f16", func(r run) error { return checkTensorReduce(r, dtype.F16, func(a, b int) int { return max(a, b) }) }, ir.ReduceTensor)
	return out
}

// tensorShapes are, by rank, whole boxes, ragged ends on every side, and more boxes than one. The last size is a
// multiple of 16 bytes, as tensor copies that write need.
var tensorShapes = map[int][][]int{
	1: {{128}, {8}, {1000}, {5000}},
	2: {{16, 64}, {1, 8}, {3, 200}, {37, 136}, {300, 8}},
	3: {{3, 8, 128}, {1, 1, 8}, {4, 9, 152}, {7, 3, 8}},
	4: {{2, 3, 8, 24}, {1, 1, 1, 8}, {3, 4, 9, 32}, {5, 2, 3, 8}},
	5: {{2, 2, 2, 3, 8}, {1, 1, 1, 1, 4}, {3, 3, 3, 4, 12}, {1, 5, 1, 2, 20}},
}

// padded are the strides of a tensor whose rows begin on multiples of 16 bytes, with a gap of so many vectors behind each.
func padded(t dtype.Type, shape []int, gap int) []int {
	vec := 16 / t.Size()
	strides, n := make([]int, len(shape)), 1
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d] = n
		n *= shape[d]
		if d == len(shape)-1 {
			n = (n+vec-1)/vec*vec + gap*vec
		}
	}
	return strides
}

// checkTensors compares y with 2x.
func checkTensors(r run, t dtype.Type, shapes [][]int, launch func(s *device.Stream, x, y device.Tensor) error) error {
	for i, shape := range shapes {
		least := int64(-9)
		if t == dtype.U32 {
			least = 0
		}
		xs := r.Ints(least, 9, uint64(i), elems(shape))
		want := make([]int, len(xs))
		for j, x := range xs {
			want[j] = 2 * int(x)
		}
		x := r.Place(tiletest.Spec{Role: tiletest.Input, DType: t, Values: xs, Shape: shape, Strides: padded(t, shape, i%2), Offset: i % 2 * 16 / t.Size()})
		y := r.Place(tiletest.Spec{Role: tiletest.Output, DType: t, Shape: shape, Strides: padded(t, shape, 1)})
		if err := launch(r.Stream, x, y); err != nil {
			return err
		}
		ints(r, fmt.Sprintf("twice %v", shape), y, want)
	}
	return nil
}

func elems(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// checkHalo compares y with x moved on by one row and back by 16 bytes, where it is as large as x, larger and smaller.
func checkHalo(r run, t dtype.Type) error {
	for _, l := range []struct{ rows, n, h, w int }{{haloRows, haloCols, haloRows, haloCols}, {1, 1, 3, 40}, {9, 70, 20, 140}, {30, 50, 7, 9}} {
		xs := r.Ints(1, 9, 1, l.rows*l.n)
		shape := []int{l.rows, l.n}
		p := haloParams{X: r.Place(tiletest.Spec{Role: tiletest.Input, DType: t, Values: xs, Shape: shape, Strides: padded(t, shape, 0)}), Y: r.Out(t, l.h, l.w)}
		if err := launchHalo(r.Stream, p); err != nil {
			return err
		}
		var want []int
		for i := range l.h {
			for j := range l.w {
				v := 0
				if vec := 16 / t.Size(); 0 < i && i-1 < l.rows && j+vec < l.n {
					v = int(xs[(i-1)*l.n+j+vec])
				}
				want = append(want, v)
			}
		}
		ints(r, fmt.Sprintf("halo of %dx%d in %dx%d", l.rows, l.n, l.h, l.w), p.Y, want)
	}
	return nil
}

// checkTensorReduce combines a tensor with several parts.
func checkTensorReduce(r run, t dtype.Type, combine func(a, b int) int) error {
	for i, shape := range [][]int{{1, 8, 64}, {5, 3, 16}, {9, 19, 104}} {
		rest := shape[1:]
		xs, ys := r.Ints(-9, 9, 1, elems(shape)), r.Ints(-3, 3, 2, elems(rest))
		p := tensorReduceParams{
			X: r.Place(tiletest.Spec{Role: tiletest.Input, DType: t, Values: xs, Shape: shape, Strides: padded(t, shape, i%2)}),
			Y: r.Place(tiletest.Spec{Role: tiletest.Both, DType: t, Values: ys, Shape: rest, Strides: padded(t, rest, 1)}),
		}
		if err := launchTensorReduce(r.Stream, p); err != nil {
			return err
		}
		want := make([]int, len(ys))
		for j := range want {
			want[j] = int(ys[j])
			for part := range shape[0] {
				want[j] = combine(want[j], int(xs[part*len(want)+j]))
			}
		}
		ints(r, fmt.Sprintf("%v combined", shape), p.Y, want)
	}
	return nil
}

// checkMulticast compares sums with rows that all blocks of a cluster share.
func checkMulticast(r run, t dtype.Type) error {
	for i, shape := range [][]int{{multicastRows * multicastBlocks, 32}, {3, 200}, {300, 140}} {
		rows, n := shape[0], shape[1]
		ws := slices.Clone(shape)
		ws[0] = multicastRows
		xs, w := r.Ints(0, 9, 1, rows*n), r.Ints(0, 9, 2, elems(ws))
		p := multicastParams{
			X: r.Place(tiletest.Spec{Role: tiletest.Input, DType: t, Values: xs, Shape: shape, Strides: padded(t, shape, i%2)}),
			W: r.Place(tiletest.Spec{Role: tiletest.Input, DType: t, Values: w, Shape: ws, Strides: padded(t, ws, 0)}),
			Y: r.Out(t, rows, n),
		}
		if err := launchMulticast(r.Stream, p); err != nil {
			return err
		}
		want := make([]int, len(xs))
		for j, x := range xs {
			want[j] = int(x + w[j/n%multicastRows*n+j%n])
		}
		ints(r, fmt.Sprintf("sums of %v", shape), p.Y, want)
	}
	return nil
}
