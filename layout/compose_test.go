package layout_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// isLayout reports whether numbers, the first of which is 0, are the offsets of some layout: either they rise evenly,
// or the run that does is a whole part of them and is repeated at the offsets of a layout.
func isLayout(f []int) bool {
	n := len(f)
	run := 1
	for run < n && f[run] == run*f[1] {
		run++
	}
	if run == n {
		return true
	}
	if n%run != 0 {
		return false
	}
	var starts []int
	for i := 0; i < n; i += run {
		starts = append(starts, f[i])
		for j := range run {
			if f[i+j] != f[i]+f[j] {
				return false
			}
		}
	}
	return isLayout(starts)
}

// composable reports by evaluation whether A o B is a layout with the shape of B, for strides of A's coalesced modes
// that are so far apart that no offsets are equal by chance.
func composable(a, b layout.Layout) bool {
	if b.Cosize() > a.Size() {
		return false
	}
	apart := 2*a.Size() + 1
	at, inner := make([]int, a.Size()), offsets(b)
	for i := range at {
		rest, stride := i, 1
		for _, m := range a.Coalesce().Modes() {
			at[i] += rest % m.Size() * stride
			rest /= m.Size()
			stride *= apart
		}
	}
	sum := make([]int, len(inner)) // of the leaves' parts
	before := 1
	for _, leaf := range leavesOf(b) {
		var f []int
		for _, x := range leaf.Offsets() {
			f = append(f, at[x])
		}
		base := f[0]
		for i := range f {
			f[i] -= base
		}
		if !isLayout(f) {
			return false
		}
		for i := range sum {
			sum[i] += f[i/before%len(f)]
		}
		before *= len(f)
	}
	for i, x := range inner {
		if at[x] != sum[i] {
			return false
		}
	}
	return true
}

// TestCompose: R(c) = A(B(c)) with the shape of B; and it is an error exactly where there is no such layout, but
// by chance.
func TestCompose(t *testing.T) {
	defined := 0
	check(t, func(t *rapid.T) {
		a, b := pair(t)
		r, err := a.Compose(b)
		if (err == nil) != composable(a, b) {
			t.Fatalf("%v o %v: %v, %v; by evaluation the composition is a layout: %v", a, b, r, err, err != nil)
		}
		if err != nil {
			undefined(t, r, err)
			return
		}
		defined++
		at := offsets(a)
		for i, x := range b.Offsets() {
			if got := must(r.At(i))(t); got != at[x] {
				t.Fatalf("%v o %v is %v, which is %d at %d, want %d", a, b, r, got, i, at[x])
			}
		}
		refines(t, b, r)
	})
	enough(t, defined)
}

// refines fails where r has not the shape of b, but for leaves that have become tuples of the same size.
func refines(t *rapid.T, b, r layout.Layout) {
	if b.Depth() == 0 {
		if r.Size() != b.Size() || r.Depth() > 1 {
			t.Fatalf("%v in the place of %v", r, b)
		}
		return
	}
	if r.Depth() == 0 || r.Rank() != b.Rank() {
		t.Fatalf("%v in the place of %v", r, b)
	}
	for i, m := range b.Modes() {
		refines(t, m, r.Modes()[i])
	}
}

// TestComposeByMode: each mode is composed with its own; those after the tiler's stay.
func TestComposeByMode(t *testing.T) {
	defined := 0
	check(t, func(t *rapid.T) {
		a, b0, b1 := friendly(t, "a", 256, 1<<20), friendly(t, "b0", 4, 8), friendly(t, "b1", 4, 8)
		tiler := layout.ByMode{b0, b1}[:rapid.IntRange(0, 2).Draw(t, "modes")]
		r, err := a.Compose(tiler)
		if len(tiler) > a.Rank() {
			if !errors.Is(err, layout.ErrInvalid) {
				t.Fatalf("%v by %v: %v, %v", a, tiler, r, err)
			}
			return
		}
		var want []layout.Layout
		for i, m := range a.Modes() {
			if i < len(tiler) {
				var one error
				if m, one = m.Compose(tiler[i]); one != nil {
					undefined(t, r, err)
					return
				}
			}
			want = append(want, m)
		}
		if all := must(layout.Concat(want...))(t); err != nil || !r.Equal(all) {
			t.Fatalf("%v by %v: %v (%v), want %v", a, tiler, r, err, all)
		}
		defined++
	})
	enough(t, defined)
}

// TestTuplesAreTilers: n stands for n:1, a tuple for its parts by mode.
func TestTuplesAreTilers(t *testing.T) {
	a := layout.MustParse("(12,(4,8)):(59,(13,1))")
	shape := must(layout.ParseTuple("(3,(2,4))"))(t)
	byMode := layout.ByMode{layout.MustParse("3:1"), layout.ByMode{layout.MustParse("2:1"), layout.MustParse("4:1")}}
	for name, op := range map[string]func(layout.Tiler) (layout.Layout, error){
		"Compose": a.Compose, "LogicalDivide": a.LogicalDivide, "ZippedDivide": a.ZippedDivide, "TiledDivide": a.TiledDivide,
		"LogicalProduct": a.LogicalProduct, "ZippedProduct": a.ZippedProduct, "TiledProduct": a.TiledProduct,
	} {
		got, want := must(op(shape))(t), must(op(byMode))(t)
		if !got.Equal(want) {
			t.Errorf("%s by %v: %v, want %v", name, shape, got, want)
		}
	}
	got, want := must(a.Compose(layout.Int(12)))(t), must(a.Compose(layout.MustParse("12:1")))(t)
	if !got.Equal(want) {
		t.Errorf("by 12: %v, want %v", got, want)
	}
}
