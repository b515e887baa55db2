package layout

import (
	"slices"
	"testing"
)

// The closed forms of the PTX manual, which numbers a matrix's elements by register and half.
func TestLdmatrix(t *testing.T) {
	for _, x := range []int{1, 2, 4} {
		for _, trans := range []bool{false, true} {
			d, err := Ldmatrix(x, trans)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(d.Shape, []int{x, 8, 8}) || d.Threads() != 32 || d.Values() != 2*x {
				t.Errorf("x%d: %s", x, d)
			}
			for lane := range 32 {
				for register := range x {
					for half := range 2 {
						want := []int{register, lane / 4, lane%4*2 + half}
						if trans {
							want[1], want[2] = want[2], want[1]
						}
						if got := d.Coord(lane, 2*register+half); !slices.Equal(got, want) {
							t.Errorf("x%d, trans %t: half %d of register %d of lane %d is %v, want %v", x, trans, half, register, lane, got, want)
						}
					}
				}
			}
			if s, err := Stmatrix(x, trans); err != nil || !s.Equal(d) {
				t.Errorf("stmatrix x%d, trans %t: %s, %v; ldmatrix: %s", x, trans, s, err, d)
			}
		}
		rows, err := LdmatrixRows(x)
		if err != nil {
			t.Fatal(err)
		}
		if rows.Threads() != 8*x || rows.Values() != 1 {
			t.Errorf("x%d: rows are given by %s", x, rows)
		}
		for lane := range 8 * x {
			if got := rows.Coord(lane, 0); !slices.Equal(got, []int{lane / 8, lane % 8}) {
				t.Errorf("x%d: lane %d gives the address of %v", x, lane, got)
			}
		}
		if s, err := StmatrixRows(x); err != nil || !s.Equal(rows) {
			t.Errorf("stmatrix x%d: %s, %v; ldmatrix: %s", x, s, err, rows)
		}
	}
}

// ldmatrix is made for the 16-bit fragments: x4 loads A of m16n8k16 from its four 8x8 corners, down first; x2 with
// trans loads B from a tile that has k for rows, and without from one that has n.
func TestLdmatrixLoadsFragments(t *testing.T) {
	a, err := MMASyncA(16, 16)
	if err != nil {
		t.Fatal(err)
	}
	b, err := MMASyncB(16, 16)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		fragment *Dist
		x        int
		trans    bool
		at       func(matrix, row, column int) []int // of the operand
	}{
		{"A by rows", a, 4, false, func(m, r, c int) []int { return []int{m%2*8 + r, m/2*8 + c} }},
		{"A stored transposed", a, 4, true, func(m, r, c int) []int { return []int{m%2*8 + c, m/2*8 + r} }},
		{"B, k by rows", b, 2, true, func(m, r, c int) []int { return []int{m*8 + r, c} }},
		{"B, n by rows", b, 2, false, func(m, r, c int) []int { return []int{m*8 + c, r} }},
	} {
		d, err := Ldmatrix(c.x, c.trans)
		if err != nil {
			t.Fatal(err)
		}
		for lane := range 32 {
			for v := range d.Values() {
				e := d.Coord(lane, v)
				at := c.at(e[0], e[1], e[2])
				if want := c.fragment.Coord(lane, v); !slices.Equal(at, want) {
					t.Fatalf("%s: value %d of lane %d is loaded from %v, the fragment wants %v", c.name, v, lane, at, want)
				}
			}
		}
	}
}
