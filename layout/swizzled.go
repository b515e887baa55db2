package layout

import (
	"fmt"
	"iter"
)

// Swizzled is a swizzle after a layout: the function i -> swizzle(offset + layout(i)), written Sw<3,4,3> o 0 o
// (8,64):(64,1). Layout and swizzle count in the same unit: give the swizzle of elements ([Swizzle.Elements]) to a
// layout of elements. Composition, division and the like act on the layout before it is swizzled: do them first. A
// Swizzled is immutable.
type Swizzled struct {
	swizzle Swizzle
	offset  int
	layout  Layout
}

// Compose is the composition of a swizzle with an offset and a layout. The offset is at least 0.
func (s Swizzle) Compose(offset int, l Layout) (Swizzled, error) {
	if offset < 0 {
		return Swizzled{}, fail(ErrInvalid, "offset %d of %s: offsets are not negative", offset, s)
	}
	// A swizzled offset may be any of its repetition's.
	if last, ok := add(offset, l.Cosize()); !ok {
		return Swizzled{}, fail(ErrLimit, "%s o %d o %s reaches offsets that do not fit", s, offset, l.clipped())
	} else if _, ok := add(last, s.Repeat()); !ok {
		return Swizzled{}, fail(ErrLimit, "%s o %d o %s reaches offsets that do not fit", s, offset, l.clipped())
	}
	return Swizzled{s, offset, l}, nil
}

// Swizzle is the swizzle.
func (s Swizzled) Swizzle() Swizzle { return s.swizzle }

// Offset is what is added before the swizzle.
func (s Swizzled) Offset() int { return s.offset }

// Layout is the layout.
func (s Swizzled) Layout() Layout { return s.layout }

// Size is the number of coordinates.
func (s Swizzled) Size() int { return s.layout.Size() }

// At is the swizzled offset of index i, in [0, Size).
func (s Swizzled) At(i int) (int, error) {
	at, err := s.layout.At(i)
	if err != nil {
		return 0, err
	}
	return s.swizzle.Apply(s.offset + at), nil
}

// AtCoord is the swizzled offset of a coordinate: see [Layout.AtCoord].
func (s Swizzled) AtCoord(c Tuple) (int, error) {
	at, err := s.layout.AtCoord(c)
	if err != nil {
		return 0, err
	}
	return s.swizzle.Apply(s.offset + at), nil
}

// Offsets yields every index with its swizzled offset, in order.
func (s Swizzled) Offsets() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i, at := range s.layout.Offsets() {
			if !yield(i, s.swizzle.Apply(s.offset+at)) {
				return
			}
		}
	}
}

// Slice fixes a part of a coordinate: see [Layout.Slice]. What is fixed goes into the offset, which is added before
// the swizzle.
func (s Swizzled) Slice(c Tuple) (Swizzled, error) {
	l, at, err := s.layout.Slice(c)
	if err != nil {
		return Swizzled{}, err
	}
	return s.swizzle.Compose(s.offset+at, l)
}

// Equal reports whether s and t have the same text.
func (s Swizzled) Equal(t Swizzled) bool {
	return s.swizzle == t.swizzle && s.offset == t.offset && s.layout.Equal(t.layout)
}

// String is the text of s, such as Sw<3,4,3> o 0 o (8,64):(64,1); [ParseSwizzled] reads it.
func (s Swizzled) String() string { return fmt.Sprintf("%s o %d o %s", s.swizzle, s.offset, s.layout) }
