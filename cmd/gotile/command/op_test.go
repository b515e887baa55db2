package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A package outside of this module defines an op, with no change here: the files of examples/swiglu but what is generated,
// in a module of their own. Its kernels are generated there, and its gates and its training steps run there.
func TestOpOutsideTheModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs in a temporary module")
	}
	offline(t)
	const example = "../../../examples/swiglu"
	sources, err := filepath.Glob(example + "/[a-y]*.go")
	if err != nil || len(sources) < 5 {
		t.Fatalf("the sources of the example: %q, %v", sources, err)
	}
	texts := map[string]string{}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = strings.ReplaceAll(string(text), "github.com/gotile/gotile/examples/swiglu", "example.com/user/swiglu")
		if strings.Contains(texts[filepath.Base(file)], "gotile/internal/") {
			t.Errorf("%s imports a package that nobody else can", file)
		}
	}
	dir := filepath.Join(t.TempDir(), "user")
	mustRun(t, "init", "-module", "example.com/user", dir)
	t.Chdir(dir)
	if err := os.Mkdir("swiglu", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join("swiglu", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "gen", "./swiglu")
	goRun(t, "vet", "./swiglu")
	goRun(t, "test", "./swiglu")

	// A misspelt switch is a warning of the program, which knows its ops, and then an error of the first tape.
	t.Setenv("GOTILE_OFF", "swigul,silu")
	code, out, errs := run(t, "sim", "-run", "3x1$", "./swiglu")
	warning := regexp.MustCompile(`warning: GOTILE_OFF names the op "swigul", but the program has .*\bswiglu\b`)
	if code != 1 || !warning.MatchString(out+errs) {
		t.Errorf("exit code %d with a misspelt op in GOTILE_OFF:\n%s%s", code, out, errs)
	}
}
