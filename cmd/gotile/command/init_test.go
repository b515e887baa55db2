package command

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/runtime/device"
)

// offline makes the go command take modules from its cache alone.
func offline(t *testing.T) {
	t.Helper()
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOWORK", "off")
}

// goRun runs the go command in the current directory.
func goRun(t *testing.T, args ...string) {
	t.Helper()
	if err := goIn(t.Context(), ".", args...); err != nil {
		t.Fatal(err)
	}
}

// elsewhere runs a program that -c built, in a directory of its own.
func elsewhere(t *testing.T, bin string, args ...string) (out string, err error) {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOTILE_TYPO=1")
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// A package outside this module, from init to every command, offline: generate, test, check, simulate, verify, time,
// and the programs that do so on another machine.
func TestOutsideTheModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in a temporary module")
	}
	offline(t)
	dir := filepath.Join(t.TempDir(), "fast")
	out := mustRun(t, "init", dir)
	if !strings.Contains(out, "Package fast is ready") || !strings.Contains(out, "go tool gotile check") {
		t.Errorf("init says:\n%s", out)
	}
	t.Chdir(dir)
	goRun(t, "generate")
	goRun(t, "vet", "./...")
	goRun(t, "test", "./...")
	mustRun(t, "gen", "-check", "./...")
	if bad, err := exec.Command("gofmt", "-l", ".").CombinedOutput(); err != nil || len(bad) > 0 {
		t.Errorf("gofmt: %s, %v", bad, err)
	}

	lib, err := nvrtc.Open("")
	if err == nil {
		if out := mustRun(t, "check", "-target", "sm_90a,sm_120a"); strings.Count(out, " ok\n") != 4 {
			t.Errorf("check of two kernels for two targets says:\n%s", out)
		}
	} else if !errors.Is(err, nvrtc.ErrNotFound) && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	} else {
		mustFail(t, 1, "gotile doctor", "check")
	}
	bins := t.TempDir()
	checker := filepath.Join(bins, "fast.check")
	mustRun(t, "check", "-c", checker)
	if out, err := elsewhere(t, checker, "-target", "sm_90a"); lib != nil && (err != nil || strings.Count(out, " ok\n") != 2) ||
		lib == nil && (err == nil || !strings.Contains(out, "gotile doctor")) {
		t.Errorf("the program of check says %s, %v", out, err)
	}
	mustFail(t, 2, "flag provided but not defined: -c", "gen", "-c", filepath.Join(bins, "fast.gen"))
	if out := mustRun(t, "sim"); !strings.HasSuffix(out, "24 cases passed on sim\n") {
		t.Errorf("sim says:\n%s", out)
	}
	sim := filepath.Join(bins, "fast.sim")
	mustRun(t, "sim", "-c", sim)
	if out, err := elsewhere(t, sim, "-run", "5x100$"); err != nil || !strings.HasSuffix(out, "2 cases passed on sim\n") || !strings.Contains(out, "warning: the environment variable GOTILE_TYPO") {
		t.Errorf("the program of sim says %s, %v", out, err)
	}

	verify := filepath.Join(bins, "fast.verify")
	mustRun(t, "verify", "-c", verify)
	if slices.Contains(device.List(), "cuda:0") && lib != nil {
		if out, err := elsewhere(t, verify, "-out", "receipts"); err != nil {
			t.Errorf("the program of verify says %s, %v", out, err)
		}
		mustRun(t, "verify")
		mustRun(t, "verify", "-check")
	} else {
		mustFail(t, 1, "verify needs a GPU (gotile sim does not)", "verify")
		if out, err := elsewhere(t, verify, "-out", "receipts"); err == nil || !strings.Contains(out, "verify needs a GPU") {
			t.Errorf("the program of verify says %s, %v", out, err)
		}
		mustFail(t, 1, "RED  softmax_bf16_c4096", "verify", "-check")
	}

	small := []string{"-device", "sim", "-rounds", "1", "-replays", "1", "-shapes", "4x4096"}
	if out := mustRun(t, append([]string{"bench"}, small...)...); !strings.Contains(out, "softmax/4x4096/bf16: 2 groups") || !strings.Contains(out, "  copy  ") {
		t.Errorf("bench says:\n%s", out)
	}
	timer := filepath.Join(bins, "fast.bench")
	mustRun(t, "bench", "-c", timer)
	if out, err := elsewhere(t, timer, append(small, "-out", "results")...); err != nil || !strings.Contains(out, "softmax/4x4096/bf16") {
		t.Errorf("the program of bench says %s, %v", out, err)
	}

	// With code for two GPUs embedded it still builds, and passes.
	if lib != nil {
		mustRun(t, "gen", "-cubin", "sm_90a,sm_120a")
		mustRun(t, "gen", "-check")
		goRun(t, "test", "-run", "TestCases/sim/.*/5x100$", ".")
		os.Remove("cuda/softmax_f32_c4096.sm_120a.cubin")
		mustFail(t, 1, "run: gotile gen", "sim")
	}
}

// In a module that there is, init adds what it needs and no go.mod. The clone has all of it: a proxy that refuses
// everything is not asked.
func TestInitInAModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in a temporary module")
	}
	offline(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("the proxy is asked for %s", r.URL.Path)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	t.Setenv("GOPROXY", proxy.URL)
	root := t.TempDir()
	text := "module example.com/user\n\ngo 1.26.0\n"
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	mustFail(t, 2, "-module: a/my-kernels is in module example.com/user already", "init", "-module", "example.com/x", "-name", "k", "a/my-kernels")
	mustFail(t, 2, `"my-kernels" is not a Go package name: letters and digits, and no keyword; choose another: gotile init -name kernels a/my-kernels`, "init", "a/my-kernels")
	mustRun(t, "init", "-name", "k", "a/my-kernels")
	if _, err := os.Stat("a/my-kernels/go.mod"); err == nil {
		t.Error("a module within the module")
	}
	if mod, err := os.ReadFile("go.mod"); err != nil || !strings.Contains(string(mod), "tool "+toolPath) {
		t.Errorf("go.mod: %s, %v", mod, err)
	}
	goRun(t, "test", "-run", "TestCases/sim/.*/5x100$", "./a/my-kernels")

	// A second package finds gotile there. An empty directory will do.
	if err := os.Mkdir("second", 0o777); err != nil {
		t.Fatal(err)
	}
	if out := mustRun(t, "init", "second"); strings.Contains(out, "go mod") || !strings.Contains(out, "go generate\n") {
		t.Errorf("init says:\n%s", out)
	}
}

// What is refused, with the way out, leaves nothing behind.
func TestInitRefuses(t *testing.T) {
	offline(t)
	root := t.TempDir()
	t.Chdir(root)
	if err := os.Mkdir("full", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("full", "notes"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words string
		args  []string
	}{
		{"name one directory for the package; run gotile init -h", nil},
		{"name one directory", []string{"a", "b"}},
		{"full is not empty (it holds notes); name a new directory", []string{"full"}},
		{"not a directory", []string{"full/notes"}},
		{`"func" is not a Go package name`, []string{"func"}},
		{`"9" is not a Go package name`, []string{"9"}},
		{"a package called main cannot be imported; choose another: gotile init -name kernels main", []string{"main"}},
		{"a package called a_test cannot be imported", []string{"a_test"}},
		{`-name: "a b" is not a Go package name`, []string{"-name", "a b", "ok"}},
		{"the go command ignores directories called testdata; choose another", []string{"testdata"}},
		{"the go command ignores directories called _x", []string{"-name", "x", "_x"}},
		{`-module: "a b" is no module path, such as example.com/ok`, []string{"-module", "a b", "ok"}},
		{"-replace: full is no clone of gotile", []string{"-replace", "full", "ok"}},
	} {
		mustFail(t, 2, c.words, append([]string{"init"}, c.args...)...)
	}
	left, err := os.ReadDir(root)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	// Where gotile cannot be had, the files stay, and the error says what to run.
	t.Setenv("GOMODCACHE", t.TempDir())
	code, _, errs := run(t, "init", "ok")
	if code != 1 || !strings.Contains(errs, "the files are written; when that is mended, run in ok:\n\tgo list -mod=mod -deps tool\n\tgo generate\n") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join("ok", "kernels.go")); err != nil {
		t.Error(err)
	}
}
