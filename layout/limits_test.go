package layout_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// huge draws a layout of up to about 2^62 elements and offsets, which is sometimes too large to be one.
func huge(t *rapid.T, name string) (layout.Layout, error) {
	numbers := rapid.Custom(func(t *rapid.T) [2][]int {
		number := func(bits int) int {
			return max(1, 1<<bits+rapid.SampledFrom([]int{-1, 0, 0, 0, 0, 0, 1}).Draw(t, "off"))
		}
		var shape, stride []int
		for left := 62; len(shape) < 4 && left > 0; {
			n := rapid.IntRange(1, left).Draw(t, "bits")
			left -= n
			shape = append(shape, number(n))
			stride = append(stride, number(rapid.IntRange(0, 62-n).Draw(t, "bits")))
		}
		return [2][]int{shape, stride}
	}).Draw(t, name)
	return layout.New(layout.Ints(numbers[0]...), layout.Ints(numbers[1]...))
}

// TestHuge: operations on layouts near the limits give what their definitions say, or an error that says why not.
func TestHuge(t *testing.T) {
	built, composed := 0, 0
	check(t, func(t *rapid.T) {
		a, err := huge(t, "a")
		if err != nil {
			limit(t, err)
			return
		}
		// The size and the largest offset in exact arithmetic.
		size, last := big.NewInt(1), big.NewInt(0)
		for _, f := range leavesOf(a) {
			n, _ := f.Shape().Int()
			d, _ := f.Stride().Int()
			size.Mul(size, big.NewInt(int64(n)))
			last.Add(last, new(big.Int).Mul(big.NewInt(int64(n-1)), big.NewInt(int64(d))))
		}
		if size.Cmp(big.NewInt(int64(a.Size()))) != 0 || last.Cmp(big.NewInt(int64(a.Cosize()-1))) != 0 {
			t.Fatalf("%v: size %d, want %v; cosize %d, want %v+1", a, a.Size(), size, a.Cosize(), last)
		}
		built++
		index := rapid.IntRange(0, a.Size()-1).Draw(t, "index")
		want := must(a.At(index))(t)
		if got := must(a.Coalesce().At(index))(t); got != want {
			t.Fatalf("%v coalesces to %v, which is %d at %d, want %d", a, a.Coalesce(), got, index, want)
		}
		r := a.RightInverse()
		at := rapid.IntRange(0, r.Size()-1).Draw(t, "offset")
		if got := must(a.At(must(r.At(at))(t)))(t); got != at {
			t.Fatalf("right inverse %v of %v: %d becomes %d", r, a, at, got)
		}
		if l, err := a.LeftInverse(); err != nil {
			limit(t, err)
		} else if got := must(a.At(must(l.At(want))(t)))(t); got != want {
			t.Fatalf("left inverse %v of %v: %d becomes %d", l, a, want, got)
		}
		n := rapid.IntRange(1, math.MaxInt).Draw(t, "n")
		if c, err := a.Complement(n); err != nil {
			limit(t, err)
		} else {
			// A and its copies end before the least multiple of A's extent that is n or more.
			extent := big.NewInt(1)
			for _, f := range leavesOf(a) {
				size, _ := f.Shape().Int()
				d, _ := f.Stride().Int()
				if e := new(big.Int).Mul(big.NewInt(int64(size)), big.NewInt(int64(d))); size > 1 && e.Cmp(extent) > 0 {
					extent = e
				}
			}
			end := new(big.Int).Add(big.NewInt(int64(n-1)), extent)
			end.Sub(end, new(big.Int).Mod(big.NewInt(int64(n-1)), extent))
			reach := new(big.Int).Add(last, big.NewInt(int64(c.Cosize()-1)))
			if reach.Cmp(end) >= 0 {
				t.Fatalf("complement of %v within %d: %v; both reach %v, beyond %v", a, n, c, reach, end)
			}
		}
		b, err := huge(t, "b")
		if err != nil {
			limit(t, err)
			b = a
		}
		for name, op := range map[string]func(layout.Tiler) (layout.Layout, error){
			"LogicalDivide": a.LogicalDivide, "ZippedDivide": a.ZippedDivide, "TiledDivide": a.TiledDivide,
			"LogicalProduct": a.LogicalProduct, "ZippedProduct": a.ZippedProduct, "TiledProduct": a.TiledProduct,
		} {
			r, err := op(b)
			if err != nil {
				limit(t, err)
				continue
			}
			// Both begin with the first operand's composition with the tile, or the first operand.
			tile := a
			if strings.HasSuffix(name, "Divide") {
				tile = must(a.Compose(b))(t)
			}
			i := rapid.IntRange(0, tile.Size()-1).Draw(t, "tile")
			if got, want := must(r.At(i))(t), must(tile.At(i))(t); got != want {
				t.Fatalf("%s of %v and %v: %v is %d at %d, want %d", name, a, b, r, got, i, want)
			}
		}
		// One leaf fits more often.
		b = must(layout.New(layout.Int(1<<rapid.IntRange(0, 20).Draw(t, "n")), layout.Int(1<<rapid.IntRange(0, 40).Draw(t, "d"))))(t)
		c, err := a.Compose(b)
		if err != nil {
			limit(t, err)
			return
		}
		composed++
		i := rapid.IntRange(0, b.Size()-1).Draw(t, "i")
		if got, want := must(c.At(i))(t), must(a.At(must(b.At(i))(t)))(t); got != want {
			t.Fatalf("%v o %v is %v, which is %d at %d, want %d", a, b, c, got, i, want)
		}
	})
	enough(t, built)
	enough(t, composed)
}

// limit checks that an error is of a kind that says that a result does not exist or does not fit.
func limit(t *rapid.T, err error) {
	if !errors.Is(err, layout.ErrUndefined) && !errors.Is(err, layout.ErrLimit) {
		t.Fatal(err)
	}
}

// TestErrors: operations that are not defined say the rule and the numbers.
func TestErrors(t *testing.T) {
	l := layout.MustParse
	type result struct {
		l   layout.Layout
		err error
	}
	of := func(l layout.Layout, err error) result { return result{l, err} }
	deep := l(strings.Repeat("(", layout.MaxDepth) + "4" + strings.Repeat(")", layout.MaxDepth) + ":" +
		strings.Repeat("(", layout.MaxDepth) + "1" + strings.Repeat(")", layout.MaxDepth))
	loop := layout.ByMode{nil}
	loop[0] = loop
	for _, c := range []struct {
		name string
		result
		kind  error
		parts string // that the message has, separated by |
	}{
		{"beyond", of(l("8:1").Compose(l("4:3"))), layout.ErrUndefined, "8:1|4:3|index 9|8 elements"},
		{"uneven", of(l("(4,8):(1,100)").Compose(l("6:1"))), layout.ErrUndefined, "6 places|steps of 1|4 fill mode 4:1|4 does not divide 6"},
		{"carry", of(l("(4,8):(1,100)").Compose(l("(4,2):(1,2)"))), layout.ErrUndefined, "2:2|mode 4:1|add up"},
		{"carry alone", of(l("(4,4):(1,100)").Compose(l("4:3"))), layout.ErrUndefined, "4:3|mode 4:1|add up"},
		{"modes", of(l("(8,8):(8,1)").Compose(layout.Ints(2, 2, 2))), layout.ErrInvalid, "3 modes|has 2"},
		{"no tiler", of(l("8:1").Compose(nil)), layout.ErrInvalid, "no tiler"},
		{"free tiler", of(l("8:1").Compose(layout.All)), layout.ErrInvalid, "no tiler"},
		{"size 0", of(l("8:1").Compose(layout.Int(0))), layout.ErrInvalid, "size 0"},
		{"endless", of(l("8:1").Compose(loop)), layout.ErrLimit, "nested"},
		{"profile", of(l("8:1").CoalesceBy(layout.Ints(1, 1))), layout.ErrInvalid, "8:1|(1,1)"},
		{"overlap", of(l("(4,4):(1,2)").Complement(64)), layout.ErrUndefined, "4:2|extent 4"},
		{"equal strides", of(l("(4,4):(1,1)").Complement(64)), layout.ErrUndefined, "4:1|extent 4"},
		{"within 0", of(l("4:1").Complement(0)), layout.ErrInvalid, "within 0"},
		{"extent", of(l("2:9223372036854775806").Complement(1)), layout.ErrLimit, "2:9223372036854775806"},
		{"copies", of(l("2:4611686018427387903").Complement(math.MaxInt)), layout.ErrLimit, "beyond"},
		{"profile within", of(l("(8,2):(1,8)").CoalesceBy(layout.Nest(layout.Ints(1)))), layout.ErrInvalid, "8:1|(1)"},
		{"left overlap", of(l("(4,4):(1,2)").LeftInverse()), layout.ErrUndefined, "stride 2|4:1"},
		{"left uneven", of(l("(2,2):(2,5)").LeftInverse()), layout.ErrUndefined, "stride 5|2:2|multiple of 2"},
		{"divide uneven", of(l("10:1").LogicalDivide(l("4:1"))), layout.ErrUndefined, "10:1|4:1|3 tiles of 4|10"},
		{"divide gaps", of(l("36:1").LogicalDivide(l("(4,2):(1,6)"))), layout.ErrUndefined, "3 tiles of 8|36"},
		{"divide repeats", of(l("16:1").LogicalDivide(l("4:0"))), layout.ErrUndefined, "4:0"},
		{"divide repeats by gaps", of(l("16:1").LogicalDivide(l("(2,2,2,2):(0,1,3,11)"))), layout.ErrUndefined, "mode 2:0"},
		{"divide overlap", of(l("16:1").LogicalDivide(l("(2,2):(1,1)"))), layout.ErrUndefined, "division|2:1"},
		{"divide composition", of(l("(4,6):(1,100)").LogicalDivide(l("6:1"))), layout.ErrUndefined, "division|6 places|4"},
		{"divide mode", of(l("(9,9):(1,9)").ZippedDivide(layout.Ints(3, 2))), layout.ErrUndefined, "5 tiles of 2|9"},
		{"tiled", of(l("(9,9):(1,9)").TiledDivide(layout.Ints(3, 2))), layout.ErrUndefined, "5 tiles of 2|9"},
		{"product overlap", of(l("(4,4):(1,2)").LogicalProduct(l("2:1"))), layout.ErrUndefined, "product|4:2"},
		{"product composition", of(l("(2,2):(1,4)").LogicalProduct(l("3:1"))), layout.ErrUndefined, "product|3 places"},
		{"product size", of(l("4294967296:1").LogicalProduct(l("4294967296:1"))), layout.ErrLimit, "product|4294967296"},
		{"zipped product", of(l("(2,2):(1,4)").ZippedProduct(l("3:1"))), layout.ErrUndefined, "product"},
		{"tiled product", of(l("(2,2):(1,4)").TiledProduct(l("3:1"))), layout.ErrUndefined, "product"},
		{"blocked", of(l("(4,4):(1,2)").BlockedProduct(l("2:1"))), layout.ErrUndefined, "product|4:2"},
		{"raked", of(l("(4,4):(1,2)").RakedProduct(l("2:1"))), layout.ErrUndefined, "product|4:2"},
		{"deep", of(deep.LogicalProduct(l("2:1"))), layout.ErrLimit, "deeper"},
		{"shape", of(l("(8,8):(8,1)").TileToShape(layout.Ints(16, 12))), layout.ErrUndefined, "size 12|mode 1|8"},
		{"shape rank", of(l("(8,8):(8,1)").TileToShape(layout.Ints(64))), layout.ErrInvalid, "more modes"},
		{"shape order", of(l("(8,8):(8,1)").TileToShape(layout.Ints(16, 16), 0, 0)), layout.ErrInvalid, "[0 0]"},
		{"shape order beyond", of(l("(8,8):(8,1)").TileToShape(layout.Ints(16, 16), 0, 2)), layout.ErrInvalid, "[0 2]"},
		{"shape size", of(l("8:1").TileToShape(layout.Int(0))), layout.ErrInvalid, "size 0"},
		{"shape free", of(l("8:1").TileToShape(layout.All)), layout.ErrInvalid, "_"},
	} {
		if !errors.Is(c.err, c.kind) || !c.l.Equal(layout.Layout{}) {
			t.Errorf("%s: %v, %v; want %v", c.name, c.l, c.err, c.kind)
			continue
		}
		for _, part := range strings.Split(c.parts, "|") {
			if !strings.Contains(c.err.Error(), part) {
				t.Errorf("%s: %q does not say %q", c.name, c.err, part)
			}
		}
	}
	for text, kind := range map[string]error{"(0,0,0)": layout.ErrInvalid, "((0,0),0)": layout.ErrInvalid, "(8,0)": layout.ErrRange,
		"(_,9)": layout.ErrRange, "64": layout.ErrRange} {
		c := must(layout.ParseTuple(text))(t)
		s, offset, err := l("(8,8):(8,1)").Slice(c)
		if !errors.Is(err, kind) || !s.Equal(layout.Layout{}) || offset != 0 {
			t.Errorf("slice %s: %v, %d, %v; want %v", text, s, offset, err, kind)
		}
	}
	if parts := layout.All.Parts(); len(parts) != 1 || !parts[0].Equal(layout.All) {
		t.Errorf("parts of _: %v", parts)
	}
	far := l("2:9223372036854775000")
	for offset, kind := range map[int]error{-1: layout.ErrInvalid, math.MaxInt: layout.ErrLimit, 0: layout.ErrLimit} {
		if s, err := layout.Swizzle128.Compose(offset, far); !errors.Is(err, kind) {
			t.Errorf("%d o %v: %v, %v", offset, far, s, err)
		}
	}
	near := must(layout.Swizzle128.Compose(0, l("(8,64):(64,1)")))(t)
	if at, err := near.At(512); !errors.Is(err, layout.ErrRange) || at != 0 {
		t.Errorf("%v at 512: %d, %v", near, at, err)
	}
	if at, err := near.AtCoord(layout.Ints(8, 0)); !errors.Is(err, layout.ErrRange) || at != 0 {
		t.Errorf("%v at (8,0): %d, %v", near, at, err)
	}
	if s, err := near.Slice(layout.Ints(8, 0)); !errors.Is(err, layout.ErrRange) || !s.Equal(layout.Swizzled{}) {
		t.Errorf("%v sliced at (8,0): %v, %v", near, s, err)
	}
	for _, text := range []string{"", "Sw<3,4,3>", "Sw<3,4,3> o 0", "Sw<3,4,3> o (8,64):(64,1)", "Sw<3,4,3> o -1 o 8:1", "Sw<3,4,3> o 0 o 8:1 o 0",
		"(8,64):(64,1)", "Sw<3,4,3>o0o8", "Sw<3,4,3,1> o 0 o 8:1", "Sw<-3,4,3> o 0 o 8:1"} {
		if s, err := layout.ParseSwizzled(text); !errors.Is(err, layout.ErrSyntax) || !s.Equal(layout.Swizzled{}) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}
