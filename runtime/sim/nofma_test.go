package sim

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// fused matches the FMA instructions of amd64.
var fused = regexp.MustCompile(`\bVF(N?M(ADD|SUB)|MADDSUB|MSUBADD)\w*`)

// assembly is the code that the compiler makes of a package for an amd64 with FMA, as text. (go tool objdump cannot
// decode these instructions.)
func assembly(t *testing.T, dir, pkg string) []byte {
	t.Helper()
	build := exec.Command("go", "build", "-gcflags=-S", "-o", os.DevNull, pkg)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOAMD64=v3", "CGO_ENABLED=0")
	out, err := build.CombinedOutput() // replayed from the build cache where it is up to date
	if err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return out
}

// Go may fuse a product with a sum, which changes results; no package whose arithmetic ends in a simulated value may
// contain such an instruction. The control shows that the search finds one.
func TestNoFusedMultiplyAdd(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the standard library for GOAMD64=v3; not in short mode")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command to compile: ", err)
	}
	control := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module control\n",
		"control.go": "package control\n\nfunc F(a, b, c float32) float32 { return a*b + c }\n",
	} {
		if err := os.WriteFile(filepath.Join(control, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code := assembly(t, control, "."); !fused.Match(code) {
		t.Fatalf("no FMA instruction in a*b + c: the search is blind\n%s", code)
	}
	for _, pkg := range []string{"github.com/gotile/gotile/dtype", "github.com/gotile/gotile/runtime/sim"} {
		code := assembly(t, ".", pkg)
		if !bytes.Contains(code, []byte("MULSS")) && !bytes.Contains(code, []byte("MULSD")) {
			t.Fatalf("%s: no product in %d bytes of assembly", pkg, len(code))
		}
		for _, line := range bytes.Split(code, []byte("\n")) {
			if fused.Match(line) {
				t.Errorf("%s: %s", pkg, line)
			}
		}
	}
}
