// Package dtype names the element types of tiles and holds their host numbers.
//
// A Type is a value ("bf16"); a host number (BFloat16) is what a Go program stores in a tensor of that type.
// The 16-bit and 8-bit formats are structs, so that tile code cannot turn the integer 2 into the bit pattern 2.
package dtype

import "fmt"

// Type is an element type.
type Type uint8

// The element types. Bool exists in registers only.
const (
	Invalid Type = iota
	F32          // IEEE 754 binary32
	BF16         // bfloat16: 8 exponent bits, 7 fraction bits
	F16          // IEEE 754 binary16
	I32
	U32
	I64
	Bool
	E4M3 // 8-bit float of OCP: 4 exponent bits, 3 fraction bits, no infinity, up to 448
	E5M2 // 8-bit float of OCP: 5 exponent bits, 2 fraction bits, up to 57344
	I8
	numTypes
)

var names = [numTypes]string{"invalid", "f32", "bf16", "f16", "i32", "u32", "i64", "bool", "e4m3", "e5m2", "i8"}
var sizes = [numTypes]int{0, 4, 2, 2, 4, 4, 8, 1, 1, 1, 1}

// All lists the types that memory can hold.
func All() []Type { return []Type{F32, BF16, F16, I32, U32, I64, E4M3, E5M2, I8} }

// Arithmetic lists the types that ops compute with. The others, of 8 bits, are loaded, stored, moved, converted and
// multiplied by tensor cores.
func Arithmetic() []Type { return []Type{F32, BF16, F16, I32, U32, I64} }

// Parse is the inverse of String.
func Parse(s string) (Type, error) {
	for t, n := range names {
		if n == s && Type(t) != Invalid {
			return Type(t), nil
		}
	}
	return Invalid, fmt.Errorf("dtype: unknown element type %q; have f32, bf16, f16, i32, u32, i64, bool, e4m3, e5m2, i8", s)
}

// String gives the short lower-case name, such as "bf16".
func (t Type) String() string {
	if t >= numTypes {
		return fmt.Sprintf("dtype(%d)", uint8(t))
	}
	return names[t]
}

// Size is the size of an element in bytes.
func (t Type) Size() int { return sizes[t] }

// IsFloat reports whether t is a floating-point type.
func (t Type) IsFloat() bool { return t == F32 || t == BF16 || t == F16 || t == E4M3 || t == E5M2 }

// IsInt reports whether t is an integer type.
func (t Type) IsInt() bool { return t == I32 || t == U32 || t == I64 || t == I8 }

// Is16 reports whether t is a 16-bit type, which registers hold in pairs.
func (t Type) Is16() bool { return t == BF16 || t == F16 }

// Is8 reports whether t is an 8-bit type that memory can hold. Registers hold four.
func (t Type) Is8() bool { return t == E4M3 || t == E5M2 || t == I8 }
