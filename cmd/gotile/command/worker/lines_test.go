//go:build !gotilegen

package worker

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/tile"
)

// gen -lines writes the committed text with markers, which name Go files from the user's directory on.
func TestGenLines(t *testing.T) {
	p := fixture(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	p.From = root
	dir := filepath.Join(t.TempDir(), "lined")
	mustRun(t, p, "gen", "-lines", dir)
	lined, clean := read(t, dir, "sum_f32_c512.cu"), read(t, p.Dir, "cuda", "sum_f32_c512.cu")
	if cuda.WithoutLines(lined) != clean {
		t.Errorf("without its markers it is not the committed text:\n%s", lined)
	}
	names := regexp.MustCompile(`(?m)^#line \d+ "(.*)"$`).FindAllStringSubmatch(lined, -1)
	if len(names) == 0 {
		t.Fatalf("no markers in\n%s", lined)
	}
	for _, m := range names {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil || filepath.IsAbs(m[1]) {
			t.Errorf("a marker names %s: %v", m[1], err)
		}
	}
	mustFail(t, 1, "the package's own directory", p, "gen", "-lines", p.Dir)
	mustRun(t, p, "gen", "-check")
}

// check reports what NVRTC rejects, here inline PTX, at the line of Go, with its log.
func TestCheckErrorAtGoLine(t *testing.T) {
	needNVRTC(t)
	p := fixture(t)
	p.Kernels = func() tile.Set {
		return tile.Configs(func(n named) (*tile.Kernel, error) {
			return tile.Define(string(n), func(k *tile.Builder, a doubleArgs) {
				x := tile.Load(k, a.X, k.Block().Striped(256, 4))
				tile.Store(k, a.Y, tile.PTX[tile.F32]("no.such %0, %1;", func(in []uint64) uint64 { return in[0] }, x)) // the line
			})
		}, named("bad"))
	}
	mustRun(t, p, "gen")
	_, out, _ := call(t, p, "check", "-target", "sm_80")
	line := 0
	for i, text := range strings.Split(read(t, "lines_test.go"), "\n") {
		if strings.HasSuffix(text, "// the line") {
			line = i + 1
		}
	}
	for _, want := range []string{fmt.Sprintf("lines_test.go:%d: ptxas", line), "NVRTC_ERROR_COMPILATION:\nptxas application ptx input"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// With GOTILE_LINES verify runs the cases and writes no receipt, and bench is refused: other texts are compiled.
func TestLinesGiveNoReceipt(t *testing.T) {
	t.Setenv(env.Lines, "1")
	p := fixture(t)
	if out := mustVerify(t, p); !strings.Contains(out, "no receipt is written") || !strings.Contains(out, "cases passed") {
		t.Errorf("%s", out)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "receipts", "sim.json")); !os.IsNotExist(err) {
		t.Errorf("there is a receipt: %v", err)
	}
	j := &job{Package: Package{Suite: func() bench.Suite { panic("the suite is built") }}, stdout: &bytes.Buffer{}}
	if err := benchCommand.do(context.Background(), j); err == nil || !strings.Contains(err.Error(), "GOTILE_LINES is set") {
		t.Errorf("%v", err)
	}
	t.Setenv(env.Lines, "0")
	t.Setenv(env.Watchdog, "0")
	if variable := otherTexts(); variable != "" {
		t.Errorf("%s counts though it is 0", variable)
	}
	t.Setenv(env.Watchdog, "5s")
	if err := benchCommand.do(context.Background(), j); err == nil || !strings.Contains(err.Error(), "GOTILE_WATCHDOG is set") {
		t.Errorf("%v", err)
	}
}
