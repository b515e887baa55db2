package layout

import (
	"iter"
	"math"
	"slices"
)

// Layout is a function from coordinates to offsets, written shape:stride, such as (2,(1,6)):(1,(6,2)). Shape and stride
// are nested alike; each pair of integers n:d in the same place, a leaf, is the function i -> i*d for i in [0, n), and
// the layout is the sum of its leaves. A coordinate may be given nested like the shape, or as an index for any part of
// it, up to one index for all: then the leftmost leaf moves fastest (column-major, colexicographic).
//
// Sizes are at least 1 and strides at least 0; [Layout.Size] and [Layout.Cosize] fit into an int, so evaluating a
// Layout within its shape cannot overflow. The zero value is ():(), which maps its one index to 0. A Layout is
// immutable.
//
// Source of the definitions: Cris Cecka, CuTe Layout Representation and Algebra; NVIDIA CUTLASS documentation, CuTe,
// chapters "Layouts" and "Layout Algebra".
type Layout struct {
	leaf  bool
	n, d  int      // of a leaf: its size and stride
	modes []Layout // of a tuple
}

// Limits of a layout, which keep text of foreign origin from exhausting memory or the stack.
const (
	MaxModes = 1024 // leaves
	MaxDepth = 32   // nesting
)

func leafOf(n, d int) Layout { return Layout{leaf: true, n: n, d: d} }

func tupleOf(modes ...Layout) Layout { return Layout{modes: modes} }

// New is the layout shape:stride. The two must be nested alike.
func New(shape, stride Tuple) (Layout, error) {
	l, err := zip(shape, stride, 0, new(int))
	if err != nil {
		return Layout{}, err
	}
	return l.checked()
}

// zip pairs shape and stride; it counts leaves as it goes, since a Tuple may hold another one many times.
func zip(shape, stride Tuple, depth int, count *int) (Layout, error) {
	if *count++; *count > MaxModes || depth > MaxDepth {
		return Layout{}, fail(ErrLimit, "a layout has more than %d modes or is nested deeper than %d", MaxModes, MaxDepth)
	}
	if shape.kind == isInt && stride.kind == isInt {
		return leafOf(shape.n, stride.n), nil
	}
	if shape.kind != isTuple || stride.kind != isTuple || len(shape.parts) != len(stride.parts) {
		return Layout{}, fail(ErrInvalid, "shape %s and stride %s are not nested alike: give an integer in one for each "+
			"integer in the other", shape.clipped(), stride.clipped())
	}
	l := Layout{modes: make([]Layout, len(shape.parts))}
	for i := range shape.parts {
		var err error
		if l.modes[i], err = zip(shape.parts[i], stride.parts[i], depth+1, count); err != nil {
			return Layout{}, err
		}
	}
	return l, nil
}

// ColMajor is the compact layout of a shape whose leftmost size has stride 1: (8,4):(1,8).
func ColMajor(shape Tuple) (Layout, error) { return compact(shape, false) }

// RowMajor is the compact layout of a shape whose rightmost size has stride 1: (8,4):(4,1).
func RowMajor(shape Tuple) (Layout, error) { return compact(shape, true) }

func compact(shape Tuple, backwards bool) (Layout, error) {
	l, err := zip(shape, shape, 0, new(int))
	if err != nil {
		return Layout{}, err
	}
	if err := l.limits(); err != nil {
		return Layout{}, err
	}
	d := 1
	var walk func(l Layout) Layout
	walk = func(l Layout) Layout {
		if l.leaf {
			stride := d
			d *= l.n // at most the product of the sizes, which fits
			return leafOf(l.n, stride)
		}
		out := Layout{modes: make([]Layout, len(l.modes))}
		for i := range l.modes {
			at := i
			if backwards {
				at = len(l.modes) - 1 - i
			}
			out.modes[at] = walk(l.modes[at])
		}
		return out
	}
	return walk(l).checked()
}

// Concat is the layout whose modes are the given ones: the sum of their offsets at a tuple of their coordinates.
func Concat(modes ...Layout) (Layout, error) { return tupleOf(slices.Clone(modes)...).checked() }

// checked returns l if it keeps the rules of a Layout.
func (l Layout) checked() (Layout, error) {
	if err := l.limits(); err != nil {
		return Layout{}, err
	}
	last := 0
	for _, f := range l.leaves() {
		var ok bool
		if f.d < 0 {
			return Layout{}, fail(ErrInvalid, "stride %d in %s: strides are not negative", f.d, l.clipped())
		}
		if last, ok = mulAdd(f.n-1, f.d, last); !ok || last == math.MaxInt {
			return Layout{}, fail(ErrLimit, "%s reaches offsets beyond %d", l.clipped(), math.MaxInt-1)
		}
	}
	return l, nil
}

// limits checks nesting, number and sizes of the leaves; it stops at the first excess.
func (l Layout) limits() error {
	count, size := 0, 1
	var walk func(l Layout, depth int) error
	walk = func(l Layout, depth int) error {
		if depth > MaxDepth {
			return fail(ErrLimit, "a layout is nested deeper than %d", MaxDepth)
		}
		if count++; count > MaxModes {
			return fail(ErrLimit, "a layout has more than %d modes", MaxModes)
		}
		if !l.leaf {
			for _, m := range l.modes {
				if err := walk(m, depth+1); err != nil {
					return err
				}
			}
			return nil
		}
		if l.n < 1 {
			return fail(ErrInvalid, "size %d: sizes are at least 1", l.n)
		}
		var ok bool
		if size, ok = mul(size, l.n); !ok {
			return fail(ErrLimit, "a layout has more than %d elements", math.MaxInt)
		}
		return nil
	}
	return walk(l, 0)
}

// leaves are the leaves of l from left to right.
func (l Layout) leaves() []Layout {
	if l.leaf {
		return []Layout{l}
	}
	var out []Layout
	for _, m := range l.modes {
		out = append(out, m.leaves()...)
	}
	return out
}

// top are the modes of l: a leaf is its own only mode.
func (l Layout) top() []Layout {
	if l.leaf {
		return []Layout{l}
	}
	return l.modes
}

// Rank is the number of modes; a leaf is one mode.
func (l Layout) Rank() int { return len(l.top()) }

// Depth is the depth of nesting: 0 for a leaf such as 8:1, 1 for (8,4):(1,8).
func (l Layout) Depth() int {
	if l.leaf {
		return 0
	}
	depth := 0
	for _, m := range l.modes {
		depth = max(depth, m.Depth())
	}
	return depth + 1
}

// Modes are the modes of l; a leaf is its own only mode.
func (l Layout) Modes() []Layout { return slices.Clone(l.top()) }

// Mode is mode i of l, in [0, Rank).
func (l Layout) Mode(i int) (Layout, error) {
	if i < 0 || i >= l.Rank() {
		return Layout{}, fail(ErrRange, "mode %d of %s: it has %d", i, l.clipped(), l.Rank())
	}
	return l.top()[i], nil
}

// Shape is the shape of l.
func (l Layout) Shape() Tuple { return l.tuple(func(f Layout) int { return f.n }) }

// Stride is the stride of l, nested like the shape.
func (l Layout) Stride() Tuple { return l.tuple(func(f Layout) int { return f.d }) }

func (l Layout) tuple(of func(leaf Layout) int) Tuple {
	if l.leaf {
		return Int(of(l))
	}
	t := Tuple{parts: make([]Tuple, len(l.modes))}
	for i, m := range l.modes {
		t.parts[i] = m.tuple(of)
	}
	return t
}

// Size is the number of coordinates: the product of the shape.
func (l Layout) Size() int {
	if l.leaf {
		return l.n
	}
	size := 1
	for _, m := range l.modes {
		size *= m.Size()
	}
	return size
}

// Cosize is one more than the largest offset: the length of the shortest array that holds every element.
func (l Layout) Cosize() int {
	last := 0
	for _, f := range l.leaves() {
		last += (f.n - 1) * f.d
	}
	return last + 1
}

// Equal reports whether l and m have the same text. [Layout.Equivalent] compares them as functions.
func (l Layout) Equal(m Layout) bool {
	return l.leaf == m.leaf && l.n == m.n && l.d == m.d && slices.EqualFunc(l.modes, m.modes, Layout.Equal)
}

// String is the text of l, such as (2,(1,6)):(1,(6,2)); [Parse] reads it.
func (l Layout) String() string { return l.Shape().String() + ":" + l.Stride().String() }

// clipped is the text of l for a message.
func (l Layout) clipped() string { return clip(l.String()) }

// Offsets yields every index with its offset, in order.
func (l Layout) Offsets() iter.Seq2[int, int] {
	leaves := l.leaves()
	return func(yield func(int, int) bool) {
		digits := make([]int, len(leaves))
		offset := 0
		for i := range l.Size() {
			if !yield(i, offset) {
				return
			}
			for k, f := range leaves {
				if digits[k]++; digits[k] < f.n {
					offset += f.d
					break
				}
				offset -= (f.n - 1) * f.d
				digits[k] = 0
			}
		}
	}
}
