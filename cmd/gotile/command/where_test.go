package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/cmd/gotile/command/worker"
)

// Programs run in their package's directory; paths in variables and in messages are the user's nevertheless. Without
// packages and Go files gotile works on all below.
func TestFromTheModulesRoot(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in a temporary module")
	}
	m := newModule(t, "kernels/axpy")
	m.write(t, "broken/k.go", `package broken

import "github.com/gotile/gotile/tile"

type args struct {
	X tile.Global[tile.F32] `+"`tile:\"n\"`"+`
}

type config string

func (c config) KernelName() string { return string(c) }

func build(c config) (*tile.Kernel, error) {
	return tile.Define(string(c), func(k *tile.Builder, a args) {
		var t []int
		_ = t[len(c)]
	})
}

func Kernels() tile.Set { return tile.Configs(build, config("broken")) }
`)
	t.Chdir(m.root)
	t.Setenv("GOTILE_DUMP", "dump")
	place := filepath.Join("broken", "k.go") + ":16"
	mustFail(t, 1, place+": panic: runtime error: index out of range", "gen") // kernels/axpy is generated nevertheless
	mustFail(t, 1, "\n\t"+place+" example.com/user/broken.build.func1\n", "gen")
	if _, err := os.Stat(filepath.Join(m.pkg, "zaxpy.go")); err != nil {
		t.Error(err)
	}
	if dumped, err := os.ReadDir(filepath.Join(m.root, "dump")); err != nil || len(dumped) == 0 {
		t.Errorf("GOTILE_DUMP=dump: %v, %v", dumped, err)
	}
	if _, err := os.Stat(filepath.Join(m.pkg, "dump")); err == nil {
		t.Error("GOTILE_DUMP=dump is taken for a directory of the package")
	}
	// What the compiler says.
	m.write(t, "broken/k.go", "package broken\n\nimport \"github.com/gotile/gotile/tile\"\n\nfunc Kernels() tile.Set { return nowhere }\n")
	mustFail(t, 1, filepath.Join("broken", "k.go")+":5:34: undefined: nowhere", "gen", "./broken")

	// A package without cases: none of sim's business where a pattern meets it, a mistake where it is named.
	note := "skipped: no cases: package example.com/user/broken has no func Cases()"
	code, out, errs := run(t, "sim", "-run", "sum")
	if code != 0 || !strings.HasSuffix(out, "2 cases passed on sim\n") || !strings.Contains(errs, "gotile: sim: "+note) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	mustFail(t, 2, "example.com/user/broken has no func Cases()", "sim", "./broken")
	mustFail(t, 2, "example.com/user/broken has no func Cases()", "sim", "./broken/...")
}

// Sim passes without a package that has no cases; verify cannot.
func TestSkippedPackages(t *testing.T) {
	for name, want := range map[string]int{"sim": exitOK, "verify": exitFailure} {
		c, err := worker.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		inv := invocation{command: c, stderr: &errs}
		if code := inv.skip(nil); code != exitOK || errs.String() != "" {
			t.Errorf("%s of no such package: %d, %q", name, code, errs.String())
		}
		if code := inv.skip([]error{errNoCases}); code != want || errs.String() != "gotile: "+name+": skipped: no cases\n" {
			t.Errorf("%s: exit code %d, want %d; %q", name, code, want, errs.String())
		}
	}
}

func TestAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if now, err := os.Getwd(); err != nil {
		t.Fatal(err)
	} else {
		dir = now // without links
	}
	for name, c := range map[string]struct{ value, want string }{
		"relative directory":    {"GOTILE_DUMP=a/b", "GOTILE_DUMP=" + filepath.Join(dir, "a", "b")},
		"one name":              {"GOTILE_CONFORMANCE=a", "GOTILE_CONFORMANCE=" + filepath.Join(dir, "a")},
		"parent":                {"GOTILE_CACHE=../c", "GOTILE_CACHE=" + filepath.Join(filepath.Dir(dir), "c")},
		"blanks":                {"GOTILE_DUMP= a ", "GOTILE_DUMP=" + filepath.Join(dir, "a")},
		"no cache":              {"GOTILE_CACHE=off", ""},
		"absolute":              {"GOTILE_DUMP=" + dir, ""},
		"a library's file":      {"GOTILE_NVRTC=lib/libnvrtc.so", "GOTILE_NVRTC=" + filepath.Join(dir, "lib", "libnvrtc.so")},
		"a name for the loader": {"GOTILE_NVRTC=libnvrtc.so.13", ""},
		"no path":               {"GOTILE_DEVICE=sim", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range []string{"GOTILE_CACHE", "GOTILE_CONFORMANCE", "GOTILE_DEVICE", "GOTILE_DUMP", "GOTILE_NVRTC"} {
				t.Setenv(v, "")
			}
			variable, value, _ := strings.Cut(c.value, "=")
			t.Setenv(variable, value)
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			if got := absolute(); !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", c.value, got, want)
			}
		})
	}
}
