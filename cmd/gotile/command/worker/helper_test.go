//go:build !gotilegen

package worker

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/cmd/gotile/command/internal/axpy"
	"github.com/gotile/gotile/tile"
)

// fixture is a package in a directory of its own with the kernels and cases of package axpy, generated.
func fixture(t *testing.T) Package {
	t.Helper()
	p := Package{Path: "example.com/axpy", Name: "axpy", Dir: t.TempDir(), Commit: "c0ffee", Kernels: axpy.Kernels, Cases: axpy.Cases}
	mustRun(t, p, "gen")
	return hashed(t, p)
}

// hashed notes the sources as they are in the directory.
func hashed(t *testing.T, p Package) Package {
	t.Helper()
	var err error
	if p.Sources, err = HashSources(p.Dir); err != nil {
		t.Fatal(err)
	}
	return p
}

// call runs a command in-process.
func call(t *testing.T, p Package, command string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p.Command = command
	code = Run(context.Background(), p, args, &out, &errs)
	return code, out.String(), errs.String()
}

func mustRun(t *testing.T, p Package, command string, args ...string) string {
	t.Helper()
	code, out, errs := call(t, p, command, args...)
	if code != 0 {
		t.Fatalf("%s %v: exit code %d\n%s%s", command, args, code, out, errs)
	}
	return out
}

// mustFail expects an exit code and some words on either stream.
func mustFail(t *testing.T, want int, words string, p Package, command string, args ...string) {
	t.Helper()
	code, out, errs := call(t, p, command, args...)
	if code != want || !strings.Contains(out+errs, words) {
		t.Errorf("%s %v: exit code %d, want %d with %q:\n%s%s", command, args, code, want, words, out, errs)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, text string, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// named is a config of the kernel that it names.
type named string

func (n named) KernelName() string { return string(n) }

// edited are axpy's kernels, of which some have another body.
func edited(names ...string) func() tile.Set {
	change := map[string]bool{}
	for _, n := range names {
		change[n] = true
	}
	build := func(n named) (*tile.Kernel, error) {
		if !change[string(n)] {
			return axpy.Kernels().Build(string(n))
		}
		return double(string(n), 64)
	}
	return func() tile.Set {
		var sets []tile.Set
		for _, n := range axpy.Kernels().Names() {
			sets = append(sets, tile.Configs(build, named(n)))
		}
		return tile.Sets(sets...)
	}
}

type doubleArgs struct {
	X tile.Global[tile.F32] `tile:"n"`
	Y tile.Global[tile.F32] `tile:"n"`
}

// double is a kernel that no z-file of the fixture knows.
func double(name string, threads int) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a doubleArgs) {
		block := k.Block()
		x := tile.Load(block, a.X, block.Striped(256, 4))
		tile.Store(block, a.Y, x.Add(x))
	}, tile.Threads(threads))
}
