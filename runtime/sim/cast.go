package sim

import "github.com/gotile/gotile/dtype"

// casts holds the conversions: to f32 rounded to nearest even (Go's conversions of integers to float32 round once),
// from f32 truncated and saturated, between integers by the low bits with the source's sign, to bool by != 0.
func casts() map[sig]fn {
	const F, I, U, Q, B = dtype.F32, dtype.I32, dtype.U32, dtype.I64, dtype.Bool
	return map[sig]fn{
		{F, F}: floats1(func(a float32) float32 { return a }),
		{F, I}: lift1(toI32),
		{F, U}: lift1(toU32),
		{F, Q}: lift1(toI64),
		{F, B}: lift1(func(a float32) bool { return a != 0 }),

		{I, F}: lift1(func(a int32) float32 { return float32(a) }),
		{I, I}: lift1(func(a int32) int32 { return a }).renamed(),
		{I, U}: lift1(func(a int32) uint32 { return uint32(a) }).renamed(),
		{I, Q}: lift1(func(a int32) int64 { return int64(a) }),
		{I, B}: lift1(func(a int32) bool { return a != 0 }),

		{U, F}: lift1(func(a uint32) float32 { return float32(a) }),
		{U, I}: lift1(func(a uint32) int32 { return int32(a) }).renamed(),
		{U, U}: lift1(func(a uint32) uint32 { return a }).renamed(),
		{U, Q}: lift1(func(a uint32) int64 { return int64(a) }),
		{U, B}: lift1(func(a uint32) bool { return a != 0 }),

		{Q, F}: lift1(func(a int64) float32 { return float32(a) }),
		{Q, I}: lift1(func(a int64) int32 { return int32(a) }),
		{Q, U}: lift1(func(a int64) uint32 { return uint32(a) }),
		{Q, Q}: lift1(func(a int64) int64 { return a }).renamed(),
		{Q, B}: lift1(func(a int64) bool { return a != 0 }),

		{B, F}: lift1(func(a bool) float32 { return float32(put(a)) }),
		{B, I}: lift1(func(a bool) int32 { return int32(put(a)) }),
		{B, U}: lift1(func(a bool) uint32 { return uint32(put(a)) }),
		{B, Q}: lift1(func(a bool) int64 { return int64(put(a)) }),
		{B, B}: lift1(func(a bool) bool { return a }),
	}
}
