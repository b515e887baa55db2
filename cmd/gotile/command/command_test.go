package command

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gotile/gotile/cmd/gotile/command/worker"
)

// module is a temporary module that uses this tree, with the fixture kernels in a package of its own, offline.
type module struct{ root, pkg string }

// newModule copies package axpy to dir of a new module and generates it.
func newModule(t *testing.T, dir string) module {
	t.Helper()
	tree, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	m := module{root: t.TempDir()}
	m.pkg = filepath.Join(m.root, filepath.FromSlash(dir))
	offline(t)
	m.write(t, "go.mod", fmt.Sprintf("module example.com/user\n\ngo 1.26.0\n\ntool github.com/gotile/gotile/cmd/gotile\n\nrequire github.com/gotile/gotile v0.0.0\n\n%s\nreplace github.com/gotile/gotile => %s\n",
		indirect(m.readFrom(t, tree, "go.mod")), tree))
	m.write(t, "go.sum", m.readFrom(t, tree, "go.sum"))
	for _, name := range []string{"axpy.go", "pairs.go", "cases.go"} {
		m.write(t, dir+"/"+name, m.readFrom(t, tree, "cmd/gotile/command/internal/axpy", name))
	}
	t.Chdir(m.pkg)
	return m
}

// indirect is what go mod tidy writes into the go.mod of a user for the modules that gotile's requires. Tidy itself would
// ask for tests of theirs, which an offline cache need not have.
func indirect(gomod string) string {
	var lines []string
	for line := range strings.Lines(gomod) {
		if strings.HasPrefix(line, "\t") {
			lines = append(lines, strings.Join(strings.Fields(line)[:2], " "))
		}
	}
	return "require (\n\t" + strings.Join(lines, " // indirect\n\t") + " // indirect\n)\n"
}

func (m module) readFrom(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (m module) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(m.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := run(t, args...)
	if code != 0 {
		t.Fatalf("gotile %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

func mustFail(t *testing.T, want int, words string, args ...string) {
	t.Helper()
	code, out, errs := run(t, args...)
	if code != want || !strings.Contains(out+errs, words) {
		t.Errorf("gotile %s: exit code %d, want %d with %q:\n%s%s", strings.Join(args, " "), code, want, words, out, errs)
	}
}

// The bootstrap rules of generated code: whatever happened to it, gen repairs it.
func TestBootstrap(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in a temporary module")
	}
	m := newModule(t, "kernels/axpy")
	mustRun(t, "gen")
	want := m.readFrom(t, m.pkg, "zaxpy.go")
	for _, c := range []struct {
		name  string
		spoil func()
		file  string // what gen says it wrote
	}{
		{"z-file missing", func() { os.Remove("zaxpy.go") }, "zaxpy.go"},
		{"z-file with conflict markers on line 1", func() {
			m.write(t, "kernels/axpy/zaxpy.go", "<<<<<<< HEAD\n"+want+"=======\n"+want+">>>>>>> theirs\n")
		}, "zaxpy.go"},
		{"z-file empty", func() { m.write(t, "kernels/axpy/zaxpy.go", "") }, "zaxpy.go"},
		{"z-file of an older interface", func() {
			m.write(t, "kernels/axpy/zaxpy.go", strings.ReplaceAll(want, "GenV1", "GenV0"))
		}, "zaxpy.go"},
		{".cu deleted", func() { os.Remove("cuda/axpy_f32_c64.cu") }, "cuda/axpy_f32_c64.cu"},
	} {
		c.spoil()
		if out := mustRun(t, "gen"); out != "wrote "+c.file+"\n" {
			t.Errorf("%s: gen says %q", c.name, out)
		}
		if got := m.readFrom(t, m.pkg, "zaxpy.go"); got != want {
			t.Errorf("%s: the z-file differs", c.name)
		}
	}
	if out := mustRun(t, "sim", "-run", "rows=5/n=7", "./..."); !strings.HasSuffix(out, "2 cases passed on sim\n") {
		t.Errorf("sim says %q", out)
	}
	// Running a case does need the generated code.
	os.Remove("zsum.go")
	mustFail(t, 1, "run: gotile gen", "sim")
	mustRun(t, "gen")
}

// A suite of the user's own: built with the generated code; TestOutsideTheModule runs one elsewhere, with -c.
func TestBench(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in a temporary module")
	}
	m := newModule(t, "kernels/axpy")
	mustRun(t, "gen")
	m.write(t, "kernels/axpy/suite.go", `//go:build !gotilegen

package axpy

import (
	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/dtype"
)

func Suite() bench.Suite {
	return bench.Suite{Name: "axpy", Benchmarks: func(bench.Selection) ([]bench.Benchmark, error) {
		return []bench.Benchmark{{Name: "axpy/8x64/f32", Bytes: 8 * 64 * 8, Setup: func(s *bench.Setup) ([]bench.Contender, error) {
			x, err := s.New(dtype.F32, 8, 64)
			if err != nil {
				return nil, err
			}
			b, err := s.New(dtype.F32, 64)
			if err != nil {
				return nil, err
			}
			y, err := s.New(dtype.F32, 8, 64)
			return []bench.Contender{{Name: "gotile", Launch: func(int) error {
				return launchAxpy(s.Stream, axpyParams{X: x, B: b, Y: y, Alpha: 3})
			}}}, err
		}}}, nil
	}}
}
`)
	mustRun(t, "bench", "-device", "sim", "-rounds", "1", "-replays", "1", "-out", "here")
	if text := m.readFrom(t, m.pkg, "here", "sim", "axpy.json"); !strings.Contains(text, `"axpy/8x64/f32"`) || !strings.Contains(text, "bench -device sim -rounds 1 -replays 1 example.com/user/kernels/axpy") {
		t.Errorf("results:\n%s", text)
	}
	m.write(t, "second/second.go", "package second\n\nimport \"github.com/gotile/gotile/bench\"\n\nfunc Suite() bench.Suite { return bench.Suite{} }\n")
	mustFail(t, 2, "each of 2 suites would overwrite", "bench", "-benchfmt", "new.txt", ".", "../../second")
	m.write(t, "plain/plain.go", "package plain\n\nfunc F() {}\n")
	mustFail(t, 2, "no suite: package example.com/user/plain has no func Suite() bench.Suite", "bench", "../../plain")
	mustFail(t, 2, "no package of ../../plain/... exports func Suite() bench.Suite", "bench", "../../plain/...")
	mustFail(t, 2, "github.com/gotile/gotile/bench/rmsnorm is not in the module you are in", "bench", "rmsnorm")
	os.Remove("zsum.go")
	mustFail(t, 1, "run: gotile gen", "bench")
}

// What the machine lacks is said once, before any package is built.
func TestLacks(t *testing.T) {
	t.Setenv("GOTILE_NVRTC", filepath.Join(t.TempDir(), "none.so"))
	code, out, errs := run(t, "check", "../../../examples/softmax", "../../../examples/swiglu")
	if code != 1 || out != "" || !strings.HasPrefix(errs, "gotile: check: ") || strings.Count(errs, "gotile: check: ") != 1 || !strings.Contains(errs, "none.so") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// Under internal/ only packages beside it may import the kernels, and with -mod=vendor gotile comes from vendor.
func TestBootstrapInternalVendored(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in a temporary module")
	}
	m := newModule(t, "a/internal/kernels")
	mustRun(t, "gen", "-v")
	vendor := exec.Command("go", "mod", "vendor")
	vendor.Dir = m.root
	if out, err := vendor.CombinedOutput(); err != nil {
		t.Fatalf("go mod vendor: %v\n%s", err, out)
	}
	t.Setenv("GOFLAGS", "-mod=vendor")
	os.Remove("zsum.go")
	if out := mustRun(t, "gen"); out != "wrote zsum.go\n" {
		t.Errorf("gen says %q", out)
	}
	mustRun(t, "sim", "-run", "sum")
	// As go generate would run it.
	cmd := exec.Command("go", "tool", "gotile", "gen", "-check")
	cmd.Dir = m.pkg
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go tool gotile: %v\n%s", err, out)
	}
}

func TestPackagesRefused(t *testing.T) {
	m := newModule(t, "kernels/axpy")
	m.write(t, "plain/plain.go", "package plain\n\nfunc F() {}\n")
	m.write(t, "prog/main.go", "package main\n\nfunc Kernels() {}\n\nfunc main() {}\n")
	m.write(t, "nocases/k.go", "package nocases\n\nimport \"github.com/gotile/gotile/tile\"\n\nfunc Kernels() tile.Set { return tile.Set{} }\n")
	m.write(t, "tagged/k.go", "//go:build !gotilegen\n\npackage tagged\n\nimport \"github.com/gotile/gotile/tile\"\n\nfunc Kernels() tile.Set { return tile.Set{} }\n")
	m.write(t, "two/k.go", "package two\n\nfunc Kernels() {}\n\nfunc Cases() {}\n")
	m.write(t, "untagged/k.go", "package untagged\n\nimport \"github.com/gotile/gotile/tile\"\n\nfunc Kernels() tile.Set { return tile.Set{} }\n\nvar _ = launchX\n")
	mustFail(t, 2, "package example.com/user/plain has no func Kernels() tile.Set", "gen", "../../plain")
	mustFail(t, 2, "no package of ../../plain/... exports func Kernels()", "gen", "../../plain/...")
	mustFail(t, 2, "example.com/user/prog is package main, which cannot be imported", "gen", "../../prog")
	mustFail(t, 2, "no func Cases() []tiletest.Case", "sim", "../../nocases")
	mustFail(t, 1, "Kernels() is an empty set", "gen", "../../nocases")
	mustFail(t, 2, "example.com/user/tagged", "gen", "../../tagged")
	mustFail(t, 1, "must carry //go:build !gotilegen", "gen", "../../untagged")
	mustFail(t, 2, "nowhere", "gen", "./nowhere")
	mustFail(t, 2, "example.com/nowhere", "check", "example.com/nowhere")
	mustFail(t, 2, "gotile has no suite of its own called nowhere; another package is named by its path, such as ./nowhere", "bench", "nowhere")
	mustFail(t, 2, "is not in the module you are in", "gen", "github.com/gotile/gotile/cmd/gotile/command/internal/axpy")
	mustFail(t, 2, "-c builds one program for one package; these are 2: example.com/user/kernels/axpy, example.com/user/two", "verify", "-c", "x", ".", "../../two")
}

func TestCommandLine(t *testing.T) {
	t.Setenv("GOTILE_TYPO", "1")
	mustFail(t, 2, `unknown command "gne"; have `+strings.Join(commandNames(), ", ")+`, and help`, "gne")
	t.Setenv("GOTILE_TYPO", "")
	os.Unsetenv("GOTILE_TYPO")
	if code, out, errs := run(t, "gen", "-nope"); code != 2 || out != "" || errs != "gotile gen: flag provided but not defined: -nope; run gotile gen -h\n" {
		t.Errorf("an unknown flag: exit code %d, %q, %q", code, out, errs)
	}
	t.Setenv("GOTILE_TYPO", "1")
	mustFail(t, 2, "invalid value", "sim", "-seed", "x")
	mustFail(t, 2, "-case follows ./axpy: flags come first", "sim", "./axpy", "-case", "x")
	mustFail(t, 2, "-h follows rmsnorm: flags come first", "bench", "rmsnorm", "-h")
	mustFail(t, 2, "-name follows x: flags come first", "init", "x", "-name", "y")
	mustFail(t, 0, "usage: gotile viz", "viz", "layout", "-h")
	mustFail(t, 2, "The commands:")
	mustFail(t, 0, "GOTILE_NVRTC", "help")
	mustFail(t, 0, worker.PackagesHelp, "help")
	mustFail(t, 2, "GOTILE_TYPO is set, but gotile has none of that name", "gen", "./nowhere")
}

// TestHelp walks all commands: each has one line in the list and a text with an example that names it; those that work
// on packages say what packages are.
func TestHelp(t *testing.T) {
	list := mustRun(t, "help")
	names := commandNames()
	if len(names) != len(worker.Commands)+len(locals) || len(locals) == 0 {
		t.Fatalf("commands %v", names)
	}
	for _, c := range names {
		if !strings.Contains(list, "\n\t"+c+" ") {
			t.Errorf("gotile help does not list %s", c)
		}
		for _, args := range [][]string{{c, "-h"}, {"help", c}} {
			out := mustRun(t, args...)
			_, example, found := strings.Cut(out, "\nExample")
			if !strings.HasPrefix(out, "usage: gotile "+c) || !found || !strings.Contains(example, "\n\t") || !strings.Contains(example, "gotile "+c) {
				t.Errorf("gotile %v gives no example of gotile %s:\n%s", args, c, out)
			}
			if lookupLocal(c) == nil && (!strings.Contains(out, "-tags") || !strings.Contains(out, worker.PackagesHelp)) {
				t.Errorf("gotile %v says nothing about packages:\n%s", args, out)
			}
		}
		for line := range strings.Lines(mustRun(t, c, "-h")) {
			if len(line) > 121 && !strings.HasPrefix(line, "    ") { // what package flag prints is one line a flag
				t.Errorf("gotile %s -h: a line of %d characters: %s", c, len(line)-1, line)
			}
		}
	}
}

// Every example of a help is a command line that its command takes. Those of viz, whose flags may follow arguments, are
// run by TestVizExamples.
func TestHelpExamples(t *testing.T) {
	for _, name := range commandNames() {
		if name == vizCommand.name {
			continue
		}
		_, examples, _ := strings.Cut(mustRun(t, name, "-h"), "\nExample")
		examples, _, _ = strings.Cut(examples, "\nFlags:")
		n := 0
		for line := range strings.Lines(examples) {
			_, args, ok := strings.Cut(line, "gotile "+name)
			if !ok || !strings.HasPrefix(line, "\t") {
				continue
			}
			n++
			args, _, _ = strings.Cut(args, "#")
			var errs bytes.Buffer
			fs := flag.NewFlagSet(name, flag.ContinueOnError)
			if c := lookupLocal(name); c != nil {
				c.setup(fs)
			} else {
				command, err := worker.Lookup(name)
				if err != nil {
					t.Fatal(err)
				}
				fs = (&invocation{command: command}).flagSet(&errs)
			}
			fs.SetOutput(&errs)
			err := fs.Parse(strings.Fields(strings.ReplaceAll(args, "'", "")))
			for _, arg := range fs.Args() {
				if err == nil && strings.HasPrefix(arg, "-") {
					err = fmt.Errorf("%s is no flag here: flags come first", arg)
				}
			}
			if err != nil {
				t.Errorf("the example %q of gotile %s -h: %v", strings.TrimSpace(line), name, err)
			}
		}
		if n == 0 {
			t.Errorf("gotile %s -h: no example found in %q", name, examples)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := Run(ctx, []string{"sim", "./internal/axpy"}, &out, &errs); code == 0 {
		t.Errorf("exit code 0: %s%s", out.String(), errs.String())
	}
}

// The program of another platform builds: no cgo, no file that is missing there.
func TestCrossBuild(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds a program for linux/arm64; once, on linux, is enough")
	}
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", "arm64")
	bin := filepath.Join(t.TempDir(), "axpy.verify")
	mustRun(t, "verify", "-c", bin, "./internal/axpy")
	if info, err := os.Stat(bin); err != nil || info.Size() < 1<<20 {
		t.Errorf("%v, %v", info, err)
	}
}
