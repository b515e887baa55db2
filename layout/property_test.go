package layout_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// friendly draws a layout of small factors, which meet the conditions of the operations often.
func friendly(t *rapid.T, name string, elements, stride int) layout.Layout {
	return rapid.Custom(func(t *rapid.T) layout.Layout {
		budget := rapid.IntRange(1, elements).Draw(t, "elements")
		sizes := []int{1, 2, 2, 2, 3, 4, 4, 6, 8}
		strides := []int{0, 1, 1, 2, 2, 3, 4, 6, 8, 12, 16, 24, 32}
		var modes []layout.Layout
		for range rapid.IntRange(1, 3).Draw(t, "rank") {
			var leaves []layout.Layout
			for range rapid.IntRange(1, 2).Draw(t, "leaves") {
				n := min(rapid.SampledFrom(sizes).Draw(t, "size"), budget)
				budget /= n
				d := min(rapid.SampledFrom(strides).Draw(t, "stride"), stride)
				leaves = append(leaves, must(layout.New(layout.Int(n), layout.Int(d)))(t))
			}
			if len(leaves) == 1 {
				modes = append(modes, leaves[0])
			} else {
				modes = append(modes, must(layout.Concat(leaves...))(t))
			}
		}
		if len(modes) == 1 && rapid.Bool().Draw(t, "bare") {
			return modes[0]
		}
		return must(layout.Concat(modes...))(t)
	}).Draw(t, name)
}

// fataler is a test of any kind.
type fataler interface{ Fatal(...any) }

// must is a value that comes without an error.
func must[T any](v T, err error) func(t fataler) T {
	return func(t fataler) T {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// pair draws two operands, the second of which stays within the first more often than not.
func pair(t *rapid.T) (a, b layout.Layout) {
	if rapid.IntRange(0, 3).Draw(t, "any") == 0 {
		return anyLayout(t, "a"), anyLayout(t, "b")
	}
	return friendly(t, "a", 256, 1<<20), friendly(t, "b", 16, 32)
}

// compact draws a layout whose offsets are all of [0, Size), its modes in any order.
func compact(t *rapid.T) layout.Layout {
	sizes := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(t, "sizes")
	order := rapid.Permutation([]int{0, 1, 2, 3}[:len(sizes)]).Draw(t, "order")
	strides, d := make([]int, len(sizes)), 1
	for _, k := range order {
		strides[k] = d
		d *= sizes[k]
	}
	return must(layout.New(layout.Ints(sizes...), layout.Ints(strides...)))(t)
}

// check runs a property many times: its operands are cheap, and often do not fit.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for range 5 {
		rapid.Check(t, property)
	}
}

// enough fails where a property was hardly ever tested on a defined operation.
func enough(t *testing.T, defined int) {
	t.Helper()
	least := 50
	if testing.Short() { // rapid then runs a fifth of the checks
		least /= 5
	}
	if defined < least {
		t.Errorf("the operation was defined %d times only", defined)
	}
}

// undefined checks an error: of the right kind, and without a value.
func undefined(t *rapid.T, l layout.Layout, err error) {
	if !errors.Is(err, layout.ErrUndefined) || !l.Equal(layout.Layout{}) {
		t.Fatalf("both %v and %v", l, err)
	}
}

// leavesOf are the leaves of a layout.
func leavesOf(l layout.Layout) []layout.Layout {
	if l.Depth() == 0 {
		return []layout.Layout{l}
	}
	var out []layout.Layout
	for _, m := range l.Modes() {
		out = append(out, leavesOf(m)...)
	}
	return out
}

// digits are the indices of an index's coordinate within each mode.
func digits(l layout.Layout, i int) []int {
	var out []int
	for _, m := range l.Modes() {
		out = append(out, i%m.Size())
		i /= m.Size()
	}
	return out
}
