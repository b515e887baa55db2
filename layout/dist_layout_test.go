package layout_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// TestDistLayout: the thread-value layout is the column-major index of each coordinate, and comes back as the
// distribution; composed with a tile's layout it gives offsets in that tile.
func TestDistLayout(t *testing.T) {
	exact := 0
	check(t, func(t *rapid.T) {
		threads := 1 << rapid.IntRange(0, 5).Draw(t, "threads")
		across := 1 << rapid.IntRange(0, 5).Draw(t, "across")
		d := layout.Striped2(threads, min(across, threads), rapid.IntRange(1, 40).Draw(t, "rows"), rapid.IntRange(1, 40).Draw(t, "cols"),
			1<<rapid.IntRange(0, 3).Draw(t, "vec"))
		if rapid.Bool().Draw(t, "reduced") {
			d = d.Reduce(rapid.IntRange(0, 1).Draw(t, "axis"))
		}
		tv, err := d.Layout()
		ragged := false
		for axis, n := range d.Shape {
			ragged = ragged || d.Covered(axis) > n
		}
		if (err != nil) != ragged {
			t.Fatalf("%s: %v, %v", d, tv, err)
		}
		if err != nil {
			undefined(t, tv, err)
			return
		}
		exact++
		back, err := layout.DistOf(tv, d.Shape...)
		if err != nil {
			t.Fatalf("%s is %v: %v", d, tv, err)
		}
		row := must(layout.RowMajor(layout.Ints(d.Shape...)))(t)
		inRow := must(row.Compose(tv))(t)
		for th := range d.Threads() {
			for v := range d.Values() {
				at := d.Coord(th, v)
				col := must(layout.ColMajor(layout.Ints(d.Shape...)))(t)
				want := must(col.AtCoord(layout.Ints(at...)))(t)
				if got := must(tv.AtCoord(layout.Ints(th, v)))(t); got != want {
					t.Fatalf("%s is %v: value %d of thread %d at %d, want %d", d, tv, v, th, got, want)
				}
				want = must(row.AtCoord(layout.Ints(at...)))(t)
				if got := must(inRow.AtCoord(layout.Ints(th, v)))(t); got != want {
					t.Fatalf("%s in %v: value %d of thread %d at %d, want %d", d, row, v, th, got, want)
				}
				if got := back.Coord(th, v); !slices.Equal(got, at) {
					t.Fatalf("%s is %v, which is %s", d, tv, back)
				}
			}
		}
	})
	enough(t, exact)
}

// TestDistOf: a layout is a distribution where each leaf moves along an axis, or goes through whole ones.
func TestDistOf(t *testing.T) {
	for _, c := range []struct {
		tv    string
		shape []int
		want  string
		kind  error
	}{
		{"((4,8),(2,2,2)):((32,1),(16,8,128))", []int{16, 16}, "[16,16] thread (4:2@1,8:1@0) value (2:1@1,2:8@0,2:8@1)", nil},
		{"(32,4):(1,32)", []int{8, 16}, "[8,16] thread (8:1@0,4:1@1) value (4:4@1)", nil},
		{"(16,1):(1,0)", []int{8, 4}, "[8,4] thread (8:1@0,2:1@1) value ()", nil},
		{"(2,8):(1,2)", []int{4, 2, 2}, "[4,2,2] thread (2:1@0) value (2:2@0,2:1@1,2:1@2)", nil},
		{"(32,1):(0,0)", []int{1}, "[1] thread (32:0) value ()", nil},
		{"(16,3):(2,0)", []int{8, 4}, "[8,4] thread (4:2@0,4:1@1) value (3:0)", nil},
		{"(32,4):(1,32)", []int{8, 8}, "", layout.ErrUndefined}, // past the shape
		{"(12,1):(1,0)", []int{8, 4}, "", layout.ErrUndefined},  // one and a half columns
		{"(2,2):(9,1)", []int{8, 4}, "", layout.ErrUndefined},   // a diagonal
		{"(4,4):(3,1)", []int{8, 4}, "", layout.ErrUndefined},   // carries
		{"(2,2):(6,3)", []int{8, 4}, "", layout.ErrUndefined},   // carries together
		{"(2,2,2):(1,2,4)", []int{8}, "", layout.ErrInvalid},    // three modes
		{"8:1", []int{8}, "", layout.ErrInvalid},                // one mode
		{"(4,2):(1,4)", []int{8, 0}, "", layout.ErrInvalid},     // no tile
		{"(4,2):(1,4)", []int{1 << 62, 4}, "", layout.ErrLimit}, // too many places
	} {
		d, err := layout.DistOf(layout.MustParse(c.tv), c.shape...)
		if c.kind != nil {
			if !errors.Is(err, c.kind) || d != nil {
				t.Errorf("%s in %v: %v, %v; want %v", c.tv, c.shape, d, err, c.kind)
			}
		} else if err != nil || d.String() != c.want {
			t.Errorf("%s in %v: %v (%v), want %s", c.tv, c.shape, d, err, c.want)
		}
	}
	want := "layout: (32,4):(1,32) as a distribution: it reaches 127, the shape [8 8] has 64 places"
	if _, err := layout.DistOf(layout.MustParse("(32,4):(1,32)"), 8, 8); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, m := range []layout.Mode{{Size: 4, Axis: 2, Stride: 1}, {Size: 0, Axis: 0, Stride: 1}, {Size: 4, Axis: 0, Stride: -1}, {Size: 4, Axis: -2}} {
		d := &layout.Dist{Shape: []int{8, 8}, Thread: []layout.Mode{m}}
		if l, err := d.Layout(); !errors.Is(err, layout.ErrInvalid) {
			t.Errorf("%v: %v, %v", m, l, err)
		}
	}
	wide := &layout.Dist{Shape: []int{8}, Thread: []layout.Mode{{Size: 1 << 32, Axis: 0, Stride: 1 << 32}}}
	if l, err := wide.Layout(); !errors.Is(err, layout.ErrUndefined) {
		t.Errorf("%s: %v, %v", wide, l, err)
	}
	one := &layout.Dist{Shape: []int{8, 8}, Thread: []layout.Mode{{Size: 1, Axis: 1, Stride: 1 << 62}}}
	if l, err := one.Layout(); err != nil || l.String() != "(1,1):(0,0)" {
		t.Errorf("%s: %v, %v", one, l, err)
	}
	big := &layout.Dist{Shape: []int{1 << 32, 1 << 32}}
	if l, err := big.Layout(); !errors.Is(err, layout.ErrLimit) {
		t.Errorf("%s: %v, %v", big, l, err)
	}
}

// TestConformanceThreadValue: CuTe's thread-value layouts of the fragments are ours, and become our distributions.
func TestConformanceThreadValue(t *testing.T) {
	var cases []struct {
		ID, Operand string
		Rows, Cols  int
		TV          text `json:"cute_tv_layout"`
	}
	readSection(t, "fragments", &cases)
	if len(cases) == 0 {
		t.Error("fragments is empty")
	}
	for _, c := range cases {
		want := parse(t, c.TV)
		d := must(fragments[c.ID]())(t)
		got := must(d.Layout())(t)
		if c.Operand == "B" { // CuTe has n, k, column-major; PTX and we k, n
			got = must(must(layout.RowMajor(layout.Ints(d.Shape...)))(t).Compose(got))(t)
		}
		for i, m := range got.Modes() {
			if !m.Equivalent(want.Modes()[i]) {
				t.Errorf("%s: %v, want %v", c.ID, got, want)
			}
		}
		back := must(layout.DistOf(want, c.Rows, c.Cols))(t)
		if again := must(back.Layout())(t); !again.Equivalent(want) || back.Threads() != d.Threads() || back.Values() != d.Values() {
			t.Errorf("%s: %v becomes %s, which is %v", c.ID, want, back, again)
		}
		if c.Operand != "B" && !back.Equal(d) {
			t.Errorf("%s: %v is %s, want %s", c.ID, want, back, d)
		}
	}
}
