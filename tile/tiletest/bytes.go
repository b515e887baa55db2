package tiletest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gotile/gotile/dtype"
)

// Elements as bytes: little-endian, as device memory has them. Values travel as float64, which holds every element
// type but large int64 exactly.

// put rounds x to type t (nearest even for 16-bit and 32-bit floats) and stores it at the start of b.
func put(b []byte, t dtype.Type, x float64) {
	switch t {
	case dtype.F32:
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(x)))
	case dtype.BF16:
		binary.LittleEndian.PutUint16(b, dtype.BF16FromFloat32(roundToOdd(x)).Bits())
	case dtype.F16:
		binary.LittleEndian.PutUint16(b, dtype.F16FromFloat32(roundToOdd(x)).Bits())
	case dtype.E4M3:
		b[0] = dtype.E4M3FromFloat32(roundToOdd(x)).Bits()
	case dtype.E5M2:
		b[0] = dtype.E5M2FromFloat32(roundToOdd(x)).Bits()
	case dtype.I8:
		b[0] = byte(int8(x))
	case dtype.I32:
		binary.LittleEndian.PutUint32(b, uint32(int32(x)))
	case dtype.U32:
		binary.LittleEndian.PutUint32(b, uint32(x))
	case dtype.I64:
		binary.LittleEndian.PutUint64(b, uint64(int64(x)))
	default:
		panic(fmt.Sprintf("tiletest: memory holds no %v", t))
	}
}

// get reads an element.
func get(b []byte, t dtype.Type) float64 {
	switch t {
	case dtype.F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case dtype.BF16:
		return dtype.BF16FromBits(binary.LittleEndian.Uint16(b)).Float()
	case dtype.F16:
		return dtype.F16FromBits(binary.LittleEndian.Uint16(b)).Float()
	case dtype.E4M3:
		return dtype.E4M3FromBits(b[0]).Float()
	case dtype.E5M2:
		return dtype.E5M2FromBits(b[0]).Float()
	case dtype.I8:
		return float64(int8(b[0]))
	case dtype.I32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case dtype.U32:
		return float64(binary.LittleEndian.Uint32(b))
	case dtype.I64:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	}
	panic(fmt.Sprintf("tiletest: memory holds no %v", t))
}

// putBits stores a bit pattern at the start of b.
func putBits(b []byte, t dtype.Type, x uint64) {
	switch t.Size() {
	case 1:
		b[0] = byte(x)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(x))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(x))
	default:
		binary.LittleEndian.PutUint64(b, x)
	}
}

// getBits reads a bit pattern.
func getBits(b []byte, t dtype.Type) uint64 {
	switch t.Size() {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// roundToOdd narrows to float32 so that a second rounding to 16 bits is right: an inexact result gets an odd last bit.
func roundToOdd(x float64) float32 {
	f := float32(x)
	if float64(f) == x || x != x || math.IsInf(float64(f), 0) {
		return f
	}
	bits := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(x) {
		bits-- // towards zero
	}
	return math.Float32frombits(bits | 1)
}

// poison is a bit pattern that no kernel writes by chance: a NaN with a payload (hardware makes 0x7fffffff and 0x7fff),
// and for integers a number far from any test's data.
func poison(t dtype.Type) uint64 {
	switch t {
	case dtype.F32:
		return 0x7fc5eead
	case dtype.BF16:
		return 0x7fd5
	case dtype.F16:
		return 0x7ed5
	case dtype.E4M3:
		return 0xff // a NaN that conversions do not make
	case dtype.E5M2:
		return 0xfd
	case dtype.I8:
		return 0xab // -85
	case dtype.I64:
		return 0xa5ee5a11dead57ed
	}
	return 0xa5eed5ad
}

// isPoison reports whether an element still holds the pattern.
func isPoison(b []byte, t dtype.Type) bool {
	switch t.Size() {
	case 1:
		return b[0] == byte(poison(t))
	case 2:
		return binary.LittleEndian.Uint16(b) == uint16(poison(t))
	case 4:
		return binary.LittleEndian.Uint32(b) == uint32(poison(t))
	}
	return binary.LittleEndian.Uint64(b) == poison(t)
}

// fillPoison writes the pattern over all of b, a whole number of elements.
func fillPoison(b []byte, t dtype.Type) {
	size := t.Size()
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], poison(t))
	for i := 0; i < len(b); i += size {
		copy(b[i:], p[:size])
	}
}
