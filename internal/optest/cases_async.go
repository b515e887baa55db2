//go:build !gotilegen

package optest

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func asyncCases() []tiletest.Case {
	var out []tiletest.Case
	for _, op := range []ir.Op{ir.CopyAsync, ir.Commit, ir.WaitGroup} {
		for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I64} {
			out = append(out, opCase(op, "ring/"+t.String(), func(r run) error { return checkRing(r, t, launchRing) }))
		}
		for _, t := range []dtype.Type{dtype.F32, dtype.F16} {
			out = append(out, opCase(op, "ping_pong/"+t.String(), func(r run) error {
				return checkRing(r, t, func(s *device.Stream, p ringParams) error { return launchPingPong(s, pingPongParams(p)) })
			}))
		}
	}
	for _, t := range []dtype.Type{dtype.F32, dtype.BF16, dtype.I64} {
		out = append(out, opCase(ir.CopyAsync, "box/"+t.String(), func(r run) error { return checkBox(r, t) }))
	}
	return out
}

// checkRing tries every trip count from 0 to past the stages, ragged ends, and sources that cp.async cannot copy.
func checkRing(r run, t dtype.Type, launch func(*device.Stream, ringParams) error) error {
	const rows = 3
	for _, s := range []struct{ n, m, pad, offset int }{
		{64, 0, 0, 0}, {64, 64, 0, 0}, {128, 128, 0, 0}, {192, 192, 0, 0}, {256, 256, 0, 0}, {320, 320, 0, 0}, {640, 640, 0, 0},
		{8, 8, 0, 0}, {7, 7, 9, 0}, {65, 65, 15, 0}, {200, 77, 8, 0}, {333, 333, 3, 0}, {256, 256, 0, 1}, {129, 129, 0, 0},
	} {
		xs := r.Ints(0, 3, uint64(s.n), rows*s.n)
		place := func(role tiletest.Role, values []float64) device.Tensor {
			return r.Place(tiletest.Spec{Role: role, DType: t, Values: values, Shape: []int{rows, s.n}, Strides: []int{s.n + s.pad, 1}, Offset: s.offset})
		}
		p := ringParams{X: place(tiletest.Input, xs), M: int32(s.m), Y: place(tiletest.Both, make([]float64, rows*s.n)), S: r.Out(t, rows)}
		if err := launch(r.Stream, p); err != nil {
			return err
		}
		twice, sums := make([]int, rows*s.n), make([]int, rows)
		for i := range rows {
			for j, x := range xs[i*s.n:][:s.m] {
				twice[i*s.n+j], sums[i] = 2*int(x), sums[i]+int(x)
			}
			sums[i] = roundedSum(t, xs[i*s.n:][:s.m], sums[i])
		}
		what := fmt.Sprintf("%d of %d+%d columns @%d", s.m, s.n, s.pad, s.offset)
		ints(r, what, p.Y, twice)
		ints(r, "sums of "+what, p.S, sums)
	}
	return nil
}

// roundedSum is the sum as the kernel makes it, rounded to t after each chunk.
func roundedSum(t dtype.Type, xs []float64, exact int) int {
	if t != dtype.BF16 {
		return exact
	}
	var sum float32
	for i := 0; i < len(xs); i += ringChunk {
		var chunk float32
		for _, x := range xs[i:min(i+ringChunk, len(xs))] {
			chunk += float32(x)
		}
		sum = dtype.BF16FromFloat32(sum + dtype.BF16FromFloat32(chunk).Float32()).Float32()
	}
	return int(sum)
}

func checkBox(r run, t dtype.Type) error {
	for _, l := range []lie{{6, 80, 0, 0}, {7, 81, 15, 0}, {13, 200, 0, 0}, {5, 79, 0, 0}, {12, 160, 0, 1}, {1, 1, 0, 0}} {
		x := patterns(t, tiletest.Bits(r.Seed, uint64(l.n)), l.rows*l.n)
		p := boxParams{X: l.place(r, tiletest.Input, t, x), Y: l.place(r, tiletest.Output, t, nil),
			V: r.Place(tiletest.Spec{Role: tiletest.Input, DType: t, Bits: x[:l.n], Shape: []int{l.n}, Strides: []int{3}}), W: r.Out(t, l.n)}
		if err := launchBox(r.Stream, p); err != nil {
			return err
		}
		equal(r, "boxes of "+l.String(), t, r.Bits(p.Y), x)
		equal(r, "vector of "+l.String(), t, r.Bits(p.W), x[:l.n])
	}
	return nil
}
