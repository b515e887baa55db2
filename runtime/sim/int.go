package sim

import (
	"math/bits"
	"unsafe"
)

// Integers wrap. Division follows the op table: by zero it gives all ones, as the hardware does; the most negative
// number by -1 wraps, in Go as on the GPU.

func add[T integer](a, b T) T { return a + b }
func sub[T integer](a, b T) T { return a - b }
func mul[T integer](a, b T) T { return a * b }
func neg[T integer](a T) T    { return -a }

func div[T integer](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a / b
}

func rem[T integer](a, b T) T {
	if b == 0 {
		return a
	}
	return a % b
}

func abs[T integer](a T) T {
	if a < 0 {
		return -a
	}
	return a
}

func least[T integer](a, b T) T { return min(a, b) }
func most[T integer](a, b T) T  { return max(a, b) }

func mulHiI32(a, b int32) int32   { return int32(int64(a) * int64(b) >> 32) }
func mulHiU32(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }

// mulHiI64 corrects the unsigned product: a negative operand counts 2^64 too much.
func mulHiI64(a, b int64) int64 {
	hi, _ := bits.Mul64(uint64(a), uint64(b))
	h := int64(hi)
	if a < 0 {
		h -= b
	}
	if b < 0 {
		h -= a
	}
	return h
}

// Shift counts are masked to the width.
func shl[T integer](a, b T) T { return a << (uint64(b) & width[T]()) }
func shr[T integer](a, b T) T { return a >> (uint64(b) & width[T]()) }

// width is the mask of a shift count: 31 or 63.
func width[T integer]() uint64 {
	var x T
	return uint64(unsafe.Sizeof(x))*8 - 1
}

func and[T integer](a, b T) T { return a & b }
func or[T integer](a, b T) T  { return a | b }
func xor[T integer](a, b T) T { return a ^ b }
func not[T integer](a T) T    { return ^a }

func lt[T integer | float32](a, b T) bool { return a < b }
func le[T integer | float32](a, b T) bool { return a <= b }
func gt[T integer | float32](a, b T) bool { return a > b }
func ge[T integer | float32](a, b T) bool { return a >= b }
func eq[T integer | float32](a, b T) bool { return a == b }
func ne[T integer | float32](a, b T) bool { return a != b }
