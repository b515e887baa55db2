package layout_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

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
