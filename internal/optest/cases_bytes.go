//go:build !gotilegen

package optest

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

var byteTypes = []dtype.Type{dtype.E4M3, dtype.E5M2, dtype.I8}

// unwritten8 are the patterns that outputs hold before a launch (tiletest): in 8 bits there is none that a kernel could not
// write, so the cases here want no such element.
var unwritten8 = map[dtype.Type]uint64{dtype.E4M3: 0xff, dtype.E5M2: 0xfd, dtype.I8: 0xab}

// bytesCases convert 8-bit types, and move them.
func bytesCases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range byteTypes {
		out = append(out, opCase(ir.Cast, t.String(), func(r run) error { return checkBytesCast(r, t) }))
		for _, op := range []ir.Op{ir.Load, ir.Store, ir.Select, ir.Redistribute, ir.CopyAsync} {
			out = append(out, opCase(op, "bytes/"+t.String(), func(r run) error { return checkBytesMove(r, t) }))
		}
	}
	return out
}

// allBytes are the patterns of a type but that one.
func allBytes(t dtype.Type) (x []uint64) {
	for i := range uint64(256) {
		if i != unwritten8[t] {
			x = append(x, i)
		}
	}
	return x
}

// byteEdges are f32 at which a conversion to an 8-bit float turns: its numbers, the midpoints between neighbours, and what
// lies next to those, both ways.
func byteEdges(t dtype.Type) []uint64 {
	var out []uint64
	last := 0.0
	for b := range uint64(0x80) {
		x := float64(b)
		if t != dtype.I8 {
			x = exact.Float(t, b)
		}
		if x-x != 0 {
			break
		}
		mid := math.Float32bits(float32((last + x) / 2))
		for _, f := range []uint32{math.Float32bits(float32(x)), mid, mid + 1, mid - min(1, mid)} {
			out = append(out, uint64(f), uint64(f|1<<31))
		}
		last = x
	}
	return out
}

func checkBytesCast(r run, t dtype.Type) error {
	x := allBytes(t)
	n := len(x)
	const m = 1000 // less than the kernel's capacity
	column := func(s dtype.Type) []uint64 {
		x := edges(s)
		if s == dtype.F32 {
			x = append(x, byteEdges(t)...)
		}
		for i := uint64(0); i < 2*m; i++ {
			pick := random
			if i%2 == 1 {
				pick = moderate
			}
			x = append(x, pick(s, tiletest.Bits(r.Seed, i)))
		}
		x = slices.DeleteFunc(x, func(b uint64) bool { // those that become the pattern of what is not written
			_, same := converted(s, t, b, unwritten8[t])
			return t == dtype.I8 && same
		})
		return x[:m]
	}
	in := map[dtype.Type][]uint64{}
	for _, s := range dtype.Arithmetic() {
		in[s] = column(s)
	}
	at := func(s dtype.Type) tiletest.Spec {
		return tiletest.Spec{Role: tiletest.Input, DType: s, Bits: in[s], Shape: []int{m}}
	}
	p := bytesCastParams{X: place(r, t, x, n),
		F: r.Out(dtype.F32, n), BF: r.Out(dtype.BF16, n), H: r.Out(dtype.F16, n), I: r.Out(dtype.I32, n), U: r.Out(dtype.U32, n), L: r.Out(dtype.I64, n), B: r.Out(dtype.I8, n),
		XF: r.Place(at(dtype.F32)), XBF: r.Place(at(dtype.BF16)), XH: r.Place(at(dtype.F16)), XI: r.Place(at(dtype.I32)), XU: r.Place(at(dtype.U32)), XL: r.Place(at(dtype.I64)),
		OF: r.Out(t, m), OBF: r.Out(t, m), OH: r.Out(t, m), OI: r.Out(t, m), OU: r.Out(t, m), OL: r.Out(t, m)}
	if err := launchBytesCast(r.Stream, p); err != nil {
		return err
	}
	check := func(from, to dtype.Type, x, y []uint64) {
		m := &mistakes{r: r, what: fmt.Sprintf("%v to %v", from, to)}
		for i, got := range y {
			want, ok := converted(from, to, x[i], got)
			if to.Is8() && to.IsFloat() && exact.Float(to, got) != exact.Float(to, got) && got != 0x7f { // the NaN of the instruction
				want, ok = "0x7f", false
			}
			if !ok {
				m.at(i, hex(got), "%s, of %#x", want, x[i])
			}
		}
		m.done(len(y))
	}
	check(t, dtype.F32, x, r.Bits(p.F))
	check(t, dtype.BF16, x, r.Bits(p.BF))
	check(t, dtype.F16, x, r.Bits(p.H))
	check(t, dtype.I32, x, r.Bits(p.I))
	check(t, dtype.U32, x, r.Bits(p.U))
	check(t, dtype.I64, x, r.Bits(p.L))
	check(t, dtype.I8, x, r.Bits(p.B))
	check(dtype.F32, t, in[dtype.F32], r.Bits(p.OF))
	check(dtype.BF16, t, in[dtype.BF16], r.Bits(p.OBF))
	check(dtype.F16, t, in[dtype.F16], r.Bits(p.OH))
	check(dtype.I32, t, in[dtype.I32], r.Bits(p.OI))
	check(dtype.U32, t, in[dtype.U32], r.Bits(p.OU))
	check(dtype.I64, t, in[dtype.I64], r.Bits(p.OL))
	return nil
}

// checkBytesMove wants every bit where it was, those of NaN too.
func checkBytesMove(r run, t dtype.Type) error {
	for _, s := range [][2]int{{bytesSide, bytesSide}, {bytesSide - 3, bytesSide - 16}, {bytesSide - 5, bytesSide - 13}, {3, 1}} {
		rows, n := s[0], s[1]
		all, x := allBytes(t), make([]uint64, rows*n)
		for i := range x {
			x[i] = all[tiletest.Bits(r.Seed, uint64(i))%uint64(len(all))]
		}
		p := bytesMoveParams{X: place(r, t, x, rows, n), Y: r.Out(t, 8, rows, n), S: r.Out(t, rows), T: r.Out(t, n, rows)}
		if err := launchBytesMove(r.Stream, p); err != nil {
			return err
		}
		two := map[dtype.Type]uint64{dtype.E4M3: 0x40, dtype.E5M2: 0x40, dtype.I8: 2}[t]
		chosen := append([]uint64{}, x...)
		for i := range chosen {
			if i%n%2 == 0 {
				chosen[i] = two
			}
		}
		var want []uint64
		for i := range 8 {
			if i == 5 {
				want = append(want, chosen...)
			} else {
				want = append(want, x...)
			}
		}
		const bits = dtype.I64 // compared as bits
		what := fmt.Sprintf("%dx%d", rows, n)
		equal(r, what, bits, r.Bits(p.Y), want)
		equal(r, "the transpose of "+what, bits, r.Bits(p.T), transposed(x, n))
		equal(r, "the first column of "+what, bits, r.Bits(p.S), column(x, n, 0))
	}
	return nil
}
