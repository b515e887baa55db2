//go:build !gotilegen

package optest

import (
	"math"
	"math/bits"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile/tiletest"
)

func scalarCases() []tiletest.Case {
	return []tiletest.Case{opCase(ir.Param, "all", checkScalars), opCase(ir.Asm, "all", checkPTX)}
}

func checkScalars(r run) error {
	n := 40
	p := scalarParams{F: 0.1, BF: dtype.BF16FromFloat32(-3.140625), H: dtype.F16FromFloat32(0.0999755859375), I: math.MinInt32, U: math.MaxUint32, L: -1 << 60,
		YF: r.Out(dtype.F32, 2, n), YBF: r.Out(dtype.BF16, 2, n), YH: r.Out(dtype.F16, 2, n), YI: r.Out(dtype.I32, 2, n), YU: r.Out(dtype.U32, 2, n), YL: r.Out(dtype.I64, 2, n)}
	if err := launchScalar(r.Stream, p); err != nil {
		return err
	}
	// The scalar in a row; the scalar plus 1 in the next, but for its first element, which is the scalar again.
	row := func(x, plus uint64) []uint64 {
		var out []uint64
		for i := range 2 * n {
			if i <= n {
				out = append(out, x)
			} else {
				out = append(out, plus)
			}
		}
		return out
	}
	f := float32(0.1)
	equal(r, "f32", dtype.F32, r.Bits(p.YF), row(uint64(math.Float32bits(f)), uint64(math.Float32bits(1+f))))
	equal(r, "bf16", dtype.BF16, r.Bits(p.YBF), row(uint64(p.BF.Bits()), uint64(dtype.BF16FromFloat32(-2.140625).Bits())))
	equal(r, "f16", dtype.F16, r.Bits(p.YH), row(uint64(p.H.Bits()), uint64(dtype.F16FromFloat32(1.099609375).Bits())))
	equal(r, "i32", dtype.I32, r.Bits(p.YI), row(1<<31, 1<<31+1))
	equal(r, "u32", dtype.U32, r.Bits(p.YU), row(math.MaxUint32, 0))
	equal(r, "i64", dtype.I64, r.Bits(p.YL), row(15<<60, 15<<60+1))
	return nil
}

func checkPTX(r run) error {
	n := 97
	word := func(t dtype.Type, salt uint64) []uint64 {
		x := make([]uint64, n)
		for i := range x {
			x[i] = random(t, tiletest.Bits(r.Seed, salt+uint64(i)))
		}
		return x
	}
	a, b, l := word(dtype.U32, 0), word(dtype.U32, 1000), word(dtype.I64, 2000)
	f := append(edges(dtype.F32), patterns(dtype.F32, 3, n)...)[:n]
	p := ptxParams{A: place(r, dtype.U32, a, n), B: place(r, dtype.U32, b, n), L: place(r, dtype.I64, l, n), F: place(r, dtype.F32, f, n),
		Pop: r.Out(dtype.U32, n), Perm: r.Out(dtype.U32, n), Mad: r.Out(dtype.I64, n), Sat: r.Out(dtype.F32, n), One: r.Out(dtype.U32, 2)}
	if err := launchPtx(r.Stream, p); err != nil {
		return err
	}
	var pop, perm, mad, sat []uint64
	for i := range n {
		pop = append(pop, uint64(bits.OnesCount32(uint32(a[i]))))
		perm = append(perm, a[i]&0xffff|b[i]&0xffff<<16)
		mad = append(mad, uint64(int64(int32(a[i]))*int64(n)+int64(l[i])))
		x := exact.Float(dtype.F32, f[i])
		if x != x {
			x = 0
		}
		sat = append(sat, uint64(math.Float32bits(float32(max(0, min(1, x))))))
	}
	equal(r, "popc", dtype.U32, r.Bits(p.Pop), pop)
	equal(r, "prmt", dtype.U32, r.Bits(p.Perm), perm)
	equal(r, "mad.wide", dtype.I64, r.Bits(p.Mad), mad)
	equal(r, "cvt.sat", dtype.F32, r.Bits(p.Sat), sat)
	equal(r, "brev", dtype.U32, r.Bits(p.One), []uint64{0x60000000, 0xc0000000})
	return nil
}
