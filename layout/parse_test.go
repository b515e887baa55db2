package layout_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/gotile/gotile/layout"
)

// TestParse: print and parse are inverses, and spaces do not matter.
func TestParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLayout(t, "l")
		back, err := layout.Parse(l.String())
		if err != nil || !back.Equal(l) || back.String() != l.String() {
			t.Fatalf("%v becomes %v (%v)", l, back, err)
		}
		shape, err := layout.ParseTuple(l.Shape().String())
		if err != nil || !shape.Equal(l.Shape()) {
			t.Fatalf("%v becomes %v (%v)", l.Shape(), shape, err)
		}
	})
	for text, want := range map[string]string{
		"(2,(1,6)):(1,(6,2))": "(2,(1,6)):(1,(6,2))", " ( 8 ,\t4 ) : ( 1 , 8 ) ": "(8,4):(1,8)", "():()": "():()",
		"( ):( )": "():()", "((),2):((),0)": "((),2):((),0)", "(3):(1)": "(3):(1)", "3:1": "3:1",
	} {
		if l, err := layout.Parse(text); err != nil || l.String() != want {
			t.Errorf("%q: %v (%v), want %s", text, l, err, want)
		}
	}
}

// TestSyntax: what is no layout is a syntax error.
func TestSyntax(t *testing.T) {
	for _, text := range []string{
		"", " ", "8", "8:", ":8", "8:1:1", "8:1)", "(8:1", "(8,:1", "(8,):(1,)", "(8 4):(1 8)", "8:-1", "-8:1", "+8:1", "08:1", "8:01",
		"00:0", "8.0:1", "8:1\n", "8 8:1", "(8,4):(1,8", "x", "0x8:1", "8_0:1", "８:1", "8:1\x00", "\x00", "{8}:{1}",
	} {
		if l, err := layout.Parse(text); !errors.Is(err, layout.ErrSyntax) {
			t.Errorf("%q: %v, %v", text, l, err)
		}
	}
	for _, text := range []string{"", "(1,2", "1)", "(1,2):1", "(,)", "-1", "__"} {
		if tuple, err := layout.ParseTuple(text); !errors.Is(err, layout.ErrSyntax) || !tuple.Equal(layout.Tuple{}) {
			t.Errorf("%q: %v, %v", text, tuple, err)
		}
	}
	for _, text := range []string{"", "Sw<3,4,3> ,", "Sw<3,4>", "Sw<-3,4,3>", "S<3,4,3>", "Sw<3,4,--3>", "Sw<3,4,3", "Sw<3,4,>"} {
		if s, err := layout.ParseSwizzle(text); !errors.Is(err, layout.ErrSyntax) || s != (layout.Swizzle{}) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, layout.ErrSyntax) {
			t.Errorf("MustParse panics with %v", err)
		}
	}()
	layout.MustParse("8")
}

// FuzzParse: an error or a value, never both; the text of a value reads back as that value.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"(2,(1,6)):(1,(6,2))", "8:1", "():()", "(8 , 4):(1,8)", "((((", "9223372036854775807:1", "_:_", "(1,):(1)", "08:1",
		"(4294967296,4294967296):(1,1)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := layout.Parse(text)
		if err != nil {
			if !l.Equal(layout.Layout{}) {
				t.Fatalf("%q: both %v and %v", text, l, err)
			}
			return
		}
		back, err := layout.Parse(l.String())
		if err != nil || !back.Equal(l) || back.String() != l.String() {
			t.Fatalf("%q is %v, which becomes %v (%v)", text, l, back, err)
		}
		if off, err := l.At(l.Size() - 1); err != nil || off != l.Cosize()-1 {
			t.Fatalf("%v: last offset %d (%v), cosize %d", l, off, err, l.Cosize())
		}
	})
}

// FuzzParseSwizzle: an error or a value, never both; the text of a value reads back as that value. So for a swizzle
// after a layout.
func FuzzParseSwizzle(f *testing.F) {
	for _, text := range []string{"Sw<3,4,3>", "Sw<0,4,3>", "Sw<2,0,-2>", "Sw<", "Sw<3,4,2>", "Sw<99999999999999999999,0,0>", "Sw < 1 , 2 , - 3 >",
		"Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<3,4,3> o 9223372036854775807 o 8:1", "Sw<0,0,0>o7o():()"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := layout.ParseSwizzled(text); err != nil {
			if !r.Equal(layout.Swizzled{}) {
				t.Fatalf("%q: both %v and %v", text, r, err)
			}
		} else if back, err := layout.ParseSwizzled(r.String()); err != nil || !back.Equal(r) {
			t.Fatalf("%q is %v, which becomes %v (%v)", text, r, back, err)
		} else if at := must(r.At(r.Size() - 1))(t); at < 0 {
			t.Fatalf("%v is %d at the end", r, at)
		}
		s, err := layout.ParseSwizzle(text)
		if err != nil {
			if s != (layout.Swizzle{}) {
				t.Fatalf("%q: both %v and %v", text, s, err)
			}
			return
		}
		if back, err := layout.ParseSwizzle(s.String()); err != nil || back != s {
			t.Fatalf("%q is %v, which becomes %v (%v)", text, s, back, err)
		}
		for _, addr := range []int{0, 1, s.Repeat() - 1, 12345} {
			if s.Apply(s.Apply(addr)) != addr {
				t.Fatalf("%v is not its own inverse at %d", s, addr)
			}
		}
	})
}

// FuzzAlgebra: whatever reads as layouts, operations on them give what they promise, or an error.
func FuzzAlgebra(f *testing.F) {
	f.Add("(6,2):(8,2)", "(4,3):(3,1)", 0)
	f.Add("(9,(4,8)):(59,(13,1))", "3:3", 100)
	f.Add("(4294967296,2147483647):(2147483647,1)", "4294967296:2", 77)
	f.Add("((),2):((),0)", "():()", 1)
	f.Fuzz(func(t *testing.T, first, second string, at int) {
		a, err := layout.Parse(first)
		if err != nil {
			return
		}
		b, err := layout.Parse(second)
		if err != nil {
			return
		}
		// pick is an index of a layout.
		pick := func(l layout.Layout) int { return int(uint(at) % uint(l.Size())) }
		same := func(name string, r layout.Layout, i int, s layout.Layout, j int) {
			if got, want := must(r.At(i))(t), must(s.At(j))(t); got != want {
				t.Fatalf("%s of %v and %v: %v is %d at %d, want %d", name, a, b, r, got, i, want)
			}
		}
		same("Coalesce", a.Coalesce(), pick(a), a, pick(a))
		if r := a.RightInverse(); must(a.At(must(r.At(pick(r)))(t)))(t) != pick(r) {
			t.Fatalf("right inverse of %v: %v", a, r)
		}
		if l, err := a.LeftInverse(); err == nil {
			same("LeftInverse", a, must(l.At(must(a.At(pick(a)))(t)))(t), a, pick(a))
		}
		if r, err := a.Compose(b); err == nil {
			same("Compose", r, pick(b), a, must(b.At(pick(b)))(t))
		}
		if r, err := a.LogicalDivide(b); err == nil {
			both := must(layout.Concat(b, must(b.Complement(a.Size()))(t)))(t)
			same("LogicalDivide", r, pick(both), a, must(both.At(pick(both)))(t))
		}
		if r, err := a.LogicalProduct(b); err == nil {
			same("LogicalProduct", r, pick(a), a, pick(a))
			blocked, raked := must(a.BlockedProduct(b))(t), must(a.RakedProduct(b))(t)
			if blocked.Size() != r.Size() || raked.Cosize() != r.Cosize() {
				t.Fatalf("%v and %v: product %v, blocked %v, raked %v", a, b, r, blocked, raked)
			}
		}
		if r, err := a.TileToShape(b.Shape()); err == nil && r.Size() != b.Size() {
			t.Fatalf("%v to %v: %v", a, b.Shape(), r)
		}
		if s, offset, err := a.Slice(b.Shape()); err == nil && (s.Size() != 1 || offset < 0) {
			t.Fatalf("slice %v of %v: %v, %d", b.Shape(), a, s, offset)
		}
		if d, err := layout.DistOf(a, b.Size()); err == nil {
			if tv, err := d.Layout(); err != nil || !tv.Equivalent(a) {
				t.Fatalf("%v is %v, which is %v (%v)", a, d, tv, err)
			}
		}
	})
}
