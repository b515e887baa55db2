package layout_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/layout"
)

// text is a layout in the tables: its text, or an object that holds it.
type text string

func (s *text) UnmarshalJSON(b []byte) error {
	var o struct{ Str string }
	if json.Unmarshal(b, (*string)(s)) == nil {
		return nil
	}
	err := json.Unmarshal(b, &o)
	*s = text(o.Str)
	return err
}

// algebraCase is a case of layout_algebra and layout_algebra_golden.
type algebraCase struct {
	ID, Op   string
	A, B     text
	Tiler    []text
	Profile  []int
	Cotarget int
	Expected text
}

// algebraValues are the values of a case's result, in layout_algebra only.
type algebraValues struct {
	ID       string
	Expected struct {
		Size    int
		Values  []int
		First   []int  `json:"values_first64"`
		Another string `json:"also_accept_str"`
	}
}

func readSection(t *testing.T, section string, to any) {
	t.Helper()
	dir := env.Get(env.Conformance)
	if dir == "" {
		t.Skipf("%s is not set: it names the directory with layout_cases.json", env.Conformance)
	}
	b, err := os.ReadFile(filepath.Join(dir, "layout_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &sections); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(sections[section], to); err != nil {
		t.Fatalf("%s: %v", section, err)
	}
}

// withoutUnits is a layout with stride 0 in its modes of size 1, where the sources of the tables differ among themselves.
func withoutUnits(t *testing.T, l layout.Layout) layout.Layout {
	t.Helper()
	var strides func(shape, stride layout.Tuple) layout.Tuple
	strides = func(shape, stride layout.Tuple) layout.Tuple {
		if n, ok := shape.Int(); ok {
			if n == 1 {
				return layout.Int(0)
			}
			return stride
		}
		parts := stride.Parts()
		for i := range parts {
			parts[i] = strides(shape.Parts()[i], parts[i])
		}
		return layout.Nest(parts...)
	}
	out, err := layout.New(l.Shape(), strides(l.Shape(), l.Stride()))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// run is the operation of a case.
func (c *algebraCase) run(t *testing.T) (layout.Layout, error) {
	a := parse(t, c.A)
	var b layout.Tiler
	if c.B != "" {
		b = parse(t, c.B)
	}
	if c.Tiler != nil {
		var modes layout.ByMode
		for _, m := range c.Tiler {
			modes = append(modes, parse(t, m))
		}
		b = modes
	}
	switch c.Op {
	case "coalesce":
		return a.Coalesce(), nil
	case "coalesce_bymode":
		return a.CoalesceBy(layout.Ints(c.Profile...))
	case "composition":
		return a.Compose(b)
	case "complement":
		return a.Complement(c.Cotarget)
	case "logical_divide":
		return a.LogicalDivide(b)
	case "zipped_divide":
		return a.ZippedDivide(b)
	case "logical_product":
		return a.LogicalProduct(b)
	case "right_inverse":
		return a.RightInverse(), nil
	case "left_inverse":
		return a.LeftInverse()
	}
	return layout.Layout{}, fmt.Errorf("no operation %q", c.Op)
}

func parse(t *testing.T, s text) layout.Layout {
	t.Helper()
	l, err := layout.Parse(string(s))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestConformanceAlgebra: the results of CuTe (C++ and Python) and the expected values of cutegen's tests, as text but
// for the strides of size 1. The left inverse, which is not unique, is also tested by its postcondition.
func TestConformanceAlgebra(t *testing.T) {
	var values []algebraValues
	readSection(t, "layout_algebra", &values)
	byID := map[string]algebraValues{}
	for _, v := range values {
		byID[v.ID] = v
	}
	for _, section := range []string{"layout_algebra", "layout_algebra_golden"} {
		var cases []algebraCase
		readSection(t, section, &cases)
		if len(cases) == 0 {
			t.Errorf("%s is empty", section)
		}
		for _, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				got, err := c.run(t)
				if err != nil {
					t.Fatalf("%s of %s, %s %s: %v; want %s", c.Op, c.A, c.B, c.Tiler, err, c.Expected)
				}
				v := byID[c.ID].Expected
				if want := withoutUnits(t, parse(t, c.Expected)); !withoutUnits(t, got).Equal(want) && got.String() != v.Another {
					t.Errorf("%s of %s, %s %s: %v, want %v", c.Op, c.A, c.B, c.Tiler, got, want)
				}
				if v.Size != 0 && v.Size != got.Size() {
					t.Errorf("size %d, want %d", got.Size(), v.Size)
				}
				if c.Op == "left_inverse" {
					leftInverse(t, parse(t, c.A), got)
					return
				}
				if all := offsets(got); v.Values != nil && !slices.Equal(all, v.Values) || v.First != nil && !slices.Equal(all[:64], v.First) {
					t.Errorf("%v has the offsets %v, want %v%v", got, all, v.Values, v.First)
				}
			})
		}
	}
}

// leftInverse checks A(L(A(i))) = A(i), which is L(A(i)) = i where A repeats nothing.
func leftInverse(t interface{ Fatalf(string, ...any) }, a, l layout.Layout) {
	for i, at := range a.Offsets() {
		back, err := l.At(at)
		if err != nil {
			t.Fatalf("left inverse %v of %v at %d: %v", l, a, at, err)
		}
		if again, err := a.At(back); err != nil || again != at || back > i {
			t.Fatalf("left inverse %v of %v: %d becomes %d, %d and %d (%v)", l, a, i, at, back, again, err)
		}
	}
}

// TestConformanceTileToShape: cutegen's expected values.
func TestConformanceTileToShape(t *testing.T) {
	var cases []struct {
		Block, Shape string
		Col          text `json:"col_major"`
		Row          text `json:"row_major"`
	}
	readSection(t, "tile_to_shape_golden", &cases)
	if len(cases) == 0 {
		t.Error("tile_to_shape_golden is empty")
	}
	for _, c := range cases {
		shape, err := layout.ParseTuple(c.Shape)
		if err != nil {
			t.Fatal(err)
		}
		backwards := []int{2, 1, 0}
		for order, want := range map[*[]int]text{{}: c.Col, &backwards: c.Row} {
			got, err := parse(t, text(c.Block)).TileToShape(shape, *order...)
			if err != nil || !withoutUnits(t, got).Equal(withoutUnits(t, parse(t, want))) {
				t.Errorf("%s to %s, order %v: %v (%v), want %s", c.Block, c.Shape, *order, got, err, want)
			}
		}
	}
}

// TestConformanceSwizzle: formulas, chunks and samples of byte addresses.
func TestConformanceSwizzle(t *testing.T) {
	var cases []struct {
		ID, CuTe  string
		Repeat    int     `json:"repeat_bytes"`
		Alignment int     `json:"required_base_alignment"`
		Atom      string  `json:"atom"`
		Chunks    [][]int `json:"physical_chunk16"` // by row and logical chunk of 16 bytes
		Samples   [][2]int
	}
	readSection(t, "swizzle", &cases)
	if len(cases) == 0 {
		t.Error("swizzle is empty")
	}
	named := map[string]layout.Swizzle{"swizzle.128B": layout.Swizzle128, "swizzle.64B": layout.Swizzle64,
		"swizzle.32B": layout.Swizzle32, "swizzle.none": layout.NoSwizzle}
	for _, c := range cases {
		var bits, base, shift int
		if _, err := fmt.Sscanf(c.CuTe, "Swizzle<%d,%d,%d>", &bits, &base, &shift); err != nil {
			t.Fatal(err)
		}
		s, err := layout.NewSwizzle(bits, base, shift)
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := named[c.ID]; ok && n != s {
			t.Errorf("%s is %v, want %v", c.ID, n, s)
		}
		for _, x := range c.Samples {
			if got := s.Apply(x[0]); got != x[1] {
				t.Errorf("%s: %d goes to %d, want %d", c.ID, x[0], got, x[1])
			}
		}
		if c.Chunks == nil { // the table has no more of this swizzle
			continue
		}
		if atom := fmt.Sprintf("%d rows x %d bytes", s.Rows(), s.Width()); s.Repeat() != c.Repeat || s.Align() != c.Alignment || atom != c.Atom {
			t.Errorf("%s: repeat %d, align %d, %s; want %d, %d, %s", c.ID, s.Repeat(), s.Align(), atom, c.Repeat, c.Alignment, c.Atom)
		}
		for row, chunks := range c.Chunks {
			for chunk, want := range chunks {
				if got := s.Apply(row*s.Width() + chunk*16); got != row*s.Width()+want*16 {
					t.Errorf("%s: chunk %d of row %d goes to byte %d, want chunk %d", c.ID, chunk, row, got, want)
				}
			}
		}
	}
}
