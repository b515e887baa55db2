package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A second run of bench or verify is of the same program as the first, which has written results into the work tree.
func TestCommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	own := []string{"bench/results/h200/rmsnorm.json", "results/h200/x.json", "kernels/rmsnorm/receipts/h200.json"}
	program := []string{"kernels/rmsnorm/k.go", "go.mod", "config/results.json"}
	for _, name := range append(own, program...) {
		write(name, "one")
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	commit := func() string { return (&goCommand{}).commit(t.Context(), filepath.Join(dir, "kernels", "rmsnorm")) }
	clean := commit()
	if len(clean) != 12 {
		t.Fatalf("commit %q", clean)
	}
	for _, name := range own {
		write(name, "two")
	}
	if got := commit(); got != clean {
		t.Errorf("after results were written: %s, want %s", got, clean)
	}
	for _, name := range program {
		write(name, "two")
		if got := commit(); got != clean+"-dirty" {
			t.Errorf("with another %s: %s", name, got)
		}
		write(name, "one")
	}
	if got := (&goCommand{}).commit(t.Context(), t.TempDir()); got != "" {
		t.Errorf("without a repository: %q", got)
	}
}
