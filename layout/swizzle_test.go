package layout_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// anySwizzle draws a swizzle whose pattern has at most 4096 units.
func anySwizzle(t *rapid.T) layout.Swizzle {
	bits := rapid.IntRange(0, 4).Draw(t, "bits")
	shift := rapid.IntRange(bits, bits+2).Draw(t, "shift")
	if rapid.Bool().Draw(t, "negative") {
		shift = -shift
	}
	s, err := layout.NewSwizzle(bits, rapid.IntRange(0, 3).Draw(t, "base"), shift)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSwizzle: a swizzle is its own inverse, moves whole chunks, permutes within rows, repeats after Repeat units and
// not before, and depends on the alignment that it states.
func TestSwizzle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySwizzle(t)
		n := s.Repeat()
		base := n * rapid.IntRange(0, 5).Draw(t, "tile")
		seen := make([]bool, n)
		for i := range n {
			to := s.Apply(i)
			if to < 0 || to >= n || seen[to] {
				t.Fatalf("%v: %d goes to %d, which is outside or taken", s, i, to)
			}
			seen[to] = true
			if s.Apply(to) != i {
				t.Fatalf("%v: %d goes to %d and that to %d", s, i, to, s.Apply(to))
			}
			if to/s.Width() != i/s.Width() {
				t.Fatalf("%v: %d goes to %d, out of its row of %d", s, i, to, s.Width())
			}
			if to%s.Chunk() != i%s.Chunk() {
				t.Fatalf("%v: %d goes to %d, which splits a chunk of %d", s, i, to, s.Chunk())
			}
			if got := s.Apply(base + i); got != base+to {
				t.Fatalf("%v: %d goes to %d, but %d goes to %d", s, i, to, base+i, got)
			}
		}
		if s.Bits() > 0 {
			half, same := n/2, true
			for i := range n {
				same = same && s.Apply(half+i) == half+s.Apply(i)
			}
			if same {
				t.Fatalf("%v repeats after %d already", s, half)
			}
		}
		if again, err := layout.NewSwizzle(s.Bits(), s.Base(), s.Shift()); err != nil || again != s {
			t.Fatalf("%v is made of %d, %d, %d, which make %v (%v)", s, s.Bits(), s.Base(), s.Shift(), again, err)
		}
		if back, err := layout.ParseSwizzle(s.String()); err != nil || back != s {
			t.Fatalf("%v becomes %v (%v)", s, back, err)
		}
	})
}

// TestSwizzleTMA: the swizzles of TMA are the formulas of the PTX manual's figures: the 16-byte chunk's number within
// 128 bytes, cut to the width of the row, is exclusive-ored with the number of the 128-byte line.
func TestSwizzleTMA(t *testing.T) {
	for s, c := range map[layout.Swizzle]struct{ width, repeat, mask int }{
		layout.Swizzle128: {128, 1024, 7}, layout.Swizzle64: {64, 512, 3}, layout.Swizzle32: {32, 256, 1}, layout.NoSwizzle: {16, 16, 0},
	} {
		if s.Width() != c.width || s.Repeat() != c.repeat || s.Align() != c.repeat || s.Rows() != 8 || s.Chunk() != 16 {
			t.Errorf("%v: width %d, repeat %d, align %d, rows %d, chunk %d; want %v", s, s.Width(), s.Repeat(), s.Align(), s.Rows(), s.Chunk(), c)
		}
		for addr := range 4096 {
			if got, want := s.Apply(addr), addr^(addr/128&c.mask)*16; got != want {
				t.Fatalf("%v: %d goes to %d, want %d", s, addr, got, want)
			}
		}
	}
}

// TestSwizzleElements: the swizzle of element numbers moves elements as the swizzle of bytes moves their bytes.
func TestSwizzleElements(t *testing.T) {
	for _, s := range []layout.Swizzle{layout.Swizzle128, layout.Swizzle64, layout.Swizzle32, layout.NoSwizzle} {
		for _, width := range []int{1, 2, 4, 8, 16} {
			e, err := s.Elements(width)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 4096 / width {
				if got, want := e.Apply(i)*width, s.Apply(i*width); got != want {
					t.Fatalf("%v of %d bytes: element %d goes to byte %d, want %d", s, width, i, got, want)
				}
			}
		}
		for _, width := range []int{-4, 0, 3, 12, math.MinInt} {
			if e, err := s.Elements(width); !errors.Is(err, layout.ErrInvalid) {
				t.Errorf("%v of %d bytes: %v, %v", s, width, e, err)
			}
		}
	}
	if e, err := layout.Swizzle128.Elements(32); !errors.Is(err, layout.ErrUndefined) {
		t.Errorf("elements of 32 bytes: %v, %v", e, err)
	}
	if e, err := layout.NoSwizzle.Elements(32); err != nil || e != (layout.Swizzle{}) {
		t.Errorf("elements of 32 bytes that do not move: %v, %v", e, err)
	}
}

// TestSwizzleErrors: fields that overlap or lie too high, and tiles that a swizzle cannot serve.
func TestSwizzleErrors(t *testing.T) {
	for _, c := range []struct {
		bits, base, shift int
		kind              error
	}{
		{3, 4, 2, layout.ErrInvalid}, {3, 4, -2, layout.ErrInvalid}, {-1, 4, 3, layout.ErrInvalid}, {1, -1, 3, layout.ErrInvalid},
		{1, 4, 26, layout.ErrLimit}, {math.MaxInt, 4, 3, layout.ErrLimit}, {1, math.MaxInt, 3, layout.ErrLimit},
		{1, 4, math.MaxInt, layout.ErrLimit}, {1, 4, math.MinInt, layout.ErrLimit}, {0, 0, 0, nil}, {3, 4, -3, nil}, {1, 4, 25, nil},
	} {
		if s, err := layout.NewSwizzle(c.bits, c.base, c.shift); !errors.Is(err, c.kind) {
			t.Errorf("(%d,%d,%d): %v, %v; want %v", c.bits, c.base, c.shift, s, err, c.kind)
		}
	}
	for _, c := range []struct {
		s         layout.Swizzle
		base, row int
		ok        bool
	}{
		{layout.Swizzle128, 1024, 128, true}, {layout.Swizzle128, 0, 256, true}, {layout.Swizzle128, 512, 128, false},
		{layout.Swizzle128, 0, 96, false}, {layout.Swizzle64, 512, 64, true}, {layout.Swizzle32, 256, 96, true},
		{layout.Swizzle128, -1024, 128, false}, {layout.Swizzle128, 0, 0, false}, {layout.Swizzle{}, 3, 7, true},
	} {
		if err := c.s.Check(c.base, c.row); (err == nil) != c.ok || err != nil && !errors.Is(err, layout.ErrUndefined) {
			t.Errorf("%v at %d, rows of %d bytes: %v", c.s, c.base, c.row, err)
		}
	}
}
