package layout_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// TestSwizzled: a swizzle after a layout, evaluated, sliced, printed and read.
func TestSwizzled(t *testing.T) {
	check(t, func(t *rapid.T) {
		l, s := anyLayout(t, "l"), anySwizzle(t)
		offset := rapid.IntRange(0, 5000).Draw(t, "offset")
		r := must(s.Compose(offset, l))(t)
		if r.Swizzle() != s || r.Offset() != offset || !r.Layout().Equal(l) || r.Size() != l.Size() {
			t.Fatalf("%v is not of %v, %d, %v", r, s, offset, l)
		}
		all := map[int]int{}
		for i, at := range r.Offsets() {
			all[i] = at
		}
		for i, x := range l.Offsets() {
			want := s.Apply(offset + x)
			if got := must(r.At(i))(t); got != want || all[i] != want {
				t.Fatalf("%v: %d and %d at %d, want %d", r, got, all[i], i, want)
			}
			c := must(l.Coord(i))(t)
			if got := must(r.AtCoord(c))(t); got != want {
				t.Fatalf("%v: %d at %v, want %d", r, got, c, want)
			}
			if one := must(r.Slice(c))(t); must(one.At(0))(t) != want || one.Size() != 1 {
				t.Fatalf("%v at %v: %v, want %d", r, c, one, want)
			}
		}
		if back, err := layout.ParseSwizzled(r.String()); err != nil || !back.Equal(r) {
			t.Fatalf("%v becomes %v (%v)", r, back, err)
		}
	})
}
