package layout_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// TestComplement: disjoint, ordered and, where strides divide, covering; an error exactly where modes overlap.
func TestComplement(t *testing.T) {
	defined, covering := 0, 0
	check(t, func(t *rapid.T) {
		a, _ := pair(t)
		n := rapid.IntRange(1, 200).Draw(t, "n")
		r, err := a.Complement(n)
		var moving []layout.Layout // leaves that move the offset, by stride
		for _, f := range leavesOf(a) {
			if f.Size() > 1 && f.Cosize() > 1 {
				moving = append(moving, f)
			}
		}
		stride := func(l layout.Layout) int { d, _ := l.Stride().Int(); return d }
		slices.SortFunc(moving, func(a, b layout.Layout) int { return stride(a) - stride(b) })
		extent, overlap, divides := 1, false, true
		for _, f := range moving {
			overlap = overlap || stride(f) < extent
			divides = divides && stride(f)%extent == 0
			extent = stride(f) * f.Size()
		}
		if (err != nil) != overlap {
			t.Fatalf("complement of %v: %v, %v", a, r, err)
		}
		if err != nil {
			undefined(t, r, err)
			return
		}
		defined++
		f := must(layout.Concat(moving...))(t)
		seen := map[int]bool{}
		last := -1
		for _, y := range r.Offsets() {
			if y <= last {
				t.Fatalf("complement of %v within %d: %v, where %d follows %d", a, n, r, y, last)
			}
			last = y
			for _, x := range f.Offsets() {
				if seen[x+y] {
					t.Fatalf("complement of %v within %d: %v, whose copies meet at %d", a, n, r, x+y)
				}
				seen[x+y] = true
			}
		}
		if !divides {
			return
		}
		covering++
		m := (n + extent - 1) / extent * extent
		for i := range m {
			if !seen[i] {
				t.Fatalf("complement of %v within %d: %v, which leaves out %d", a, n, r, i)
			}
		}
		if len(seen) != m {
			t.Fatalf("complement of %v within %d: %v covers %d, want %d", a, n, r, len(seen), m)
		}
	})
	enough(t, defined)
	enough(t, covering)
}

// TestRightInverse: A(R(i)) = i, and no mode of A goes on where R ends; all of A where A is compact.
func TestRightInverse(t *testing.T) {
	long := 0
	check(t, func(t *rapid.T) {
		a, _ := pair(t)
		r := a.RightInverse()
		for i, x := range r.Offsets() {
			if got, err := a.At(x); err != nil || got != i {
				t.Fatalf("right inverse %v of %v: %d becomes %d and %d (%v)", r, a, i, x, got, err)
			}
		}
		for _, f := range leavesOf(a) {
			if d, _ := f.Stride().Int(); f.Size() > 1 && d == r.Size() {
				t.Fatalf("right inverse %v of %v: %v would go on", r, a, f)
			}
		}
		if r.Size() > 1 {
			long++
		}
	})
	enough(t, long)
}

// TestInverseOfCompact: a permutation of a compact layout's modes has one inverse, from both sides.
func TestInverseOfCompact(t *testing.T) {
	check(t, func(t *rapid.T) {
		a := compact(t)
		r, l := a.RightInverse(), must(a.LeftInverse())(t)
		if r.Size() != a.Size() || !l.Equivalent(r) {
			t.Fatalf("%v: right inverse %v, left inverse %v", a, r, l)
		}
	})
}

// TestLeftInverse: L(A(i)) = i, the least index where elements repeat; an error only where strides overlap or do not
// divide.
func TestLeftInverse(t *testing.T) {
	defined := 0
	check(t, func(t *rapid.T) {
		a, _ := pair(t)
		l, err := a.LeftInverse()
		strides := map[int]int{} // size by stride
		same := false
		for _, f := range leavesOf(a) {
			if d, _ := f.Stride().Int(); f.Size() > 1 && d > 0 {
				same = same || strides[d] > 0
				strides[d] = f.Size()
			}
		}
		bad := same
		for d, n := range strides {
			for e := range strides {
				bad = bad || e > d && (e%d != 0 || e < n*d)
			}
		}
		if (err != nil) != bad {
			t.Fatalf("left inverse of %v: %v, %v", a, l, err)
		}
		if err != nil {
			undefined(t, l, err)
			return
		}
		defined++
		leftInverse(t, a, l)
		seen := map[int]bool{}
		for i, x := range a.Offsets() {
			if back := must(l.At(x))(t); !seen[x] && back != i {
				t.Fatalf("left inverse %v of %v: %d becomes %d and %d", l, a, i, x, back)
			}
			seen[x] = true
		}
	})
	enough(t, defined)
}
