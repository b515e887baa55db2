//go:build !gotilegen

package worker

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gotile/gotile/cmd/gotile/command/internal/axpy"
	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/tile"
)

// The files in the repository are what the kernels print.
func TestCommittedFilesAreFresh(t *testing.T) {
	p := fixture(t)
	p.Dir = filepath.Join("..", "internal", "axpy")
	mustRun(t, p, "gen", "-check")
}

// A function that ends its goroutine, as a test's FailNow does, is an error with its line, and no other command waits for it.
func TestBuildEndsItsGoroutine(t *testing.T) {
	type args struct {
		X tile.Global[tile.F32] `tile:"n"`
	}
	for _, command := range []string{"gen", "viz"} {
		p := Package{Path: "example.com/ends", Name: "ends", Dir: t.TempDir(), Kernels: func() tile.Set {
			return tile.Configs(func(c ending) (*tile.Kernel, error) {
				return tile.Define(c.KernelName(), func(k *tile.Builder, a args) { runtime.Goexit() })
			}, ending{})
		}}
		var flags []string
		if command == "viz" {
			flags = []string{"-kernel", "ends"}
		}
		mustFail(t, 1, "building ends ended its goroutine", p, command, flags...)
		mustFail(t, 1, "gen_test.go:", p, command, flags...)
	}
}

type ending struct{}

func (ending) KernelName() string { return "ends" }

func TestGenIsReproducible(t *testing.T) {
	a, b := fixture(t), fixture(t)
	files, others := filesOf(t, a), filesOf(t, b)
	if len(files) != 8 || len(others) != 8 {
		t.Fatalf("got %v; want 5 .cu and 3 z-files", slices.Collect(maps.Keys(files)))
	}
	for name, text := range files {
		if text != others[name] {
			t.Errorf("%s differs between runs", name)
		}
		if !strings.HasPrefix(text, gowrap.Header+"\n") {
			t.Errorf("%s does not start with the header", name)
		}
		if strings.Contains(text, a.Dir) || strings.Contains(text, time.Now().Format("2006")) {
			t.Errorf("%s has a path or a date", name)
		}
	}
}

func TestGenWritesOnlyWhatChanges(t *testing.T) {
	p := fixture(t)
	past := time.Now().Add(-time.Hour)
	cu, z := filepath.Join(p.Dir, "cuda", "sum_f32_c512.cu"), filepath.Join(p.Dir, "zsum.go")
	for _, path := range []string{cu, z} {
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{nil, {"-check"}} {
		if out := mustRun(t, p, "gen", args...); out != "8 files are up to date\n" {
			t.Errorf("a second run with %v says:\n%s", args, out)
		}
	}
	text := read(t, cu)
	write(t, text+"// edited\n", cu)
	if out := mustRun(t, p, "gen"); out != "wrote cuda/sum_f32_c512.cu\n" {
		t.Errorf("got %q", out)
	}
	if read(t, cu) != text {
		t.Error("the edited file is not restored")
	}
	if info, err := os.Stat(z); err != nil || !info.ModTime().Equal(past.Truncate(0)) && info.ModTime().After(past.Add(time.Minute)) {
		t.Errorf("the z-file was touched: %v, %v", info.ModTime(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(p.Dir, ".*")); left != nil {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestGenCheck(t *testing.T) {
	p := fixture(t)
	mustRun(t, p, "gen", "-check")
	cu := filepath.Join(p.Dir, "cuda", "axpy_f32_c64.cu")
	text := read(t, cu)
	write(t, strings.Replace(text, "Launch: 64 threads", "Launch: 46 threads", 1), cu)
	mustFail(t, 1, "axpy_f32_c64.cu is stale (-have +want)", p, "gen", "-check")
	mustFail(t, 1, "Launch: 46 threads", p, "gen", "-check") // the diff
	if !strings.Contains(read(t, cu), "46 threads") {
		t.Error("-check wrote the file")
	}
	os.Remove(cu)
	mustFail(t, 1, "axpy_f32_c64.cu is missing", p, "gen", "-check")
	if _, err := os.Stat(cu); err == nil {
		t.Error("-check wrote the file")
	}
}

func TestGenRemovesOnlyItsOwn(t *testing.T) {
	p := fixture(t)
	write(t, gowrap.Header+"\n\nold", p.Dir, "cuda", "axpy_f32_c32.cu")
	write(t, gowrap.Header+"\n\nolder", p.Dir, "axpy_f32_c64.cu") // beside the Go files, as it once was
	write(t, gowrap.Header+"\n//go:build !gotilegen\n\npackage axpy\n", p.Dir, "zold.go")
	write(t, "// by hand\n", p.Dir, "mine.cu")
	write(t, "// by hand\n", p.Dir, "cuda", "mine.cu")
	write(t, "package axpy\n", p.Dir, "zebra.go")
	write(t, "<<<<<<< ours\n", p.Dir, "zbroken.go")
	mustFail(t, 1, "axpy_f32_c32.cu belongs to no kernel any more", p, "gen", "-check")
	code, out, errs := call(t, p, "gen")
	removed := func(name string) string { return "removed " + name + ": it belongs to no kernel any more\n" }
	if want := removed("cuda/axpy_f32_c32.cu") + removed("zold.go") + removed("axpy_f32_c64.cu"); code != 0 || out != want {
		t.Errorf("exit code %d, got\n%s", code, out)
	}
	if !strings.Contains(errs, "zbroken.go is not Go") {
		t.Errorf("no word of the broken file: %q", errs)
	}
	for _, name := range []string{"mine.cu", "cuda/mine.cu", "zebra.go", "zbroken.go"} {
		read(t, p.Dir, name)
	}
}

func TestGenWritesNothingWhenAKernelFails(t *testing.T) {
	p := fixture(t)
	p.Dir = t.TempDir()
	p.Kernels = func() tile.Set {
		return tile.Configs(func(n named) (*tile.Kernel, error) {
			if n == "bad" {
				return double("bad", 33)
			}
			return double(string(n), 64)
		}, "good", "bad")
	}
	mustFail(t, 1, "Threads(33): a block has a multiple of 32 threads", p, "gen")
	if left, _ := filepath.Glob(filepath.Join(p.Dir, "*")); left != nil {
		t.Errorf("wrote %v", left)
	}
	p.Kernels = func() tile.Set { return tile.Set{} }
	mustFail(t, 1, "Kernels() is an empty set", p, "gen")
	one := func(n named) (*tile.Kernel, error) { return double(string(n), 64) }
	p.Kernels = func() tile.Set {
		return tile.Sets(tile.Configs(one, named("twice")), tile.Configs(one, named("twice")))
	}
	mustFail(t, 1, "two kernels are called twice", p, "gen")
	p.Kernels = func() tile.Set {
		return tile.Sets(tile.Configs(one, named("twice")), tile.Configs(one, named("other")))
	}
	mustFail(t, 1, "two families would write zdouble.go", p, "gen")
}

// TestHashed: of a hashed set a file of hashes is committed, which says what is stale as the text would; receipts are of
// what it stands for.
func TestHashed(t *testing.T) {
	threads := 64
	p := Package{Path: "example.com/hashed", Name: "hashed", Dir: t.TempDir(), Cases: axpy.Cases}
	p.Kernels = func() tile.Set {
		return tile.Hashed(tile.Configs(func(n named) (*tile.Kernel, error) { return double(string(n), threads) }, named("twice")))
	}
	mustFail(t, 1, "kernels.sha256 is missing", p, "gen", "-check")
	mustRun(t, p, "gen")
	if entries, err := os.ReadDir(p.Dir); err != nil || len(entries) != 1 {
		t.Errorf("%v %v, want the folder of the hashes alone", entries, err)
	}
	p = hashed(t, p)
	mustRun(t, p, "gen", "-check")
	if text := read(t, p.Dir, "cuda", "kernels.sha256"); len(p.Sources) != 1 || !strings.Contains(text, p.Sources["twice.cu"]+"  twice.cu\n") {
		t.Errorf("%v of:\n%s", p.Sources, text)
	}
	mustFail(t, 1, "twice (twice.cu): no receipt for any of its targets", p, "verify", "-check")
	threads = 128
	mustFail(t, 1, "kernels.sha256 is stale", p, "gen", "-check")
	mustFail(t, 1, "twice.cu is not what the kernel prints now", p, "verify", "-check")
	p.Kernels = axpy.Kernels
	mustRun(t, p, "gen")
	if _, err := os.Stat(filepath.Join(p.Dir, "cuda", "kernels.sha256")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the hashes are still there: %v", err)
	}
}
