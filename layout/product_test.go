package layout_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

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
