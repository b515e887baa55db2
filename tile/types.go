package tile

import (
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// The element types. A host number of one of them is an operand: x.Mul(tile.F32(2)).
type (
	F32  = dtype.Float32
	BF16 = dtype.BFloat16
	F16  = dtype.Float16
	I32  = dtype.Int32
	U32  = dtype.Uint32
	I64  = dtype.Int64
	I8   = dtype.Int8
	// E4M3 and E5M2 are 8-bit floats. Tiles of them and of I8 are loaded, stored, moved, converted and multiplied by MMA;
	// other ops take what Cast makes of them.
	E4M3 = dtype.Float8E4M3
	E5M2 = dtype.Float8E5M2
	// Bool is the element type of comparisons; it exists in registers only.
	Bool = dtype.Boolean
)

// Float is a floating-point element type. 16-bit types are computed in f32 and rounded once an op.
type Float interface {
	F32 | BF16 | F16
	DType() dtype.Type
}

// Accumulator is the element type of an accumulator of MMA.
type Accumulator interface {
	F32 | F16 | BF16 | I32
	DType() dtype.Type
}

// Integer is an integer element type.
type Integer interface {
	I32 | U32 | I64
	DType() dtype.Type
}

// Number is an element type that memory can hold.
type Number interface {
	F32 | BF16 | F16 | I32 | U32 | I64 | E4M3 | E5M2 | I8
	DType() dtype.Type
}

// Elem is an element type of registers.
type Elem interface {
	F32 | BF16 | F16 | I32 | U32 | I64 | E4M3 | E5M2 | I8 | Bool
	DType() dtype.Type
}

func dtypeOf[T Elem]() dtype.Type {
	var t T
	return t.DType()
}

// Const is the number x as an operand of a type that the caller does not know: tile.Const[T](2). Floats round to
// nearest even; integers truncate and saturate, NaN gives 0, as by Cast. It returns an Operand because a T that is a type
// parameter is none for the compiler.
func Const[T Number](x float64) Operand[T] {
	var t T
	switch p := any(&t).(type) {
	case *F32:
		*p = F32(x)
	case *BF16:
		*p = dtype.BF16FromFloat32(toOdd(x))
	case *F16:
		*p = dtype.F16FromFloat32(toOdd(x))
	case *E4M3:
		*p = dtype.E4M3FromFloat32(toOdd(x))
	case *E5M2:
		*p = dtype.E5M2FromFloat32(toOdd(x))
	case *I8:
		*p = I8(saturate(x, math.MinInt8, math.MaxInt8))
	case *I32:
		*p = I32(saturate(x, math.MinInt32, math.MaxInt32))
	case *U32:
		*p = U32(saturate(x, 0, math.MaxUint32))
	case *I64:
		*p = I64(saturate(x, math.MinInt64, math.MaxInt64))
	}
	return any(t).(Operand[T])
}

// toOdd rounds to the f32 whose last bit is 1 where x is not one: rounding that to 16 or 8 bits gives what rounding x would.
func toOdd(x float64) float32 {
	f := float32(x)
	if float64(f) == x || x != x {
		return f
	}
	bits := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(x) {
		bits-- // towards zero
	}
	return math.Float32frombits(bits | 1)
}

// saturate truncates x into [lo, hi]. What Go converts beyond that differs from machine to machine, and generated text
// must not.
func saturate(x float64, lo, hi int64) int64 {
	switch {
	case x != x:
		return 0
	case x >= float64(hi):
		return hi
	case x <= float64(lo):
		return lo
	}
	return int64(x)
}

// pattern is the bit pattern of a host number.
func pattern(x any) ir.Bits {
	switch x := x.(type) {
	case F32:
		return ir.Bits(math.Float32bits(float32(x)))
	case BF16:
		return ir.Bits(x.Bits())
	case F16:
		return ir.Bits(x.Bits())
	case E4M3:
		return ir.Bits(x.Bits())
	case E5M2:
		return ir.Bits(x.Bits())
	case I8:
		return ir.Bits(uint8(x))
	case I32:
		return ir.Bits(uint32(x))
	case U32:
		return ir.Bits(x)
	case I64:
		return ir.Bits(x)
	case Bool:
		if x {
			return 1
		}
	}
	return 0
}
