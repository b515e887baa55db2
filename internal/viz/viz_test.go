package viz

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/layout"
)

var update = flag.Bool("update", false, "write the golden files")

// pictures are one of each kind, by the name of their golden files.
func pictures(t *testing.T) map[string]*Picture {
	t.Helper()
	fragment := func(name string) *Fragment {
		f, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	must := func(p *Picture, err error) *Picture {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	banks := func(name, mem string, s layout.Swizzle, elem, width int) *Picture {
		s, err := s.Elements(elem)
		if err != nil {
			t.Fatal(err)
		}
		tile, err := s.Compose(0, layout.MustParse(mem))
		if err != nil {
			t.Fatal(err)
		}
		a, err := fragment(name).Dist.Accesses(tile, elem, width)
		if err != nil {
			t.Fatal(err)
		}
		return must(DrawBanks(name+" in "+mem, a, width))
	}
	shared := layout.WarpAccess{} // four lanes a word, all words in bank 0
	for _, addr := range layout.MustParse("(4,8):(0,128)").Offsets() {
		shared.Addr = append(shared.Addr, addr)
	}
	var err error
	if shared.Cost, err = layout.CountBanks(shared.Addr, 4); err != nil {
		t.Fatal(err)
	}
	memory := PlanOf(plan(), 4096)
	memory.Files = []string{"rows.go"}
	for i := range memory.Steps {
		memory.Steps[i].Line = 10 + i // not the lines of the test
	}
	return map[string]*Picture{
		"plan":       must(DrawPlan(memory)),
		"layout":     must(DrawLayout(layout.MustParse("(8,(2,4)):(4,(1,32))"), layout.Swizzle{}, 4)),
		"rowmajor":   must(DrawLayout(layout.MustParse("(8,64):(64,1)"), layout.Swizzle128, 2)),
		"vector":     must(DrawLayout(layout.MustParse("8:2"), layout.Swizzle{}, 4)),
		"m16n8k16.A": must(DrawFragment(fragment("mma.m16n8k16.A"))),
		"m16n8k8.B":  must(DrawFragment(fragment("mma.m16n8k8.tf32.B"))),
		"ldmatrix":   must(DrawFragment(fragment("ldmatrix.x2.trans"))),
		"striped":    must(DrawFragment(fragment("striped(8,40,2)"))),
		"reduced":    must(DrawFragment(&Fragment{"sum of rows", []string{"row"}, layout.Striped2(32, 8, 8, 32, 4).Reduce(1), 32})),
		"swizzle128": must(DrawSwizzle(layout.Swizzle128)),
		"swizzle64":  must(DrawSwizzle(layout.Swizzle64)),
		"banks.row":  banks("ldmatrix.x4.source", "(16,64):(64,1)", layout.Swizzle{}, 2, 16),
		"banks.sw":   banks("ldmatrix.x4.source", "(16,64):(64,1)", layout.Swizzle128, 2, 16),
		"banks.C":    banks("mma.m16n8k16.C", "(16,8):(8,1)", layout.Swizzle{}, 4, 8),
		"banks.same": must(DrawBanks("four lanes a word", []layout.WarpAccess{shared}, 4)),
		"banks.off":  banks("striped(32,20,1)", "20:2", layout.Swizzle{}, 4, 4),
	}
}

// TestGolden compares the pictures, as SVG and as text, with those that were looked at.
func TestGolden(t *testing.T) {
	for name, p := range pictures(t) {
		for ext, got := range map[string]string{".svg": p.SVG(), ".txt": p.Text(100)} {
			path := filepath.Join("testdata", name+ext)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s differs; look at the new one after go test ./internal/viz -update (-want +got):\n%s", path, d)
			}
		}
	}
}

// TestSVG: pictures are XML, refer to nothing outside, and every cell and word lies within the picture.
func TestSVG(t *testing.T) {
	for name, p := range pictures(t) {
		text := p.SVG()
		for _, outside := range []string{"href", "url(", "<script", "<image", "@import"} {
			if strings.Contains(text, outside) {
				t.Errorf("%s has %s", name, outside)
			}
		}
		want := 0
		for _, q := range p.Panels {
			want += len(q.Rows) * len(q.Cols)
		}
		var width, height float64
		cells := 0
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			at, class := attributes(e)
			switch {
			case e.Name.Local == "svg":
				width, height = at["width"], at["height"]
			case e.Name.Local != "rect" && e.Name.Local != "text" || class == "page" || len(at) == 0: // a turned text has no place of its own
				continue
			case at["x"] < 0 || at["y"] < 0 || at["x"]+at["width"] > width || at["y"]+at["height"] > height:
				t.Errorf("%s: %s of class %s at %v is not within %g x %g", name, e.Name.Local, class, at, width, height)
			}
			if class == "c" || strings.HasPrefix(class, "k ") {
				cells++
			}
		}
		if cells != want {
			t.Errorf("%s shows %d of %d cells", name, cells, want)
		}
	}
}

// attributes are those of an element that are numbers, and its class.
func attributes(e xml.StartElement) (at map[string]float64, class string) {
	at = map[string]float64{}
	for _, a := range e.Attr {
		if a.Name.Local == "class" {
			class = a.Value
		} else if x, err := strconv.ParseFloat(a.Value, 64); err == nil {
			at[a.Name.Local] = x
		}
	}
	return at, class
}
