package dtype

import "math"

// float8 is an 8-bit float format: a sign, an exponent and fraction bits.
type float8 struct {
	fraction int    // bits of the fraction
	bias     int    // of the exponent
	largest  uint32 // the pattern of the largest finite number
}

var (
	e4m3 = float8{fraction: 3, bias: 7, largest: 0x7e}  // 448; 0x7f is NaN
	e5m2 = float8{fraction: 2, bias: 15, largest: 0x7b} // 57344; 0x7c is infinite, the rest NaN
)

// nan8 is the NaN that conversions give, in both formats.
const nan8 = 0x7f

// from rounds to nearest even. What is too large, infinities too, becomes the largest finite number; NaN becomes 0x7f.
// That is cvt.rn.satfinite.e4m3x2.f32, and e5m2x2.
func (f *float8) from(x float32) uint8 {
	if x != x {
		return nan8
	}
	b := math.Float32bits(x)
	sign, a := uint8(b>>24&0x80), b&0x7fffffff
	drop := 23 - f.fraction
	least := uint32(128-f.bias) << 23 // the least normal number, 2^(1-bias)
	if a < least {                    // the result counts units of the subnormals
		u := math.Ldexp(float64(math.Float32frombits(a)), f.bias-1+f.fraction) // exact
		return sign | uint8(math.RoundToEven(u))
	}
	if a >= 0x7f800000 {
		return sign | uint8(f.largest)
	}
	a += 1<<(drop-1) - 1 + a>>drop&1
	return sign | uint8(min(a>>drop-uint32(127-f.bias)<<f.fraction, f.largest))
}

// to is the number with a pattern that is no NaN and not infinite.
func (f *float8) to(b uint8) float32 {
	sign, a := uint32(b>>7)<<31, uint32(b&0x7f)
	if a < 1<<f.fraction { // zero or subnormal
		x := math.Float32bits(float32(math.Ldexp(float64(a), 1-f.bias-f.fraction)))
		return math.Float32frombits(sign | x)
	}
	return math.Float32frombits(sign | (a<<(23-f.fraction) + uint32(127-f.bias)<<23))
}

// E4M3FromFloat32 rounds to nearest even; what is too large, infinities too, becomes 448 with its sign, and NaN 0x7f, as
// cvt.rn.satfinite.e4m3x2.f32 gives.
func E4M3FromFloat32(x float32) Float8E4M3 { return Float8E4M3{e4m3.from(x)} }

// E4M3FromBits is the number with a bit pattern.
func E4M3FromBits(b uint8) Float8E4M3 { return Float8E4M3{b} }

// Bits is the bit pattern.
func (x Float8E4M3) Bits() uint8 { return x.bits }

// Float32 converts to float32, exactly. Patterns 0x7f and 0xff are NaN; there is no infinity.
func (x Float8E4M3) Float32() float32 {
	if x.bits&0x7f == 0x7f {
		return float32(math.NaN())
	}
	return e4m3.to(x.bits)
}

// Float converts to float64, exactly.
func (x Float8E4M3) Float() float64 { return float64(x.Float32()) }

// E5M2FromFloat32 rounds to nearest even; what is too large, infinities too, becomes 57344 with its sign, and NaN 0x7f,
// as cvt.rn.satfinite.e5m2x2.f32 gives.
func E5M2FromFloat32(x float32) Float8E5M2 { return Float8E5M2{e5m2.from(x)} }

// E5M2FromBits is the number with a bit pattern.
func E5M2FromBits(b uint8) Float8E5M2 { return Float8E5M2{b} }

// Bits is the bit pattern.
func (x Float8E5M2) Bits() uint8 { return x.bits }

// Float32 converts to float32, exactly. Patterns are the upper halves of those of Float16, infinities and NaN with them.
func (x Float8E5M2) Float32() float32 {
	switch a := x.bits & 0x7f; {
	case a == 0x7c:
		return float32(math.Inf(1 - int(x.bits>>7)*2))
	case a > 0x7c:
		return float32(math.NaN())
	}
	return e5m2.to(x.bits)
}

// Float converts to float64, exactly.
func (x Float8E5M2) Float() float64 { return float64(x.Float32()) }

// I8FromFloat32 truncates x into -128..127; NaN becomes 0, as a Cast gives.
func I8FromFloat32(x float32) Int8 {
	switch {
	case x != x:
		return 0
	case x <= math.MinInt8:
		return math.MinInt8
	case x >= math.MaxInt8:
		return math.MaxInt8
	}
	return Int8(x)
}
