package doccheck

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Source files of one folder: those of its package, and those of its tests.
type folder struct {
	fset       *token.FileSet
	code, test []*ast.File
}

// parse reads the Go files of a folder, of all platforms and build tags.
func parse(dir string) (folder, error) {
	f := folder{fset: token.NewFileSet()}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return f, err
	}
	for _, path := range paths {
		file, err := parser.ParseFile(f.fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return f, err
		}
		if strings.HasSuffix(path, "_test.go") {
			f.test = append(f.test, file)
		} else {
			f.code = append(f.code, file)
		}
	}
	return f, nil
}

// Public lists the folders under root, relative to it, that hold packages which other modules can import: none below
// internal or testdata, and no programs.
func Public(root string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name := d.Name()
		if path != root && (name == "internal" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		f, err := parse(path)
		if err != nil || len(f.code) == 0 || f.code[0].Name.Name == "main" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		out = append(out, filepath.ToSlash(rel))
		return err
	})
	return out, err
}

// Undocumented lists the exported functions, methods, types, constants and variables of the package in a folder that
// have no comment, with their positions, and the package if it has none. The comment of a group serves its members.
// Fields and the methods of interfaces are left to the comment of their type.
func Undocumented(dir string) ([]string, error) {
	f, err := parse(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	missing := func(at token.Pos, name string) {
		p := f.fset.Position(at)
		out = append(out, fmt.Sprintf("%s:%d: %s", filepath.Base(p.Filename), p.Line, name))
	}
	if !slices.ContainsFunc(f.code, func(file *ast.File) bool { return file.Doc != nil }) {
		out = append(out, "the package")
	}
	for _, file := range f.code {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name, public := method(d); public && d.Doc == nil {
					missing(d.Pos(), name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					for _, id := range uncommented(d, s) {
						missing(id.Pos(), id.Name)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// method is a function's name, with its receiver's type, and whether documentation shows it.
func method(d *ast.FuncDecl) (name string, public bool) {
	if d.Recv == nil {
		return d.Name.Name, d.Name.IsExported()
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + d.Name.Name, x.IsExported() && d.Name.IsExported()
		default:
			return d.Name.Name, false
		}
	}
}

// uncommented are the exported names of a declaration without a comment of their own or of their group.
func uncommented(d *ast.GenDecl, s ast.Spec) []*ast.Ident {
	var names []*ast.Ident
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Doc == nil && s.Comment == nil {
			names = []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		if s.Doc == nil && s.Comment == nil {
			names = s.Names
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(id *ast.Ident) bool { return d.Doc != nil || !id.IsExported() })
}

// Examples names the examples in a folder's tests that have an output, so that go test runs them and compares.
func Examples(dir string) ([]string, error) {
	f, err := parse(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range doc.Examples(f.test...) {
		if e.Output != "" || e.EmptyOutput {
			out = append(out, e.Name)
		}
	}
	return out, nil
}
