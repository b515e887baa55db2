package doccheck

import (
	"go/ast"
	"go/doc"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Shown is what examples with an output mention, or are named for, in all folders under root: pkg.Name of a package, and
// .Name of methods.
// The files that hold such examples count as a whole, with the kernels and helpers beside them.
func Shown(root string) (map[string]bool, error) {
	shown := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		f, err := parse(path)
		if err != nil {
			return err
		}
		for _, file := range f.test {
			for _, e := range doc.Examples(file) {
				if e.Output != "" || e.EmptyOutput {
					shown[strings.TrimSuffix(file.Name.Name, "_test")+"."+e.Name] = true
					mentions(file, shown)
				}
			}
		}
		return nil
	})
	return shown, err
}

// mentions adds what a file selects from packages and values.
func mentions(file *ast.File, shown map[string]bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			shown["."+s.Sel.Name] = true
			if x, ok := s.X.(*ast.Ident); ok {
				shown[x.Name+"."+s.Sel.Name] = true
			}
		}
		return true
	})
}

// Unshown lists the exported functions and types of the package in a folder that no example mentions. A type counts as
// mentioned where a function, a method or a constant that is mentioned gives it or takes it, or a type that is mentioned
// has it. Functions that a test calls with its T are left to tests.
func Unshown(dir string, shown map[string]bool) ([]string, error) {
	f, err := parse(dir)
	if err != nil || len(f.code) == 0 {
		return nil, err
	}
	pkg := f.code[0].Name.Name
	types := map[string]*ast.TypeSpec{} // the exported ones that are not mentioned yet
	var mark func(ast.Node)
	mark = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && types[id.Name] != nil {
				t := types[id.Name]
				delete(types, id.Name)
				mark(t)
			}
			return true
		})
	}
	each := func(do func(ast.Decl)) {
		for _, file := range f.code {
			for _, d := range file.Decls {
				do(d)
			}
		}
	}
	each(func(d ast.Decl) {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, s := range g.Specs {
				if t := s.(*ast.TypeSpec); t.Name.IsExported() {
					types[t.Name.Name] = t
				}
			}
		}
	})
	var out []string
	each(func(d ast.Decl) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name, public := method(d)
			switch {
			case !public:
			case shown[pkg+"."+name] || d.Recv != nil && shown["."+d.Name.Name]:
				mark(d.Type)
			case d.Recv == nil && !forTests(d):
				out = append(out, name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				v, ok := s.(*ast.ValueSpec)
				if ok && slices.ContainsFunc(v.Names, func(id *ast.Ident) bool { return shown[pkg+"."+id.Name] }) {
					mark(v)
				}
				if t, ok := s.(*ast.TypeSpec); ok && shown[pkg+"."+t.Name.Name] {
					mark(t)
				}
			}
		}
	})
	out = slices.AppendSeq(out, maps.Keys(types))
	slices.Sort(out)
	return slices.Compact(out), nil // files of other platforms have some twice
}

// forTests reports whether a function takes a test first.
func forTests(d *ast.FuncDecl) bool {
	params := d.Type.Params.List
	if len(params) == 0 {
		return false
	}
	t := params[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	s, ok := t.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "testing"
}
