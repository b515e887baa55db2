//go:build !gotilegen

package doccheck

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExported: go doc has a comment for every exported name, and every public package an example that is run.
func TestExported(t *testing.T) {
	dirs, err := Public(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"tile", "tile/tiletest", "runtime/driver/fake", "kernels/rmsnorm"} {
		if !slices.Contains(dirs, dir) {
			t.Fatalf("no package %s in %q", dir, dirs)
		}
	}
	for _, dir := range dirs {
		path := filepath.Join(root, filepath.FromSlash(dir))
		missing, err := Undocumented(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range missing {
			t.Errorf("%s: no comment: %s", dir, m)
		}
		examples, err := Examples(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(examples) == 0 {
			t.Errorf("%s: no Example with an output: what is the first thing that somebody does with the package?", dir)
		}
	}
}

// TestShown: every function and type of a package that other modules use is in an example that is run. The gotile command,
// the compilers behind it and the example packages are left out, and so are the functions that every package of kernels
// exports for the command, which the example packages show.
func TestShown(t *testing.T) {
	shown, err := Shown(root)
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := Public(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if top, _, _ := strings.Cut(dir, "/"); top == "cmd" || top == "codegen" || top == "examples" {
			continue
		}
		missing, err := Unshown(filepath.Join(root, filepath.FromSlash(dir)), shown)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range missing {
			if name != "Kernels" && name != "Cases" {
				t.Errorf("%s: no Example with an output has %s", dir, name)
			}
		}
	}
}

// TestUnshown: what an example shows, directly or by what it calls, and what it does not.
func TestUnshown(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": `package a

import "testing"

type Shown struct{ F Field }
type Field struct{}
type Result struct{}
type Given struct{}
type Kind int
type Titled struct{}
type Hidden struct{}

const K Kind = 1

func New(Given) *Result { return nil }
func (Result) Method() {}
func Absent() Hidden    { return Hidden{} }
func Run(*testing.T)    {}
func private()          {}
`,
		"a_test.go": `package a_test

func helper() { a.New(a.K) }

func ExampleTitled() {
	_ = a.Shown{}
	// Output: 1
}
`,
		"b_test.go": "package a_test\n\nfunc ExampleX() { a.Absent() }\n", // without an output it is not run
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shown, err := Shown(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unshown(dir, shown)
	if d := cmp.Diff([]string{"Absent", "Hidden"}, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

// TestUndocumented: what is found, and what needs no comment.
func TestUndocumented(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": `package a

type A[T any] struct{ F int }

func (a *A[T]) M() {}
func (a A[T]) m()  {}
func (b) M()       {}

type b int

func F() {}

var X, y = 1, 2

const (
	C = 1 // a comment
	// D has one.
	D = 2
	E = 3
)

// The group.
const (
	G = 1
	H = 2
)

// I has methods.
type I interface{ M() }
`,
		"a_test.go": "package a\n\nfunc ExampleF() {\n\t// Output: 1\n}\n\nfunc ExampleA() {}\n\nfunc Helper() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Undocumented(dir)
	want := []string{"a.go:11: F", "a.go:13: X", "a.go:19: E", "a.go:3: A", "a.go:5: A.M", "the package"}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	examples, err := Examples(dir)
	if d := cmp.Diff([]string{"F"}, examples); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}
