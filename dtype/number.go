package dtype

import "math"

// The host numbers: what a Go program stores in a tensor of the type. Their memory is what a kernel reads: little-endian,
// no padding.
type (
	Float32  float32
	BFloat16 struct{ bits uint16 }
	Float16  struct{ bits uint16 }
	Int32    int32
	Uint32   uint32
	Int64    int64
	Int8     int8
	// Float8E4M3 and Float8E5M2 are the 8-bit floats of OCP (OCP 8-bit Floating Point Specification, OFP8).
	Float8E4M3 struct{ bits uint8 }
	Float8E5M2 struct{ bits uint8 }
	// Boolean is the element type of predicates; it exists in registers only.
	Boolean bool
)

// DType is F32.
func (Float32) DType() Type { return F32 }

// DType is BF16.
func (BFloat16) DType() Type { return BF16 }

// DType is F16.
func (Float16) DType() Type { return F16 }

// DType is I32.
func (Int32) DType() Type { return I32 }

// DType is U32.
func (Uint32) DType() Type { return U32 }

// DType is I64.
func (Int64) DType() Type { return I64 }

// DType is I8.
func (Int8) DType() Type { return I8 }

// DType is E4M3.
func (Float8E4M3) DType() Type { return E4M3 }

// DType is E5M2.
func (Float8E5M2) DType() Type { return E5M2 }

// DType is Bool.
func (Boolean) DType() Type { return Bool }

// Float converts to float64, exactly.
func (x BFloat16) Float() float64 { return float64(x.Float32()) }

// Float32 converts to float32, exactly.
func (x BFloat16) Float32() float32 { return math.Float32frombits(uint32(x.bits) << 16) }

// Bits is the bit pattern.
func (x BFloat16) Bits() uint16 { return x.bits }

// BF16FromBits is the number with a bit pattern.
func BF16FromBits(b uint16) BFloat16 { return BFloat16{b} }

// BF16FromFloat32 rounds to nearest even; NaN becomes 0x7fff, as cvt.rn.bf16.f32 gives.
func BF16FromFloat32(f float32) BFloat16 {
	if f != f {
		return BFloat16{0x7fff}
	}
	b := math.Float32bits(f)
	return BFloat16{uint16((b + 0x7fff + b>>16&1) >> 16)}
}

// Float converts to float64, exactly.
func (x Float16) Float() float64 { return float64(x.Float32()) }

// Bits is the bit pattern.
func (x Float16) Bits() uint16 { return x.bits }

// F16FromBits is the number with a bit pattern.
func F16FromBits(b uint16) Float16 { return Float16{b} }

// Float32 converts to float32, exactly.
func (x Float16) Float32() float32 {
	sign, exp, frac := uint32(x.bits>>15), uint32(x.bits>>10&31), uint32(x.bits&0x3ff)
	switch exp {
	case 0: // zero or subnormal: frac * 2^-24
		f := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign<<31)
	case 31:
		return math.Float32frombits(sign<<31 | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign<<31 | (exp+112)<<23 | frac<<13)
}

// F16FromFloat32 rounds to nearest even; NaN becomes 0x7fff, as cvt.rn.f16.f32 gives.
func F16FromFloat32(f float32) Float16 {
	if f != f {
		return Float16{0x7fff}
	}
	b := math.Float32bits(f)
	sign, a := uint16(b>>16&0x8000), b&0x7fffffff
	switch {
	case a >= 0x47800000: // 65536 and above
		return Float16{sign | 0x7c00}
	case a < 0x38800000: // below 2^-14: the result counts units of 2^-24
		u := math.Float32frombits(a) * (1 << 24) // exact
		return Float16{sign | uint16(math.RoundToEven(float64(u)))}
	}
	// Normal: drop 13 fraction bits; a carry may run into infinity, which is right.
	a += 0xfff + a>>13&1
	return Float16{sign | uint16((a>>13)-(112<<10))}
}

// Round rounds to the nearest number of a floating-point type, ties to even, of 8 bits to a finite one; other types leave x
// as it is.
func (t Type) Round(x float32) float32 {
	switch t {
	case BF16:
		return BF16FromFloat32(x).Float32()
	case F16:
		return F16FromFloat32(x).Float32()
	case E4M3:
		return E4M3FromFloat32(x).Float32()
	case E5M2:
		return E5M2FromFloat32(x).Float32()
	}
	return x
}
