package layout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// formula is a fragment and where the PTX manual says that value i of a thread is.
type formula struct {
	name  string
	dist  *Dist
	shape []int
	coord func(thread, i int) []int
}

// formulas are the fragments. The manual writes groupID for lane/4, and its conditions on i as lists; here they are
// written for each width on its own, so that they do not repeat how the code derives them.
func formulas(t *testing.T) []formula {
	must := func(d *Dist, err error) *Dist {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	low := func(lane int) int { return lane / 4 }
	quad := func(lane int) int { return lane % 4 }
	out := []formula{
		{"m16n8k4 tf32 A", must(MMASyncA(4, 32)), []int{16, 4}, func(l, i int) []int { return []int{low(l) + 8*i, quad(l)} }},
		{"m16n8k4 tf32 B", must(MMASyncB(4, 32)), []int{4, 8}, func(l, i int) []int { return []int{quad(l), low(l)} }},
		{"m16n8k8 tf32 A", must(MMASyncA(8, 32)), []int{16, 8}, func(l, i int) []int {
			return [][]int{{low(l), quad(l)}, {low(l) + 8, quad(l)}, {low(l), quad(l) + 4}, {low(l) + 8, quad(l) + 4}}[i]
		}},
		{"m16n8k8 tf32 B", must(MMASyncB(8, 32)), []int{8, 8}, func(l, i int) []int { return []int{quad(l) + 4*i, low(l)} }},
		{"m16n8k8 f16 A", must(MMASyncA(8, 16)), []int{16, 8}, func(l, i int) []int { return []int{low(l) + 8*(i>>1), 2*quad(l) + i&1} }},
		{"m16n8k8 f16 B", must(MMASyncB(8, 16)), []int{8, 8}, func(l, i int) []int { return []int{2*quad(l) + i, low(l)} }},
		{"m16n8k16 f16 A", must(MMASyncA(16, 16)), []int{16, 16}, func(l, i int) []int {
			m, k := low(l), 2*quad(l)+i&1
			if i == 2 || i == 3 || i == 6 || i == 7 {
				m += 8
			}
			if i >= 4 {
				k += 8
			}
			return []int{m, k}
		}},
		{"m16n8k16 f16 B", must(MMASyncB(16, 16)), []int{16, 8}, func(l, i int) []int {
			k := 2*quad(l) + i&1
			if i >= 2 {
				k += 8
			}
			return []int{k, low(l)}
		}},
		{"m16n8k16 8 bits A", must(MMASyncA(16, 8)), []int{16, 16}, func(l, i int) []int { return []int{low(l) + i&4*2, 4*quad(l) + i&3} }},
		{"m16n8k16 8 bits B", must(MMASyncB(16, 8)), []int{16, 8}, func(l, i int) []int { return []int{4*quad(l) + i, low(l)} }},
		{"m16n8k32 8 bits A", must(MMASyncA(32, 8)), []int{16, 32}, func(l, i int) []int {
			m, k := low(l), 4*quad(l)+i&3
			if 4 <= i && i < 8 || i >= 12 {
				m += 8
			}
			if i >= 8 {
				k += 16
			}
			return []int{m, k}
		}},
		{"m16n8k32 8 bits B", must(MMASyncB(32, 8)), []int{32, 8}, func(l, i int) []int { return []int{4*quad(l) + i&3 + i>>2*16, low(l)} }},
		{"m16n8k32 4 bits A", must(MMASyncA(32, 4)), []int{16, 32}, func(l, i int) []int { return []int{low(l) + i&8, 8*quad(l) + i&7} }},
		{"m16n8k64 4 bits A", must(MMASyncA(64, 4)), []int{16, 64}, func(l, i int) []int { return []int{low(l) + i&8, 8*quad(l) + i&7 + i>>4*32} }},
		{"m16n8k64 4 bits B", must(MMASyncB(64, 4)), []int{64, 8}, func(l, i int) []int { return []int{8*quad(l) + i&7 + i>>3*32, low(l)} }},
		{"m16n8 C", MMASyncC(), []int{16, 8}, func(l, i int) []int { return []int{low(l) + 8*(i>>1), 2*quad(l) + i&1} }},
		{"wgmma A, tf32", must(WGMMAA(32)), []int{64, 8}, func(th, i int) []int {
			return []int{16*(th/32) + low(th%32) + 8*(i&1), quad(th) + 4*(i>>1)}
		}},
		{"wgmma A, 16 bits", must(WGMMAA(16)), []int{64, 16}, func(th, i int) []int {
			return []int{16*(th/32) + low(th%32) + 8*(i>>1&1), 2*quad(th) + i&1 + 8*(i>>2)}
		}},
		{"wgmma A, 8 bits", must(WGMMAA(8)), []int{64, 32}, func(th, i int) []int {
			return []int{16*(th/32) + low(th%32) + 8*(i>>2&1), 4*quad(th) + i&3 + 16*(i>>3)}
		}},
	}
	for _, f := range []struct{ m, n, warps int }{{16, 8, 1}, {16, 16, 1}, {48, 24, 1}, {64, 8, 4}, {128, 40, 4}} {
		out = append(out, formula{fmt.Sprintf("fragment %dx%d of %d warps", f.m, f.n, f.warps), must(Fragment(f.m, f.n, f.warps)), []int{f.m, f.n}, func(th, i int) []int {
			tile := i / 4 // of 16x8, of the warp's own rows
			return []int{16*(th/32+tile/(f.n/8)*f.warps) + low(th%32) + 8*(i>>1&1), 2*quad(th) + i&1 + 8*(tile%(f.n/8))}
		}})
	}
	for n := 8; n <= 256; n += 8 {
		out = append(out, formula{fmt.Sprintf("wgmma m64n%d D", n), must(WGMMAD(n)), []int{64, n}, func(th, i int) []int {
			return []int{16*(th/32) + low(th%32) + 8*(i>>1&1), 2*quad(th) + i&1 + 8*(i>>2)}
		}})
	}
	return out
}

func TestFragmentFormulas(t *testing.T) {
	for _, f := range formulas(t) {
		if !slices.Equal(f.dist.Shape, f.shape) {
			t.Errorf("%s: shape %v, want %v", f.name, f.dist.Shape, f.shape)
		}
		for th := range f.dist.Threads() {
			for i := range f.dist.Values() {
				if got, want := f.dist.Coord(th, i), f.coord(th, i); !slices.Equal(got, want) {
					t.Fatalf("%s: value %d of thread %d is at %v, want %v", f.name, i, th, got, want)
				}
			}
		}
	}
}

// Each fragment holds each element of its operand exactly once: threads times values are as many as elements, none
// lies outside, and none is met twice.
func TestFragmentsCoverOnce(t *testing.T) {
	for _, f := range formulas(t) {
		coversOnce(t, f.name, f.dist)
	}
	for _, x := range []int{1, 2, 4} {
		for _, trans := range []bool{false, true} {
			d, err := Ldmatrix(x, trans)
			if err != nil {
				t.Fatal(err)
			}
			coversOnce(t, fmt.Sprintf("ldmatrix x%d, trans %t", x, trans), d)
		}
		rows, err := LdmatrixRows(x)
		if err != nil {
			t.Fatal(err)
		}
		coversOnce(t, fmt.Sprintf("rows of ldmatrix x%d", x), rows)
	}
}

// Tiles of an accumulator and of operands lie in the registers of the instructions' fragments, and the transpose of a
// fragment is the same registers read the other way.
func TestFragmentOfInstructions(t *testing.T) {
	must := func(d *Dist, err error) *Dist {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, f := range []struct {
		name       string
		have, want *Dist
	}{
		{"accumulator of mma.sync", must(Fragment(16, 8, 1)), MMASyncC()},
		{"A of mma.sync", must(Fragment(16, 16, 1)), must(MMASyncA(16, 16))},
		{"accumulator of wgmma", must(Fragment(64, 96, 4)), must(WGMMAD(96))},
		{"A of wgmma", must(Fragment(64, 16, 4)), must(WGMMAA(16))},
		{"twice transposed", must(must(Fragment(32, 48, 1)).Transpose()), must(must(must(must(Fragment(32, 48, 1)).Transpose()).Transpose()).Transpose())},
	} {
		if !f.have.Equal(f.want) {
			t.Errorf("%s: %v, want %v", f.name, f.have, f.want)
		}
	}
	// The first two registers of B are registers 0 and 2 of a fragment [n, k], the other column's 1 and 3.
	b, frag := must(MMASyncB(16, 16)), must(Fragment(16, 16, 1))
	for lane := range 32 {
		for i := range 8 {
			at := b.Coord(lane, i/4*2+i%2) // element i%2 of register i/4 of B
			if got := frag.Coord(lane, i/4*4+i%2+i/2%2*2); !slices.Equal(got, []int{at[1] + i/2%2*8, at[0]}) {
				t.Fatalf("lane %d, value %d: the fragment has %v, B %v", lane, i, got, at)
			}
		}
	}
	for _, bad := range []struct{ m, n, warps int }{{16, 8, 2}, {8, 8, 1}, {16, 4, 1}, {32, 8, 4}, {0, 8, 1}, {16, 0, 1}} {
		if d, err := Fragment(bad.m, bad.n, bad.warps); err == nil {
			t.Errorf("Fragment(%d, %d, %d) is %v, want an error", bad.m, bad.n, bad.warps, d)
		}
	}
	if d, err := Striped(32, 32, 1).Transpose(); err == nil {
		t.Errorf("the transpose of a vector is %v, want an error", d)
	}
}

func coversOnce(t *testing.T, name string, d *Dist) {
	t.Helper()
	n := holders(d)
	elements := 1
	for _, s := range d.Shape {
		elements *= s
	}
	box(d.Shape, func(c []int) {
		if got := n[fmt.Sprint(c)]; got != 1 {
			t.Errorf("%s: %d holders of %v", name, got, c)
		}
	})
	if len(n) != elements || d.Threads()*d.Values() != elements || d.Copies() != 1 {
		t.Errorf("%s: %d coordinates of %d, %d threads of %d values, %d copies", name, len(n), elements, d.Threads(), d.Values(), d.Copies())
	}
}

// An accumulator rounded to 16 bits is the next A as it stands, 8 or 16 columns at a time, and that of 8 bits is not.
func TestAccumulatorIsOperand(t *testing.T) {
	d, err := WGMMAD(16)
	if err != nil {
		t.Fatal(err)
	}
	a16, err := WGMMAA(16)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Equal(a16) {
		t.Errorf("wgmma D %s, A of 16 bits %s", d, a16)
	}
	if d, err = WGMMAD(32); err != nil {
		t.Fatal(err)
	}
	a8, err := WGMMAA(8)
	if err != nil {
		t.Fatal(err)
	}
	if d.Equal(a8) {
		t.Errorf("wgmma D and A of 8 bits are both %s", d)
	}
	if a, err := MMASyncA(8, 16); err != nil || !a.Equal(MMASyncC()) {
		t.Errorf("mma.sync C %s, A of m16n8k8 %s, %v", MMASyncC(), a, err)
	}
}

// A warp of a warpgroup has the mma.sync fragment of its 16 rows.
func TestWarpOfWarpgroup(t *testing.T) {
	for _, bits := range []int{8, 16, 32} {
		group, err := WGMMAA(bits)
		if err != nil {
			t.Fatal(err)
		}
		warp, err := MMASyncA(256/bits, bits)
		if err != nil {
			t.Fatal(err)
		}
		for th := range group.Threads() {
			for v := range group.Values() {
				want := warp.Coord(th%32, v)
				want[0] += th / 32 * 16
				if got := group.Coord(th, v); !slices.Equal(got, want) {
					t.Fatalf("%d bits: value %d of thread %d is at %v, want %v", bits, v, th, got, want)
				}
			}
		}
	}
}

// What no instruction has is an error that says what there is.
func TestNoSuchFragment(t *testing.T) {
	type try func() (*Dist, error)
	for want, f := range map[string]try{
		"use k8 or k16":                     func() (*Dist, error) { return MMASyncA(32, 16) },
		"use k16 or k32":                    func() (*Dist, error) { return MMASyncB(8, 8) },
		"use k4 or k8":                      func() (*Dist, error) { return MMASyncA(0, 32) },
		"elements of 64 bits":               func() (*Dist, error) { return MMASyncA(4, 64) },
		"elements of 0 bits":                func() (*Dist, error) { return MMASyncB(4, 0) },
		"A of 4 bits":                       func() (*Dist, error) { return WGMMAA(4) },
		"m64n12: n is a multiple of 8":      func() (*Dist, error) { return WGMMAD(12) },
		"m64n264":                           func() (*Dist, error) { return WGMMAD(264) },
		"m64n0":                             func() (*Dist, error) { return WGMMAD(0) },
		"m64n-8":                            func() (*Dist, error) { return WGMMAD(-8) },
		"ldmatrix .x3: it moves 1, 2 or 4":  func() (*Dist, error) { return Ldmatrix(3, true) },
		"ldmatrix .x8: it moves 1, 2 or 4":  func() (*Dist, error) { return LdmatrixRows(8) },
		"stmatrix .x0: it moves 1, 2 or 4":  func() (*Dist, error) { return Stmatrix(0, false) },
		"stmatrix .x-1: it moves 1, 2 or 4": func() (*Dist, error) { return StmatrixRows(-1) },
	} {
		if d, err := f(); err == nil || d != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want an error with %q", d, err, want)
		}
	}
}

// Each element's holders are those whose coordinates it is, also where threads hold copies and where a tile is ragged.
func TestHolders(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, d *Dist) {
		want := map[string][]Holder{}
		for th := range d.Threads() {
			for v := range d.Values() {
				c := fmt.Sprint(d.Coord(th, v))
				want[c] = append(want[c], Holder{th, v})
			}
		}
		reached := covered(d)
		for i := range reached {
			reached[i]++ // nobody holds the last
		}
		box(reached, func(c []int) {
			if got := d.Holders(c...); !slices.Equal(got, want[fmt.Sprint(c)]) {
				t.Fatalf("%s: %v is held by %v, want %v", d, c, got, want[fmt.Sprint(c)])
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		d := dist(t)
		for d.Rank() > 0 && rapid.Bool().Draw(t, "reduce") {
			d = d.Reduce(rapid.IntRange(0, d.Rank()-1).Draw(t, "axis"))
		}
		check(t, d)
		if got := d.Holders(make([]int, d.Rank())...); len(got) != d.Copies() {
			t.Fatalf("%s: %d holders of the origin, %d copies", d, len(got), d.Copies())
		}
	})
	for _, f := range formulas(t) {
		if f.dist.Values() <= 32 {
			check(t, f.dist)
		}
	}
	// Modes that overlap: 3 is twice 2 less one, so no digit is the greedy one.
	check(t, &Dist{Shape: []int{8}, Thread: []Mode{{2, 0, 3}}, Value: []Mode{{3, 0, 2}, {2, Replicated, 0}}})
	if got := Striped(4, 8, 2).Holders(1, 1); got != nil {
		t.Errorf("a coordinate of another rank is held by %v", got)
	}
	if got := Striped(4, 8, 2).Holders(-1); got != nil {
		t.Errorf("a negative coordinate is held by %v", got)
	}
}

// FragmentTF32 is WGMMAA(32), repeated: tile (i, j) of 64x8 has the next four values of each thread.
func TestFragmentTF32(t *testing.T) {
	const m, k = 128, 24
	d, err := FragmentTF32(m, k)
	if err != nil {
		t.Fatal(err)
	}
	one, err := WGMMAA(32)
	if err != nil {
		t.Fatal(err)
	}
	for thread := range d.Threads() {
		for v := range d.Values() {
			part := v / one.Values()
			want := one.Coord(thread, v%one.Values())
			want[0] += 64 * (part / (k / 8))
			want[1] += 8 * (part % (k / 8))
			if got := d.Coord(thread, v); !slices.Equal(got, want) {
				t.Fatalf("thread %d, value %d: %v, want %v", thread, v, got, want)
			}
			f := []int{16*(thread/32) + thread%32/4 + 8*(v%2) + 64*(v/(k/2)), thread%4 + 4*(v/2%2) + 8*(v/4%(k/8))} // the docs' formula
			if !slices.Equal(f, want) {
				t.Fatalf("thread %d, value %d: %v by the formula, want %v", thread, v, f, want)
			}
		}
	}
	for _, s := range [][2]int{{32, 8}, {64, 12}, {0, 8}, {64, 0}} {
		if _, err := FragmentTF32(s[0], s[1]); err == nil {
			t.Errorf("a fragment of %dx%d", s[0], s[1])
		}
	}
}
