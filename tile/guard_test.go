package tile_test

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// exports finds the compiler's export data of package tile and all it imports.
func exports(t *testing.T) func(path string) (io.ReadCloser, error) {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", ".")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	files := map[string]string{}
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		path, file, _ := strings.Cut(sc.Text(), "=")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(files[path])
	}
}

const tilePath = "github.com/gotile/gotile/tile"

// TestIncomparable type-checks uses of traced types that would silently compare Go values, not GPU values.
func TestIncomparable(t *testing.T) {
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", exports(t))
	check := func(body string) error {
		src := "package p\n\nimport \"" + tilePath + "\"\n\nvar _ tile.F32\n\n" + body
		f, err := parser.ParseFile(fset, "p.go", src, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = (&types.Config{Importer: imp}).Check("p", fset, []*ast.File{f}, nil)
		return err
	}
	if err := check("func f(x, y tile.Reg[tile.F32]) tile.Reg[tile.Bool] { return x.Eq(y) }"); err != nil {
		t.Fatalf("a right program does not compile: %v", err)
	}
	traced := []string{"tile.Reg[tile.F32]", "tile.Index", "tile.Var[tile.F32]", "tile.Scalar[tile.F32]", "tile.Global[tile.F32]",
		"tile.View[tile.F32]", "tile.Shared[tile.F32]", "tile.Span", "tile.Block", "tile.Warp", "tile.Cluster", "tile.Builder", "tile.MBarriers", "tile.MBarrier", "tile.PeerMBarrier", "tile.Token", "tile.NamedBarrier",
		"tile.Slot", "tile.Pipeline[struct{ tile.Slot }]", "tile.Group", "tile.Work"}
	for _, typ := range traced {
		for use, body := range map[string]string{
			"==":      "func f(x, y %[1]s) bool { return x == y }",
			"!=":      "func f(x, y %[1]s) bool { return x != y }",
			"switch":  "func f(x, y %[1]s) int { switch x { case y: return 1 }; return 0 }",
			"map":     "var m map[%[1]s]int",
			"generic": "func g[K comparable](K) {}\nfunc f(x %[1]s) { g(x) }",
		} {
			if err := check(fmt.Sprintf(body, typ)); err == nil {
				t.Errorf("%s on %s compiles", use, typ)
			}
		}
	}
	// No traced type is forgotten above: each holds the kernel's builder.
	pkg, err := imp.Import(tilePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pkg.Scope().Names() {
		s, ok := pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		if !ok || !token.IsExported(name) {
			continue
		}
		holds := false
		for i := range s.NumFields() {
			holds = holds || strings.HasSuffix(s.Field(i).Type().String(), "ir.Builder")
		}
		listed := false
		for _, typ := range traced {
			base, _, _ := strings.Cut(typ, "[")
			listed = listed || base == "tile."+name
		}
		if holds != listed {
			t.Errorf("%s holds a builder: %v; is in this test: %v", name, holds, listed)
		}
	}
}

// TestTypeErrors holds mistakes that Go's own types catch.
func TestTypeErrors(t *testing.T) {
	fset := token.NewFileSet()
	imp := importer.ForCompiler(fset, "gc", exports(t))
	for name, body := range map[string]string{
		"two element types":            "func f(x tile.Reg[tile.F32], y tile.Reg[tile.BF16]) { x.Add(y) }",
		"an untyped number":            "func f(x tile.Reg[tile.F32]) { x.Add(2) }",
		"a number of another type":     "func f(x tile.Reg[tile.F32]) { x.Add(tile.I32(2)) }",
		"a store of another type":      "func f(k *tile.Builder, g tile.Global[tile.F32], x tile.Reg[tile.BF16]) { tile.Store(k, g, x) }",
		"a bool in memory":             "var g tile.Global[tile.Bool]",
		"a float as an index":          "func f(k *tile.Builder) { for range tile.Range(k, 0, 2.5, 1) {} }",
		"a tile as an index":           "func f(k *tile.Builder, x tile.Reg[tile.I32]) { for range tile.Range(k, 0, x, 1) {} }",
		"an if on a traced condition":  "func f(x tile.Reg[tile.F32]) { if x.Gt(x) {} }",
		"a for over a traced number":   "func f(i tile.Index) { for range i {} }",
		"a float maximum with atomics": "func f(k *tile.Builder, g tile.Global[tile.F32], x tile.Reg[tile.F32]) { tile.AtomicMax(k, g, x) }",
	} {
		f, err := parser.ParseFile(fset, "p.go", "package p\n\nimport \""+tilePath+"\"\n\n"+body, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&types.Config{Importer: imp}).Check("p", fset, []*ast.File{f}, nil); err == nil {
			t.Errorf("%s compiles", name)
		}
	}
}
