package layout

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func wavefronts(all []WarpAccess) (n, least int) {
	for _, a := range all {
		n += a.Cost.Wavefronts
		least += a.Cost.Least
	}
	return n, least
}

// swizzled is a layout of elements after a swizzle of bytes.
func swizzled(t interface{ Fatal(...any) }, s Swizzle, l Layout, elem int) Swizzled {
	s, err := s.Elements(elem)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := s.Compose(0, l)
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

// The swizzle of a tile's row length, and that alone, lets ldmatrix read eight rows at once.
func TestLdmatrixConflicts(t *testing.T) {
	source, err := LdmatrixSource(4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mem     string
		swizzle Swizzle
		want    int
	}{
		{"(16,64):(64,1)", Swizzle{}, 32}, {"(16,64):(64,1)", NoSwizzle, 32}, {"(16,64):(64,1)", Swizzle128, 4},
		{"(16,64):(64,1)", Swizzle64, 8}, {"(16,64):(64,1)", Swizzle32, 16},
		{"(16,32):(32,1)", Swizzle{}, 16}, {"(16,32):(32,1)", Swizzle64, 4},
		{"(16,16):(16,1)", Swizzle{}, 8}, {"(16,16):(16,1)", Swizzle32, 4},
		{"(16,64):(72,1)", Swizzle{}, 4},             // a row of 144 bytes: padding does it, too
		{"(16,(8,8)):(8,(1,128))", Swizzle{}, 4},     // core matrices one after the other
		{"(16,(64,2)):(64,(1,1024))", Swizzle128, 4}, // two panels, of which the fragment lies in the first
		{"(16,(32,4)):(32,(1,512))", Swizzle64, 4},   // four
		{"((8,2),64):((64,1024),1)", Swizzle128, 4},  // the lower half elsewhere
		{"((4,4),64):((64,2048),1)", Swizzle128, 8},  // half a pattern: rows 0 and 4 share banks
		{"(16,64):(128,1)", Swizzle128, 8},           // twice the pitch: every second row of the pattern
		{"(16,64):(256,1)", Swizzle128, 16},          // four times
		{"(16,64):(512,1)", Swizzle128, 32},          // the pattern's length: all rows are alike
	} {
		all, err := source.Accesses(swizzled(t, c.swizzle, MustParse(c.mem), 2), 2, 16)
		if err != nil {
			t.Errorf("%s, %s: %v", c.mem, c.swizzle, err)
			continue
		}
		if n, least := wavefronts(all); n != c.want || least != 4 || len(all) != 1 {
			t.Errorf("%s, %s: %d wavefronts of %d accesses, at least %d; want %d, 4", c.mem, c.swizzle, n, len(all), least, c.want)
		}
	}
}

// The lanes' rows are what the fragment's matrices consist of: lane 8m+r points to row r of matrix m.
func TestLdmatrixSource(t *testing.T) {
	for x, shape := range map[int][2]int{1: {8, 8}, 2: {16, 8}, 4: {16, 16}} {
		d, err := LdmatrixSource(x)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := LdmatrixRows(x)
		if err != nil {
			t.Fatal(err)
		}
		if d.Shape[0] != shape[0] || d.Shape[1] != shape[1] || d.Threads() != rows.Threads() || d.Values() != 8 {
			t.Errorf("x%d: %s", x, d)
		}
		coversOnce(t, "source", d)
		for lane := range d.Threads() {
			at := rows.Coord(lane, 0) // matrix, row
			for v := range 8 {
				if c := d.Coord(lane, v); c[0] != at[0]%2*8+at[1] || c[1] != at[0]/2*8+v {
					t.Errorf("x%d: lane %d points to %v", x, lane, c)
				}
			}
		}
	}
	if d, err := LdmatrixSource(3); err == nil {
		t.Errorf("x3 is %s", d)
	}
}

// Every element of the tile is accessed once for each thread that holds it, where layout and swizzle say; no access
// takes less than its least, nor more than a wavefront a word.
func TestAccesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dist(t)
		vec := d.Vec()
		if vec&(vec-1) != 0 {
			vec = 1
		}
		elem := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "elem")
		width := min(vec*elem, 16)
		// Row-major, with a pitch that keeps vectors aligned.
		pitch := (d.Shape[d.Rank()-1] + width/elem - 1) / (width / elem) * (width / elem)
		pitch += rapid.IntRange(0, 3).Draw(t, "padding") * (width / elem)
		cols := d.Shape[d.Rank()-1]
		mem, rows := tupleOf(leafOf(cols, 1)), 1
		if d.Rank() == 2 {
			rows = d.Shape[0]
			mem = tupleOf(leafOf(rows, pitch), leafOf(cols, 1))
		}
		s := rapid.SampledFrom([]Swizzle{{}, Swizzle32, Swizzle64, Swizzle128}).Draw(t, "swizzle")
		tile := swizzled(t, s, mem, elem)
		tile.offset = rapid.IntRange(0, 40).Draw(t, "offset") * (16 / elem)
		all, err := d.Accesses(tile, elem, width)
		if err != nil {
			if strings.Contains(err.Error(), "within the tile and past it") && cols%(width/elem) != 0 {
				return
			}
			t.Fatal(err)
		}
		seen := map[int]int{}
		for _, a := range all {
			lanes := 0
			for _, addr := range a.Addr {
				if addr < 0 {
					continue
				}
				lanes++
				for b := addr; b < addr+width; b += elem {
					seen[b]++
				}
			}
			if a.Cost.Wavefronts < a.Cost.Least || a.Cost.Wavefronts > lanes*max(width/BankWord, 1) {
				t.Fatalf("%d lanes of %d bytes cost %+v", lanes, width, a.Cost)
			}
		}
		elements := 0
		for r := range rows {
			for c := range cols {
				elements++
				if n := seen[s.Apply((tile.offset+r*pitch+c)*elem)]; n != 1 {
					t.Fatalf("%s in %s: element (%d, %d) is accessed %d times", d, mem, r, c, n)
				}
			}
		}
		if len(seen) != elements {
			t.Fatalf("%d places are accessed, the tile has %d elements", len(seen), elements)
		}
	})
}

// Threads that hold copies read the same words: a broadcast, no conflict. Warps and values come in order.
func TestAccessesOfCopies(t *testing.T) {
	d := Striped2(64, 8, 16, 128, 8).Reduce(1)
	all, err := d.Accesses(swizzled(t, Swizzle{}, MustParse("(16):(1)"), 4), 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 4 {
		t.Fatalf("%d accesses of 2 warps and 2 values", len(all))
	}
	for i, a := range all {
		if a.Warp != i/2 || a.Value != i%2 || a.Cost.Wavefronts != 1 || a.Cost.Conflicts() != 0 {
			t.Errorf("access %d: %+v", i, a)
		}
	}
}

func TestAccessesErrors(t *testing.T) {
	a, err := MMASyncA(16, 16)
	if err != nil {
		t.Fatal(err)
	}
	const rowMajor = "(16,16):(16,1)"
	for _, c := range []struct {
		want        string
		kind        error
		d           *Dist
		mem         string
		elem, width int
	}{
		{"a tile of 2 axes in the layout 256:1 of 1 modes", ErrInvalid, a, "256:1", 2, 4},
		{"axis 1 of the tile has 16 elements", ErrInvalid, a, "(16,8):(8,1)", 2, 4},
		{"accesses of 4 bytes to elements of 0", ErrInvalid, a, rowMajor, 0, 4},
		{"accesses of 2 bytes to elements of 4", ErrInvalid, a, rowMajor, 4, 2},
		{"accesses of 6 bytes are 3 elements, and a thread has 8", ErrUndefined, a, rowMajor, 2, 6},
		{"values 0 and 2 of thread 0 lie at bytes 0 and 256", ErrUndefined, a, rowMajor, 2, 8},
		{"values 0 and 1 of thread 0 lie at bytes 0 and 32", ErrUndefined, a, "(16,16):(1,16)", 2, 4},
		{"warp 0, values from 0 on: layout: lane 1: address 12", ErrInvalid, Striped(32, 64, 2), "((2,32)):((1,3))", 4, 8},
		{"within the tile and past it", ErrUndefined, Striped(32, 63, 2), "63:1", 4, 8},
		{"must fit into", ErrLimit, Striped(32, 64, 2), "64:1000000000000", 4, 4},
	} {
		all, err := c.d.Accesses(swizzled(t, Swizzle{}, MustParse(c.mem), 1), c.elem, c.width)
		if err == nil || all != nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, c.kind) {
			t.Errorf("%v, %v; want %v with %q", all, err, c.kind, c.want)
		}
	}
}
