package layout_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// TestSlice: offset + S(free) = A(c with the free places filled in).
func TestSlice(t *testing.T) {
	check(t, func(t *rapid.T) {
		a := anyLayout(t, "a")
		at := must(a.Coord(rapid.IntRange(0, a.Size()-1).Draw(t, "fixed")))(t)
		var mask func(c layout.Tuple) layout.Tuple
		mask = func(c layout.Tuple) layout.Tuple {
			if rapid.IntRange(0, 2).Draw(t, "free") == 0 {
				return layout.All
			}
			if _, ok := c.Int(); ok {
				return c
			}
			parts := c.Parts()
			for i := range parts {
				parts[i] = mask(parts[i])
			}
			return layout.Nest(parts...)
		}
		c := mask(at)
		s, offset, err := a.Slice(c)
		if err != nil {
			t.Fatal(err)
		}
		// The free modes from left to right, and what a coordinate of theirs makes of c.
		var modes []layout.Layout
		var fill func(l layout.Layout, c layout.Tuple, with *[]layout.Tuple) layout.Tuple
		fill = func(l layout.Layout, c layout.Tuple, with *[]layout.Tuple) layout.Tuple {
			if c.Equal(layout.All) {
				if with == nil {
					modes = append(modes, l)
					return c
				}
				first := (*with)[0]
				*with = (*with)[1:]
				return first
			}
			if _, ok := c.Int(); ok {
				return c
			}
			parts := c.Parts()
			for i := range parts {
				parts[i] = fill(l.Modes()[i], parts[i], with)
			}
			return layout.Nest(parts...)
		}
		fill(a, c, nil)
		free := must(layout.Concat(modes...))(t)
		if s.Size() != free.Size() {
			t.Fatalf("%v of %v: %v, %d", c, a, s, offset)
		}
		for i := range free.Size() {
			with := must(free.Coord(i))(t).Parts()
			full := fill(a, c, &with)
			want := must(a.AtCoord(full))(t)
			if got := offset + must(s.At(i))(t); got != want {
				t.Fatalf("%v of %v: %d and %v, which is %d at %d, want %d at %v", c, a, offset, s, got, i, want, full)
			}
		}
	})
}
