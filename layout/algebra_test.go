package layout_test

import (
	"errors"
	"slices"
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

// check runs a property many times: its operands are cheap, and often do not fit.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for range 10 {
		rapid.Check(t, property)
	}
}

// enough fails where a property was hardly ever tested on a defined operation.
func enough(t *testing.T, defined int) {
	t.Helper()
	if defined < 100 {
		t.Errorf("the operation was defined %d times only", defined)
	}
}

// undefined checks an error: of the right kind, and without a value.
func undefined(t *rapid.T, l layout.Layout, err error) {
	if !errors.Is(err, layout.ErrUndefined) || !l.Equal(layout.Layout{}) {
		t.Fatalf("both %v and %v", l, err)
	}
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
		a, b := friendly(t, "a", 4, 2), friendly(t, "b", 4, 2)
		if got, want := a.Equivalent(b), slices.Equal(offsets(a), offsets(b)); got != want {
			t.Fatalf("%v and %v are equivalent: %v, by evaluation %v", a, b, got, want)
		} else if got {
			same++
		}
	})
	enough(t, same)
}

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

// TestDivide: R(i, j) = A(B(i) + C(j)), C being the complement of B, and every element once.
func TestDivide(t *testing.T) {
	defined := 0
	check(t, func(t *rapid.T) {
		a, b := pair(t)
		if rapid.Bool().Draw(t, "compact") {
			a = compact(t)
		}
		r, err := a.LogicalDivide(b)
		c, none := b.Complement(a.Size())
		if none != nil {
			undefined(t, r, err)
			return
		}
		// The division is defined if B and C reach each index once and the composition is defined.
		reached := map[int]bool{}
		for _, y := range c.Offsets() {
			for _, x := range b.Offsets() {
				reached[x+y] = true
			}
		}
		both := must(layout.Concat(b, c))(t)
		fills := len(reached) == a.Size() && both.Size() == a.Size() && both.Cosize() == a.Size()
		if (err == nil) != (fills && composable(a, both)) {
			t.Fatalf("%v by %v: %v, %v; B and its complement %v fill A: %v", a, b, r, err, c, fills)
		}
		if err != nil {
			undefined(t, r, err)
			return
		}
		defined++
		at := offsets(a)
		i := 0
		for _, y := range c.Offsets() {
			for _, x := range b.Offsets() {
				if got := must(r.At(i))(t); got != at[x+y] {
					t.Fatalf("%v by %v is %v, which is %d at %d, want %d", a, b, r, got, i, at[x+y])
				}
				i++
			}
		}
		if r.Rank() != 2 || r.Modes()[0].Size() != b.Size() {
			t.Fatalf("%v by %v is %v, not a tile and the rest", a, b, r)
		}
	})
	enough(t, defined)
}

// TestZippedAndTiled: the modes of a division or a product by mode, gathered.
func TestZippedAndTiled(t *testing.T) {
	defined := 0
	check(t, func(t *rapid.T) {
		a := must(layout.Concat(compact(t), friendly(t, "a1", 16, 1<<20), friendly(t, "a2", 4, 1<<20)))(t)
		tiler := layout.ByMode{friendly(t, "b0", 4, 8), friendly(t, "b1", 4, 8)}
		for name, ops := range map[string][3]func(layout.Tiler) (layout.Layout, error){
			"divide":  {a.LogicalDivide, a.ZippedDivide, a.TiledDivide},
			"product": {a.LogicalProduct, a.ZippedProduct, a.TiledProduct},
		} {
			logical, err := ops[0](tiler)
			zipped, err1 := ops[1](tiler)
			tiled, err2 := ops[2](tiler)
			if (err == nil) != (err1 == nil) || (err == nil) != (err2 == nil) {
				t.Fatalf("%s of %v by %v: %v, %v, %v", name, a, tiler, err, err1, err2)
			}
			if err != nil {
				undefined(t, zipped, err1)
				undefined(t, tiled, err2)
				continue
			}
			defined++
			m := logical.Modes()
			first := must(layout.Concat(m[0].Modes()[0], m[1].Modes()[0]))(t)
			rest := []layout.Layout{m[0].Modes()[1], m[1].Modes()[1], m[2]}
			if want := must(layout.Concat(first, must(layout.Concat(rest...))(t)))(t); !zipped.Equal(want) {
				t.Fatalf("%s of %v by %v, zipped: %v, want %v", name, a, tiler, zipped, want)
			}
			if want := must(layout.Concat(append([]layout.Layout{first}, rest...)...))(t); !tiled.Equal(want) {
				t.Fatalf("%s of %v by %v, tiled: %v, want %v", name, a, tiler, tiled, want)
			}
		}
		// With a layout for a tiler there is one tile and one rest.
		logical, err := a.LogicalDivide(tiler[0])
		zipped, err1 := a.ZippedDivide(tiler[0])
		tiled, err2 := a.TiledDivide(tiler[0])
		if err != nil {
			undefined(t, zipped, err1)
			undefined(t, tiled, err2)
			return
		}
		tile, rest := logical.Modes()[0], logical.Modes()[1]
		if want := must(layout.Concat(append([]layout.Layout{tile}, rest.Modes()...)...))(t); !zipped.Equal(logical) || !tiled.Equal(want) {
			t.Fatalf("%v by %v is %v, zipped %v, tiled %v", a, tiler[0], logical, zipped, tiled)
		}
	})
	enough(t, defined)
}

// TestProduct: R(i, j) = A(i) + C(B(j)), C being the complement of A, and copies do not meet.
func TestProduct(t *testing.T) {
	defined := 0
	check(t, func(t *rapid.T) {
		b, a := pair(t)
		r, err := a.LogicalProduct(b)
		c, none := a.Complement(a.Size() * b.Cosize())
		if (err == nil) != (none == nil && composable(c, b)) {
			t.Fatalf("product of %v and %v: %v, %v", a, b, r, err)
		}
		if err != nil {
			undefined(t, r, err)
			return
		}
		defined++
		at, copies := offsets(a), offsets(c)
		owner := map[int]int{} // the place in C of the copy that has an offset
		i := 0
		for _, y := range b.Offsets() {
			for _, x := range at {
				got := must(r.At(i))(t)
				if got != x+copies[y] {
					t.Fatalf("product of %v and %v: %v is %d at %d, want %d", a, b, r, got, i, x+copies[y])
				}
				if other, ok := owner[got]; ok && other != y {
					t.Fatalf("product of %v and %v: %v; copies %d and %d meet at %d", a, b, r, other, y, got)
				}
				owner[got] = y
				i++
			}
		}
		if r.Rank() != 2 || !r.Modes()[0].Equal(a) {
			t.Fatalf("product of %v and %v: %v", a, b, r)
		}
		blockedAndRaked(t, a, b)
	})
	enough(t, defined)
}

// blockedAndRaked checks that the two have the offsets of the logical product at the coordinates that they pair.
func blockedAndRaked(t *rapid.T, a, b layout.Layout) {
	product := must(a.LogicalProduct(b))(t)
	rank := max(a.Rank(), b.Rank())
	blocked, raked := must(a.BlockedProduct(b))(t), must(a.RakedProduct(b))(t)
	if blocked.Rank() != rank || raked.Rank() != rank {
		t.Fatalf("%v and %v: blocked %v, raked %v", a, b, blocked, raked)
	}
	at := offsets(product)
	for j := range b.Size() {
		for i := range a.Size() {
			inA, inB := digits(a, i), digits(b, j)
			var ab, ba []layout.Tuple
			for k := range rank {
				var x, y int
				if k < len(inA) {
					x = inA[k]
				}
				if k < len(inB) {
					y = inB[k]
				}
				ab, ba = append(ab, layout.Ints(x, y)), append(ba, layout.Ints(y, x))
			}
			want := at[i+a.Size()*j]
			if got := must(blocked.AtCoord(layout.Nest(ab...)))(t); got != want {
				t.Fatalf("%v and %v: blocked %v is %d at %v, want %d", a, b, blocked, got, ab, want)
			}
			if got := must(raked.AtCoord(layout.Nest(ba...)))(t); got != want {
				t.Fatalf("%v and %v: raked %v is %d at %v, want %d", a, b, raked, got, ba, want)
			}
		}
	}
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

// TestTileToShape: block number j in the given order is copy j of the block; sizes are the shape's.
func TestTileToShape(t *testing.T) {
	check(t, func(t *rapid.T) {
		block := compact(t)
		rank := rapid.IntRange(block.Rank(), 4).Draw(t, "rank")
		order := rapid.Permutation([]int{0, 1, 2, 3}[:rank]).Draw(t, "order")
		var sizes, counts, within []int
		for k := range rank {
			n := 1
			if k < block.Rank() {
				n = block.Modes()[k].Size()
			}
			counts, within = append(counts, rapid.IntRange(1, 3).Draw(t, "count")), append(within, n)
			sizes = append(sizes, n*counts[k])
		}
		r := must(block.TileToShape(layout.Ints(sizes...), order...))(t)
		if r.Rank() != rank {
			t.Fatalf("%v to %v: %v", block, sizes, r)
		}
		for i := range r.Size() {
			at := digits(r, i)
			tile, step := 0, 1
			inner := make([]int, block.Rank())
			for _, k := range order {
				tile += at[k] / within[k] * step
				step *= counts[k]
				if k < len(inner) {
					inner[k] = at[k] % within[k]
				}
			}
			want := must(block.AtCoord(layout.Ints(inner...)))(t) + tile*block.Size()
			if got := must(r.At(i))(t); got != want {
				t.Fatalf("%v to %v, order %v: %v is %d at %v, want %d", block, sizes, order, r, got, at, want)
			}
		}
	})
}

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
