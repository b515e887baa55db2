package layout

import "fmt"

// Swizzle permutes addresses so that a column of a tile in shared memory lies in many banks: it exclusive-ors a field
// of bits bits, which begins at bit base, with the field of the same width that lies shift bits above it (below it
// where shift is negative). With (3,4,3) on byte addresses, addr ^= (addr>>7 & 7) << 4: the eight 16-byte chunks of a
// 128-byte row are permuted by the number of the row. A swizzle is its own inverse.
//
// A swizzle repeats every [Swizzle.Repeat] units, so the swizzle of an address is its base plus the swizzle of the
// offset within the tile exactly if the base is a multiple of that: see [Swizzle.Align] and [Swizzle.Check].
//
// The zero value changes nothing and asks nothing. A Swizzle is immutable; == compares.
//
// Source: NVIDIA CUTLASS documentation, CuTe, Swizzle<B,M,S>; the CUDA driver API's CUtensorMapSwizzle.
type Swizzle struct {
	bits, base, shift int8
}

// The swizzles of TMA and of the matrix descriptors of wgmma, on byte addresses: rows of 128, 64 and 32 bytes.
// NoSwizzle is TMA's CU_TENSOR_MAP_SWIZZLE_NONE: nothing moves, but 16-byte chunks stay whole.
var (
	Swizzle128 = Swizzle{3, 4, 3}
	Swizzle64  = Swizzle{2, 4, 3}
	Swizzle32  = Swizzle{1, 4, 3}
	NoSwizzle  = Swizzle{0, 4, 3}
)

// maxSwizzleBit is the highest bit that a swizzle may read or change; Repeat then fits into 31 bits.
const maxSwizzleBit = 29

// NewSwizzle is the swizzle (bits, base, shift). The two fields must not overlap: |shift| >= bits.
func NewSwizzle(bits, base, shift int) (Swizzle, error) {
	abs := max(shift, -shift) // negative for the least int
	switch {
	case bits < 0 || base < 0:
		return Swizzle{}, fail(ErrInvalid, "swizzle (%d,%d,%d): bits and base are at least 0", bits, base, shift)
	case bits > maxSwizzleBit || base > maxSwizzleBit || abs < 0 || abs > maxSwizzleBit || bits+base+abs-1 > maxSwizzleBit:
		return Swizzle{}, fail(ErrLimit, "swizzle (%d,%d,%d): its fields end above bit %d",
			bits, base, shift, maxSwizzleBit)
	case abs < bits:
		return Swizzle{}, fail(ErrInvalid, "swizzle (%d,%d,%d): |shift| is at least bits, for the fields must not overlap",
			bits, base, shift)
	}
	return Swizzle{int8(bits), int8(base), int8(shift)}, nil
}

// Bits is the width of the field that changes.
func (s Swizzle) Bits() int { return int(s.bits) }

// Base is the lowest bit of the lower field: units below 1<<Base stay together, 16 bytes for the swizzles of TMA.
func (s Swizzle) Base() int { return int(s.base) }

// Shift is the distance from the field that changes to the field that is read, negative where that is the lower one.
func (s Swizzle) Shift() int { return int(s.shift) }

// Apply is the swizzled address, in the unit of the swizzle: bytes for those of TMA. See [Swizzle.Elements]. Apply is a
// permutation of each aligned run of Repeat units.
func (s Swizzle) Apply(addr int) int {
	mask := 1<<s.bits - 1
	if s.shift >= 0 {
		return addr ^ (addr >> (s.base + s.shift) & mask << s.base)
	}
	return addr ^ (addr >> s.base & mask << (s.base - s.shift))
}

// Elements is a swizzle of byte addresses as one of element numbers, for elements of width bytes: Swizzle128 for 2-byte
// elements is (3,3,3). The width is a power of two, at most the 1<<Base bytes that stay together.
func (s Swizzle) Elements(width int) (Swizzle, error) {
	if width < 1 || width&(width-1) != 0 {
		return Swizzle{}, fail(ErrInvalid, "%s for elements of %d bytes: the width must be a power of two", s, width)
	}
	if s.bits == 0 && width > s.Chunk() {
		return Swizzle{}, nil // nothing moves
	}
	if width > s.Chunk() {
		return Swizzle{}, fail(ErrUndefined, "%s for elements of %d bytes: it keeps only %d bytes together", s, width, s.Chunk())
	}
	for ; width > 1; width /= 2 {
		s.base--
	}
	return s, nil
}

// Chunk is the number of units that stay together, 1<<Base: 16 bytes for the swizzles of TMA.
func (s Swizzle) Chunk() int { return 1 << s.base }

// Width is the length of the rows within which chunks are permuted: 128 bytes for Swizzle128. A row of a shared tile
// is one or several of these (a wider tile is stored as panels of this width). A swizzle with a negative shift permutes
// rows instead of chunks: the whole pattern is its one row.
func (s Swizzle) Width() int {
	if s.shift < 0 {
		return s.Repeat()
	}
	return 1 << (s.base + s.bits)
}

// Rows is the number of rows of Width of the pattern: 8 for the swizzles of TMA.
func (s Swizzle) Rows() int { return 1 << max(s.shift, 0) }

// Repeat is the distance after which the pattern repeats: Width*Rows, 1024 bytes for Swizzle128; one chunk where
// nothing moves.
func (s Swizzle) Repeat() int {
	if s.bits == 0 {
		return s.Chunk()
	}
	return 1 << (s.base + s.bits + max(s.shift, -s.shift))
}

// Align is the alignment that a tile's base address must have: Repeat.
func (s Swizzle) Align() int { return s.Repeat() }

// Check reports whether a tile at a base address, with rows of rowBytes bytes, can have this swizzle of byte addresses.
func (s Swizzle) Check(base, rowBytes int) error {
	if base < 0 || base%s.Align() != 0 {
		return fail(ErrUndefined, "%s at address %d: the address must be a multiple of %d", s, base, s.Align())
	}
	if rowBytes < 1 || rowBytes%s.Width() != 0 {
		return fail(ErrUndefined, "%s of rows of %d bytes: a row must be a multiple of %d bytes; use a narrower swizzle "+
			"or wider rows", s, rowBytes, s.Width())
	}
	return nil
}

// String is the text of s in CuTe's form, such as Sw<3,4,3>; [ParseSwizzle] reads it.
func (s Swizzle) String() string { return fmt.Sprintf("Sw<%d,%d,%d>", s.bits, s.base, s.shift) }
