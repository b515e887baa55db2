package layout

import (
	"errors"
	"slices"
	"testing"
)

// Each element of a slice is the value that Slice names, of the same thread.
func TestSlicedDist(t *testing.T) {
	acc, err := WGMMAD(64)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d              *Dist
		axis, start, n int
	}{
		{acc, 1, 16, 16}, {acc, 1, 8, 8}, {acc, 1, 32, 32}, {acc, 1, 0, 64}, {MMASyncC(), 0, 8, 8}, {Striped2(32, 8, 32, 64, 2), 0, 12, 4},
		{Striped2(32, 8, 32, 64, 2), 1, 48, 16}, {Striped(32, 256, 2), 0, 64, 64},
	} {
		s, base, digits, err := c.d.Slice(c.axis, c.start, c.n)
		if err != nil {
			t.Errorf("%v from %d on: %v", c.d, c.start, err)
			continue
		}
		for thread := range s.Threads() {
			for i := range s.Values() {
				value, rest := base, i
				for _, p := range digits {
					value += rest % p.Size * p.Place
					rest /= p.Size
				}
				got, want := s.Coord(thread, i), c.d.Coord(thread, value)
				got[c.axis] += c.start
				if !slices.Equal(got, want) {
					t.Fatalf("%v, %d of axis %d from %d on: thread %d value %d is %v, not %v", c.d, c.n, c.axis, c.start, thread, i, got, want)
				}
			}
		}
	}
}

func TestSliceErrors(t *testing.T) {
	acc, err := WGMMAD(64)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]int{{0, 0, 16}, {1, 8, 16}, {1, 0, 4}, {1, 64, 64}, {2, 0, 1}, {1, 0, 0}} {
		if _, _, _, err := acc.Slice(c[0], c[1], c[2]); !errors.Is(err, ErrInvalid) {
			t.Errorf("Slice%v: %v, want an error", c, err)
		}
	}
}
