package layout_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// TestCoalesce: the same function, flat, with the fewest modes; by mode, each part for itself.
func TestCoalesce(t *testing.T) {
	check(t, func(t *rapid.T) {
		l := anyLayout(t, "l")
		r := l.Coalesce()
		if !slices.Equal(offsets(l), offsets(r)) || r.Depth() > 1 {
			t.Fatalf("%v coalesces to %v", l, r)
		}
		modes := r.Modes()
		for i, m := range modes {
			if m.Size() == 1 && (len(modes) > 1 || r.String() != "1:0") {
				t.Fatalf("%v coalesces to %v, which has a mode of size 1", l, r)
			}
			if i > 0 && mergeable(t, modes[i-1], m) {
				t.Fatalf("%v coalesces to %v, whose modes %d and %d are one", l, r, i-1, i)
			}
		}
		if f := l.Flatten(); !slices.Equal(offsets(f), offsets(l)) || f.Depth() > 1 || len(leavesOf(f)) != len(leavesOf(l)) {
			t.Fatalf("%v flattens to %v", l, f)
		}
		ones := make([]int, rapid.IntRange(0, l.Rank()).Draw(t, "modes"))
		by, err := l.CoalesceBy(layout.Ints(ones...))
		if l.Depth() == 0 {
			if !errors.Is(err, layout.ErrInvalid) {
				t.Fatalf("a profile of %d modes for %v: %v, %v", len(ones), l, by, err)
			}
			return
		}
		if err != nil || by.Rank() != l.Rank() {
			t.Fatalf("%v by %d modes: %v (%v)", l, len(ones), by, err)
		}
		for i, m := range l.Modes() {
			if i < len(ones) {
				m = m.Coalesce()
			}
			if !by.Modes()[i].Equal(m) {
				t.Fatalf("%v by %d modes: %v; mode %d should be %v", l, len(ones), by, i, m)
			}
		}
	})
}

// mergeable reports whether two leaves n0:d0 and n1:d1 are one leaf.
func mergeable(t *rapid.T, m0, m1 layout.Layout) bool {
	d0, _ := m0.Stride().Int()
	d1, _ := m1.Stride().Int()
	return d1 == m0.Size()*d0
}

// TestEquivalent: layouts are equivalent exactly if they have the same offsets.
func TestEquivalent(t *testing.T) {
	same := 0
	check(t, func(t *rapid.T) {
		a, b := friendly(t, "a", 8, 4), friendly(t, "b", 8, 4)
		if rapid.Bool().Draw(t, "same") {
			b = must(layout.Concat(layout.MustParse("1:3"), a.Coalesce()))(t)
		}
		if got, want := a.Equivalent(b), slices.Equal(offsets(a), offsets(b)); got != want {
			t.Fatalf("%v and %v are equivalent: %v, by evaluation %v", a, b, got, want)
		} else if got {
			same++
		}
	})
	enough(t, same)
}
