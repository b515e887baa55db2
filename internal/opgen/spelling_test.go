package main

import (
	"bufio"
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	gotypes "go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/ir"
)

const tilePath = "github.com/gotile/gotile/tile"

// tilePackage is package tile as the compiler exports it.
func tilePackage(t *testing.T) *gotypes.Package {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", tilePath)
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
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(files[path])
	})
	pkg, err := imp.Import(tilePath)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

// hasMethod finds an exported method of a type of the package.
func hasMethod(pkg *gotypes.Package, typ, name string) bool {
	obj, ok := pkg.Scope().Lookup(typ).(*gotypes.TypeName)
	if !ok {
		return false
	}
	m, _, _ := gotypes.LookupFieldOrMethod(gotypes.NewPointer(obj.Type()), true, pkg, name)
	_, ok = m.(*gotypes.Func)
	return ok && m.Exported()
}

// resolve is the full name of a spelling: a function, a type or a constant of the package, a method of Reg, or
// Type.Method; empty where there is none.
func resolve(pkg *gotypes.Package, name string) string {
	if typ, method, ok := strings.Cut(name, "."); ok {
		if hasMethod(pkg, typ, method) {
			return name
		}
		return ""
	}
	if obj := pkg.Scope().Lookup(name); obj != nil && obj.Exported() {
		return name
	}
	if hasMethod(pkg, "Reg", name) {
		return "Reg." + name
	}
	return ""
}

// TestSpellings: each name in the table of ops is one of package tile.
func TestSpellings(t *testing.T) {
	pkg := tilePackage(t)
	for op := ir.Invalid + 1; op < ir.NumOps; op++ {
		for _, name := range spellings(op) {
			if resolve(pkg, name) == "" {
				t.Errorf("%v: package tile has no %s", op, name)
			}
		}
	}
	for _, none := range []string{"Broadcast", "tile.Const", "Block.Barrier", "Reg.add", "striped"} { // the test itself
		if got := resolve(pkg, none); got != "" {
			t.Errorf("%s resolves to %s", none, got)
		}
	}
}

// host are names of package tile that are for the code around a kernel, not for its body.
var host = regexp.MustCompile(`^(Define|Configs|Sets|Hashed|Threads|ClusterSize|MinBlocks|WholeVectors|Targets|Doc|Limit|Form\.String|Err[A-Z]\w*|(Kernel|Set|Family|Error|Errors|Named)\.\w+)$`)

// TestCompounds: the names of the second section exist, once each, and with the op table they are all that package tile
// exports for use in a kernel.
func TestCompounds(t *testing.T) {
	pkg := tilePackage(t)
	listed := map[string]bool{}
	for op := ir.Invalid + 1; op < ir.NumOps; op++ {
		for _, name := range spellings(op) {
			listed[resolve(pkg, name)] = true
		}
	}
	seen := map[string]bool{}
	for _, c := range compounds {
		for _, name := range c.names {
			full := resolve(pkg, name)
			if full == "" || seen[full] {
				t.Errorf("package tile has no %s, or it is listed twice", name)
			}
			seen[full], listed[full] = true, true
		}
	}
	check := func(name string) {
		if !listed[name] && !host.MatchString(name) {
			t.Errorf("docs/ops.md does not mention %s", name)
		}
	}
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		typ, ok := obj.(*gotypes.TypeName)
		switch {
		case !obj.Exported():
		case !ok:
			check(name)
		case typ.Pkg() == pkg && !typ.IsAlias():
			for m := range gotypes.NewMethodSet(gotypes.NewPointer(typ.Type())).Methods() {
				if _, iface := typ.Type().Underlying().(*gotypes.Interface); !iface && m.Obj().Exported() {
					check(name + "." + m.Obj().Name())
				}
			}
		}
	}
}
