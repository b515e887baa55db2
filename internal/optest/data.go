//go:build !gotilegen

package optest

import (
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile/tiletest"
)

// edges are the bit patterns at which an op of a type is most likely wrong.
func edges(t dtype.Type) []uint64 {
	switch t {
	case dtype.I32, dtype.U32:
		return []uint64{0, 1, 2, 3, 7, 31, 32, 33, 63, 100, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xffff, 0x10000,
			0x1000001, 0xdeadbeef, 16777217, 2049, 33554435}
	case dtype.I64:
		return []uint64{0, 1, 2, 5, 31, 32, 63, 64, 65, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 + 1, 1<<62 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1,
			math.MaxUint64, math.MaxUint64 - 1, 0xdeadbeefcafebabe, 1<<24 + 1, 0x4000008000000001}
	case dtype.F16:
		return both(0x8000, 0, 1, 2, 0x3ff, 0x400, 0x401, 0x2e66, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00, 0x4000, 0x4200, 0x4248, 0x4900, 0x5bf8, 0x6400, 0x6801, 0x7bff, 0x7c00, 0x7e01, 0x7c01)
	case dtype.BF16:
		return both(0x8000, 0, 1, 0x7f, 0x80, 0x81, 0x3dcd, 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x3fc0, 0x4000, 0x4049, 0x42b1, 0x42b3, 0x42fe, 0x4b80, 0x4f00, 0x4f80, 0x5f00, 0x7f00, 0x7f7f, 0x7f80, 0x7fc1, 0x7f81)
	}
	var out []uint64
	for _, x := range []float64{0, 1, 2, 3, 0.1, 0.5, 1.5, 1 + 0x1p-23, 1 - 0x1p-24, 2.5, 10, 88.7, 89, 103.9, 127, 128, 149, 1e10, 2147483520, 2147483648, 4294967040,
		4294967296, 9223371487098961920, 9223372036854775808, 1e-10, 0x1p-126, 0x1p-127, 0x1p-149, 0x1p126, 0x1.8p126, 0x1p127, math.MaxFloat32, math.Inf(1),
		0x1.fffffep-127, 1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-20, 1 + 0x1p-11, 1 + 0x3p-11, 65504, 65519, 65520, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1p-134, 0x1.8p-133} {
		out = append(out, uint64(math.Float32bits(float32(x))))
	}
	return both(1<<31, append(out, 0x7fffffff, 0x7f800001)...)
}

func both(sign uint64, xs ...uint64) []uint64 {
	var out []uint64
	for _, x := range xs {
		out = append(out, x, x|sign)
	}
	return out
}

// moderate is the bit pattern of a number of a size at which functions are not saturated.
func moderate(t dtype.Type, h uint64) uint64 {
	x := (float64(h>>40)/(1<<24) - 0.5) * 32
	switch t {
	case dtype.F32:
		return uint64(math.Float32bits(float32(x)))
	case dtype.BF16:
		return uint64(dtype.BF16FromFloat32(float32(x)).Bits())
	case dtype.F16:
		return uint64(dtype.F16FromFloat32(float32(x)).Bits())
	}
	return h >> 32 % 97 * 3 & (1<<(8*t.Size()) - 1)
}

// random is any bit pattern of a type.
func random(t dtype.Type, h uint64) uint64 {
	if t.Size() == 8 {
		return h
	}
	return h >> 17 & (1<<(8*t.Size()) - 1)
}

// operands are three columns: edges against each other, then random and moderate numbers.
func operands(t dtype.Type, seed uint64) (a, b, c []uint64) {
	e := edges(t)
	core := e // all pairs, where these are few
	if len(e) > 30 {
		core = nil
		for i := 0; i < len(e); i += 7 {
			core = append(core, e[i])
		}
		core = append(core, e[len(e)-6:]...)
	}
	third := 0
	pair := func(x, y uint64) {
		a, b, c = append(a, x), append(b, y), append(c, e[third%len(e)])
		third += 7
	}
	for _, x := range e {
		for _, y := range core {
			pair(x, y)
			if len(core) < len(e) {
				pair(y, x)
			}
		}
	}
	for i := range uint64(400) {
		h := func(k uint64) uint64 { return tiletest.Bits(seed, 3*i+k) }
		pick := random
		if i%2 == 1 {
			pick = moderate
		}
		a, b, c = append(a, pick(t, h(0))), append(b, pick(t, h(1))), append(c, pick(t, h(2)))
	}
	return a, b, c
}

// patterns are n random bit patterns of numbers without NaN, moderate for floats.
func patterns(t dtype.Type, seed uint64, n int) []uint64 {
	x := make([]uint64, n)
	for i := range x {
		if h := tiletest.Bits(seed, uint64(i)); t.IsFloat() {
			x[i] = moderate(t, h)
		} else {
			x[i] = random(t, h)
		}
	}
	return x
}
