// Package exact says what the numbers of the element types are: which number a bit pattern is, and how a result is
// rounded, wrapped or truncated into its type. It is for the references that judge the rest, internal/oracle and
// internal/optest, and is written from the definitions of the formats: it shares no code with the conversions of package
// dtype, with the planner or with the simulator.
package exact

import (
	"math"

	"github.com/gotile/gotile/dtype"
)

// format is a binary floating-point format: digits of the significand with the leading one, exponents of the least and
// the largest normal number.
type format struct{ digits, least, most int }

func formatOf(t dtype.Type) format {
	switch t {
	case dtype.BF16:
		return format{8, -126, 127}
	case dtype.F16:
		return format{11, -14, 15}
	case dtype.E4M3: // no infinity: the last exponent has numbers, of which the last is NaN
		return format{4, -6, 8}
	case dtype.E5M2:
		return format{3, -14, 15}
	}
	return format{24, -126, 127}
}

// Float is the number of a bit pattern of a floating-point type, in the low bits.
func Float(t dtype.Type, bits uint64) float64 {
	f, width := formatOf(t), 8*t.Size()
	sign := 1 - 2*float64(bits>>(width-1)&1)
	fraction := bits & (1<<(f.digits-1) - 1)
	exponent := int(bits>>(f.digits-1)) & (1<<(width-f.digits) - 1)
	switch {
	case t == dtype.E4M3 && bits&0x7f == 0x7f:
		return math.NaN()
	case exponent == f.most-f.least+2 && fraction == 0:
		return math.Inf(int(sign))
	case exponent == f.most-f.least+2:
		return math.NaN()
	case exponent == 0: // subnormal, or zero
		exponent = 1
	default:
		fraction |= 1 << (f.digits - 1)
	}
	return math.Copysign(math.Ldexp(float64(fraction), exponent-1+f.least-(f.digits-1)), sign)
}

// largest are the largest numbers of the types whose conversions saturate.
var largest = map[dtype.Type]float64{dtype.E4M3: 448, dtype.E5M2: 57344}

// Round is the nearest number of a floating-point type, ties to even; beyond the largest it is infinite, and of 8-bit types
// the largest.
func Round(t dtype.Type, x float64) float64 {
	if most, ok := largest[t]; ok && math.Abs(x) >= most {
		return math.Copysign(most, x)
	}
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	f := formatOf(t)
	_, e := math.Frexp(x)
	unit := max(e-1, f.least) - (f.digits - 1)
	r := math.Ldexp(math.RoundToEven(math.Ldexp(x, -unit)), unit)
	if math.Abs(r) >= math.Ldexp(1, f.most+1) {
		return math.Copysign(math.Inf(1), x)
	}
	return r
}

// Narrow rounds as an op on a type does: to f32, in which it is computed, then to the type.
func Narrow(t dtype.Type, x float64) float64 { return Round(t, Round(dtype.F32, x)) }

// Int is the number that the low bits mean in an integer type: a result, wrapped. Bool is the lowest bit.
func Int(t dtype.Type, bits uint64) int64 {
	switch t {
	case dtype.I32:
		return int64(int32(bits))
	case dtype.U32:
		return int64(uint32(bits))
	case dtype.I8:
		return int64(int8(bits))
	case dtype.Bool:
		return int64(bits & 1)
	}
	return int64(bits)
}

// Limits are the least and the largest number of an integer type.
func Limits(t dtype.Type) (least, most int64) {
	switch t {
	case dtype.I32:
		return math.MinInt32, math.MaxInt32
	case dtype.U32:
		return 0, math.MaxUint32
	case dtype.I8:
		return math.MinInt8, math.MaxInt8
	}
	return math.MinInt64, math.MaxInt64
}

// Truncate is a float as a number of an integer type: its integer part, or the limit that it exceeds; NaN gives 0.
func Truncate(t dtype.Type, x float64) int64 {
	least, most := Limits(t)
	switch {
	case x != x:
		return 0
	case x <= float64(least):
		return least
	case x >= float64(most): // 2^63 for i64, which is one more than the largest
		return most
	}
	return int64(x)
}
