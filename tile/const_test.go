package tile_test

import (
	"math"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// TestConstRounding: a host number is rounded once, from 64 bits, and an integer is what Cast makes of the float, on any machine.
func TestConstRounding(t *testing.T) {
	above := 1 + 0x1p-8 + 0x1p-40 // just above the middle of two bf16, and in f32 just the middle
	for _, c := range []struct{ got, want any }{
		{tile.Const[tile.BF16](above), dtype.BF16FromFloat32(1 + 0x1p-7)},
		{tile.Const[tile.BF16](-above), dtype.BF16FromFloat32(-1 - 0x1p-7)},
		{tile.Const[tile.BF16](1 + 0x1p-8), dtype.BF16FromFloat32(1)}, // the middle: to even
		{tile.Const[tile.BF16](1 + 0x1p-8 - 0x1p-40), dtype.BF16FromFloat32(1)},
		{tile.Const[tile.F16](1 + 0x1p-11 + 0x1p-40), dtype.F16FromFloat32(1 + 0x1p-10)},
		{tile.Const[tile.F16](1e300), dtype.F16FromFloat32(float32(math.Inf(1)))},
		{tile.Const[tile.BF16](1e-300), dtype.BF16FromFloat32(0)},
		{tile.Const[tile.F32](0.1), tile.F32(0.1)},
		{tile.Const[tile.I32](-2.9), tile.I32(-2)},
		{tile.Const[tile.I32](1e10), tile.I32(math.MaxInt32)},
		{tile.Const[tile.I32](math.Inf(-1)), tile.I32(math.MinInt32)},
		{tile.Const[tile.I32](math.NaN()), tile.I32(0)},
		{tile.Const[tile.U32](-1), tile.U32(0)},
		{tile.Const[tile.U32](1e10), tile.U32(math.MaxUint32)},
		{tile.Const[tile.I64](1e300), tile.I64(math.MaxInt64)},
		{tile.Const[tile.I64](-1e300), tile.I64(math.MinInt64)},
		{tile.Const[tile.I64](1 << 53), tile.I64(1 << 53)},
	} {
		if c.got != c.want {
			t.Errorf("%T %v, want %v", c.got, c.got, c.want)
		}
	}
}
