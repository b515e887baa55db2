package driver

import "fmt"

// TensorMap is a CUtensorMap: what a kernel's asynchronous tensor copies know of a tensor. It stands in the argument
// struct, at a multiple of 64 bytes. Its contents are the driver's own.
type TensorMap [16]uint64

// Tiled describes a tensor in device memory and the box of it that one copy moves, for Context.EncodeTiled.
// Dimension 0 is the innermost; its elements are neighbours. Elements outside of the tensor read as zero.
type Tiled struct {
	Type      TensorType
	Addr      Ptr      // a multiple of 16
	Dim       []uint64 // elements, 1 to 2^32, of 1 to 5 dimensions
	Stride    []uint64 // bytes, of all dimensions but the innermost: multiples of 16 below 2^40
	Box       []uint32 // elements, 1 to 256, one a dimension; innermost a multiple of 16 bytes
	Swizzle   TensorSwizzle
	Promotion L2Promotion
}

// TensorType is a CUtensorMapDataType.
type TensorType uint32

// The element types of tensor maps. Copies of TensorTF32 round f32 to tf32 on their way.
const (
	TensorU8   TensorType = 0
	TensorU16  TensorType = 1
	TensorU32  TensorType = 2
	TensorI32  TensorType = 3
	TensorU64  TensorType = 4
	TensorI64  TensorType = 5
	TensorF16  TensorType = 6
	TensorF32  TensorType = 7
	TensorF64  TensorType = 8
	TensorBF16 TensorType = 9
	TensorTF32 TensorType = 11
)

// tensorBytes is the size of an element; 0: no type of this package.
var tensorBytes = [...]uint64{TensorU8: 1, TensorU16: 2, TensorU32: 4, TensorI32: 4, TensorU64: 8, TensorI64: 8, TensorF16: 2, TensorF32: 4,
	TensorF64: 8, TensorBF16: 2, TensorTF32: 4}

// TensorSwizzle is a CUtensorMapSwizzle: how 16-byte chunks of a box are permuted in shared memory.
type TensorSwizzle uint32

// The swizzles, by the bytes of their span; a row of the box is not longer than that.
const (
	TensorSwizzleNone TensorSwizzle = 0
	TensorSwizzle32   TensorSwizzle = 1
	TensorSwizzle64   TensorSwizzle = 2
	TensorSwizzle128  TensorSwizzle = 3
)

// L2Promotion is a CUtensorMapL2promotion: the bytes that the L2 cache fetches at once.
type L2Promotion uint32

// The promotions.
const (
	L2PromotionNone L2Promotion = 0
	L2Promotion64   L2Promotion = 1
	L2Promotion128  L2Promotion = 2
	L2Promotion256  L2Promotion = 3
)

// Check says which rule of cuTensorMapEncodeTiled the description breaks, with the numbers; the driver only says
// CUDA_ERROR_INVALID_VALUE. Drivers call it first: it keeps them from reading past the slices.
func (t *Tiled) Check() error {
	rank := len(t.Dim)
	refuse := func(format string, args ...any) error {
		return &Error{Call: "cuTensorMapEncodeTiled", Code: InvalidValue, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case rank < 1 || rank > 5:
		return refuse("a tensor map has 1 to 5 dimensions, not %d", rank)
	case len(t.Stride) != rank-1 || len(t.Box) != rank:
		return refuse("%d dimensions take %d strides and %d sides of the box, not %d and %d", rank, rank-1, rank, len(t.Stride), len(t.Box))
	case int(t.Type) >= len(tensorBytes) || tensorBytes[t.Type] == 0:
		return refuse("element type %d is none of the TensorType constants", t.Type)
	case t.Swizzle > TensorSwizzle128:
		return refuse("swizzle %d is none of the TensorSwizzle constants", t.Swizzle)
	case t.Promotion > L2Promotion256:
		return refuse("promotion %d is none of the L2Promotion constants", t.Promotion)
	case t.Addr%16 != 0:
		return refuse("address %#x is not a multiple of 16: copy the tensor, or load it without a tensor map", uint64(t.Addr))
	}
	for i, n := range t.Dim {
		if n < 1 || n > 1<<32 {
			return refuse("dimension %d has %d elements; 1 to 2^32 are allowed", i, n)
		}
		if t.Box[i] < 1 || t.Box[i] > 256 {
			return refuse("side %d of the box has %d elements; 1 to 256 are allowed: use more copies", i, t.Box[i])
		}
	}
	for i, n := range t.Stride {
		if n%16 != 0 || n >= 1<<40 {
			return refuse("dimension %d has a stride of %d bytes; multiples of 16 below 2^40 are allowed: pad the rows", i+1, n)
		}
	}
	row := uint64(t.Box[0]) * tensorBytes[t.Type]
	if row%16 != 0 {
		return refuse("a row of the box is %d bytes; multiples of 16 are allowed", row)
	}
	if t.Swizzle != TensorSwizzleNone && row > 16<<t.Swizzle {
		return refuse("a row of the box is %d bytes; the swizzle takes %d: split the box into panels, or use a wider swizzle", row, 16<<t.Swizzle)
	}
	return nil
}
