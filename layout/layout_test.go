package layout_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// offsets are the offsets of every index.
func offsets(l layout.Layout) []int {
	var out []int
	for _, off := range l.Offsets() {
		out = append(out, off)
	}
	return out
}

// nested draws a tuple of positive sizes with at most budget elements in all, and a stride for each.
func nested(t *rapid.T, budget *int, depth int, stride *rapid.Generator[int]) (shape, strides layout.Tuple) {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") > 0 {
		n := rapid.IntRange(1, min(*budget, 6)).Draw(t, "size")
		*budget /= n
		return layout.Int(n), layout.Int(stride.Draw(t, "stride"))
	}
	var ss, ds []layout.Tuple
	for range rapid.IntRange(0, 3).Draw(t, "rank") {
		s, d := nested(t, budget, depth-1, stride)
		ss, ds = append(ss, s), append(ds, d)
	}
	return layout.Nest(ss...), layout.Nest(ds...)
}

// anyLayout draws a layout of at most 64 elements, most of them irregular.
func anyLayout(t *rapid.T, name string) layout.Layout {
	return rapid.Custom(func(t *rapid.T) layout.Layout {
		budget := 64
		shape, stride := nested(t, &budget, 3, rapid.OneOf(
			rapid.SampledFrom([]int{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32}), rapid.IntRange(0, 40)))
		l, err := layout.New(shape, stride)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}).Draw(t, name)
}

// TestEvaluate: indices, coordinates and offsets agree with the definition: an offset is the sum of the coordinate's
// digits times the strides.
func TestEvaluate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLayout(t, "l")
		var dot func(c, d layout.Tuple) int
		dot = func(c, d layout.Tuple) int {
			if i, ok := c.Int(); ok {
				stride, _ := d.Int()
				return i * stride
			}
			sum := 0
			for k, part := range c.Parts() {
				sum += dot(part, d.Parts()[k])
			}
			return sum
		}
		seen := map[string]bool{}
		largest := 0
		all := offsets(l)
		if len(all) != l.Size() {
			t.Fatalf("%d offsets of %v, size %d", len(all), l, l.Size())
		}
		for i, want := range all {
			c, err := l.Coord(i)
			if err != nil {
				t.Fatal(err)
			}
			seen[c.String()] = true
			largest = max(largest, want)
			if off := dot(c, l.Stride()); off != want {
				t.Fatalf("%v at %v: the sum is %d, Offsets has %d", l, c, off, want)
			}
			if got, err := l.At(i); err != nil || got != want {
				t.Fatalf("%v at %d: %d (%v), want %d", l, i, got, err, want)
			}
			if got, err := l.AtCoord(c); err != nil || got != want {
				t.Fatalf("%v at %v: %d (%v), want %d", l, c, got, err, want)
			}
			if got, err := l.Index(c); err != nil || got != i {
				t.Fatalf("index of %v in %v: %d (%v), want %d", c, l, got, err, i)
			}
		}
		if len(seen) != l.Size() || largest+1 != l.Cosize() {
			t.Fatalf("%v: %d coordinates of %d, largest offset %d, cosize %d", l, len(seen), l.Size(), largest, l.Cosize())
		}
	})
}

// TestMixedCoord: an index may stand for any part of a coordinate.
func TestMixedCoord(t *testing.T) {
	l := layout.MustParse("(3,(2,3)):(3,(12,1))") // the example of the CuTe documentation
	for text, want := range map[string]int{"16": 17, "(1,5)": 17, "(1,(1,2))": 17, "(2,0)": 6} {
		c, err := layout.ParseTuple(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.AtCoord(c); err != nil || got != want {
			t.Errorf("%v at %s: %d (%v), want %d", l, text, got, err, want)
		}
	}
}

// TestOutside: what lies outside of a layout, or is no coordinate of it, is an error.
func TestOutside(t *testing.T) {
	l := layout.MustParse("(3,(2,3)):(3,(12,1))")
	for _, i := range []int{-1, 18, math.MaxInt, math.MinInt} {
		if _, err := l.At(i); !errors.Is(err, layout.ErrRange) {
			t.Errorf("At(%d): %v", i, err)
		}
		if _, err := l.Coord(i); !errors.Is(err, layout.ErrRange) {
			t.Errorf("Coord(%d): %v", i, err)
		}
	}
	for text, kind := range map[string]error{
		"(3,0)": layout.ErrRange, "(0,6)": layout.ErrRange, "(0,(2,0))": layout.ErrRange, "18": layout.ErrRange,
		"(0,0,0)": layout.ErrInvalid, "(0)": layout.ErrInvalid, "((0,0),0)": layout.ErrInvalid, "()": layout.ErrInvalid,
		"(_,0)": layout.ErrInvalid, "_": layout.ErrInvalid,
	} {
		c, err := layout.ParseTuple(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.AtCoord(c); !errors.Is(err, kind) {
			t.Errorf("AtCoord(%s): %v, want %v", text, err, kind)
		}
	}
	for _, i := range []int{-1, 2} {
		if _, err := l.Mode(i); !errors.Is(err, layout.ErrRange) {
			t.Errorf("Mode(%d): %v", i, err)
		}
	}
}

// TestAccess: rank, depth and modes.
func TestAccess(t *testing.T) {
	for _, c := range []struct {
		text                      string
		rank, depth, size, cosize int
	}{
		{"8:2", 1, 0, 8, 15}, {"(8):(2)", 1, 1, 8, 15}, {"():()", 0, 1, 1, 1}, {"(2,(1,6)):(1,(6,2))", 2, 2, 12, 12},
		{"(4,()):(0,())", 2, 2, 4, 1},
	} {
		l := layout.MustParse(c.text)
		if l.Rank() != c.rank || l.Depth() != c.depth || l.Size() != c.size || l.Cosize() != c.cosize {
			t.Errorf("%v: rank %d, depth %d, size %d, cosize %d; want %v", l, l.Rank(), l.Depth(), l.Size(), l.Cosize(), c)
		}
		var texts []string
		for i, m := range l.Modes() {
			if one, err := l.Mode(i); err != nil || !one.Equal(m) {
				t.Errorf("mode %d of %v: %v (%v), want %v", i, l, one, err, m)
			}
			texts = append(texts, m.String())
		}
		if c.depth > 0 {
			again, err := layout.Concat(l.Modes()...)
			if err != nil || !again.Equal(l) {
				t.Errorf("Concat(%s): %v (%v), want %v", strings.Join(texts, ", "), again, err, l)
			}
		}
	}
	if (layout.Layout{}).String() != "():()" {
		t.Errorf("the zero value is %v", layout.Layout{})
	}
}

// TestCompact: column-major and row-major layouts number the coordinates from the left and from the right.
func TestCompact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLayout(t, "l")
		col, err := layout.ColMajor(l.Shape())
		if err != nil {
			t.Fatal(err)
		}
		row, err := layout.RowMajor(l.Shape())
		if err != nil {
			t.Fatal(err)
		}
		var reverse func(t layout.Tuple) layout.Tuple
		reverse = func(t layout.Tuple) layout.Tuple {
			if _, ok := t.Int(); ok {
				return t
			}
			parts := t.Parts()
			slices.Reverse(parts)
			for i := range parts {
				parts[i] = reverse(parts[i])
			}
			return layout.Nest(parts...)
		}
		back, err := layout.New(reverse(row.Shape()), reverse(row.Stride()))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []layout.Layout{col, back} {
			for i, off := range m.Offsets() {
				if i != off {
					t.Fatalf("%v: offset %d at %d", m, off, i)
				}
			}
		}
	})
}

// TestLimits: what does not fit is an error, however it is built.
func TestLimits(t *testing.T) {
	deep := strings.Repeat("(", layout.MaxDepth+1) + "1" + strings.Repeat(")", layout.MaxDepth+1)
	wide := "(" + strings.Repeat("1,", layout.MaxModes) + "1)"
	for text, kind := range map[string]error{
		"0:1": layout.ErrInvalid, "(2,0):(1,2)": layout.ErrInvalid, "2:(1)": layout.ErrInvalid, "(2,3):(1)": layout.ErrInvalid,
		"(2,3):1": layout.ErrInvalid, "_:1": layout.ErrInvalid, "_:_": layout.ErrInvalid, "(2,_):(1,_)": layout.ErrInvalid,
		"9223372036854775807:0":                               nil,
		"9223372036854775807:1":                               nil,
		"9223372036854775808:1":                               layout.ErrLimit,
		"9223372036854775807:2":                               layout.ErrLimit,
		"2:9223372036854775807":                               layout.ErrLimit,
		"2:9223372036854775806":                               nil,
		"(2,2):(9223372036854775806,1)":                       layout.ErrLimit,
		"(4294967296,4294967296):(0,0)":                       layout.ErrLimit,
		"(4294967296,2147483647):(2147483647,1)":              nil,
		"(4294967296,2147483647):(2147483649,1)":              layout.ErrLimit,
		"99999999999999999999999999999999999999999999999:1":   layout.ErrLimit,
		deep + ":" + deep:                                     layout.ErrLimit,
		deep[1:len(deep)-1] + ":" + deep[1:len(deep)-1]:       nil,
		wide + ":" + wide:                                     layout.ErrLimit,
		strings.Repeat("(", 1<<20):                            layout.ErrLimit,
		"(" + strings.Repeat("1,", 1<<20) + ":":               layout.ErrLimit,
		strings.Repeat("1", 1<<20) + ":1":                     layout.ErrLimit,
		strings.Repeat(" ", 1<<20):                            layout.ErrSyntax,
		"(" + strings.Repeat("(),", layout.MaxModes) + "()):": layout.ErrSyntax,
	} {
		l, err := layout.Parse(text)
		if !errors.Is(err, kind) || kind == nil && l.String() != text {
			t.Errorf("%.60s: %v, %v; want %v", text, l, err, kind)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%.60s: an error of %d bytes", text, len(err.Error()))
		}
	}
	big := layout.MustParse("4294967296:1")
	if l, err := layout.Concat(big, big); !errors.Is(err, layout.ErrLimit) {
		t.Errorf("Concat: %v, %v", l, err)
	}
	if l, err := layout.ColMajor(layout.Ints(1<<32, 1<<32)); !errors.Is(err, layout.ErrLimit) {
		t.Errorf("ColMajor: %v, %v", l, err)
	}
	if l, err := layout.RowMajor(layout.Ints(4, -1)); !errors.Is(err, layout.ErrInvalid) {
		t.Errorf("RowMajor: %v, %v", l, err)
	}
	if l, err := layout.ColMajor(layout.Nest(layout.Int(4), layout.All)); !errors.Is(err, layout.ErrInvalid) {
		t.Errorf("ColMajor: %v, %v", l, err)
	}
	if l, err := layout.New(layout.Int(4), layout.Int(-1)); !errors.Is(err, layout.ErrInvalid) {
		t.Errorf("New: %v, %v", l, err)
	}
	self := layout.Int(1) // 2^64 sizes, of which the first thousand are looked at
	for range layout.MaxDepth {
		self = layout.Nest(self, self, self, self)
	}
	if _, err := layout.ColMajor(self); !errors.Is(err, layout.ErrLimit) {
		t.Errorf("a tuple of itself: %v", err)
	}
}
