// Package dtype names the element types of tiles and holds their host numbers.
//
// A Type is a value ("bf16"); a host number (BFloat16) is what a Go program stores in a tensor of that type.
// The 16-bit formats are structs, so that tile code cannot turn the integer 2 into the bit pattern 2.
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
	numTypes
)

var names = [numTypes]string{"invalid", "f32", "bf16", "f16", "i32", "u32", "i64", "bool"}
var sizes = [numTypes]int{0, 4, 2, 2, 4, 4, 8, 1}

// All lists the types that memory can hold.
func All() []Type { return []Type{F32, BF16, F16, I32, U32, I64} }

// Parse is the inverse of String.
func Parse(s string) (Type, error) {
	for t, n := range names {
		if n == s && Type(t) != Invalid {
			return Type(t), nil
		}
	}
	return Invalid, fmt.Errorf("dtype: unknown element type %q; have f32, bf16, f16, i32, u32, i64, bool", s)
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
func (t Type) IsFloat() bool { return t == F32 || t == BF16 || t == F16 }

// IsInt reports whether t is an integer type.
func (t Type) IsInt() bool { return t == I32 || t == U32 || t == I64 }

// Is16 reports whether t is a 16-bit type, which registers hold in pairs.
func (t Type) Is16() bool { return t == BF16 || t == F16 }
