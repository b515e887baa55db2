package device

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	printer "github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/driver/fake"
	"github.com/gotile/gotile/tile"
)

type linesArgs struct {
	X, Y tile.Global[tile.F32] `tile:"n"`
}

// linesKernel is a kernel with its source, as a generated file has it, and the line of its PTX.
func linesKernel(t *testing.T, ptx string) (k *Kernel, line int) {
	t.Helper()
	built, err := tile.Define("scale", func(k *tile.Builder, a linesArgs) {
		x := tile.Load(k, a.X, k.Block().Striped(1024, 4))
		_, _, line, _ = runtime.Caller(0)
		y := tile.PTX[tile.F32](ptx, func(in []uint64) uint64 { return in[0] }, x)
		tile.Store(k, a.Y, y)
	})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	low := must(built.Lower("sm_90a"))
	return &Kernel{Name: "scale", Source: must(printer.Print(low, printer.Options{Targets: []string{"sm_90a"}})), Threads: low.Threads, Shared: low.SharedBytes,
		ArgBytes: low.ArgBytes, Build: func() (Program, error) { return built, nil }}, line + 1
}

// The option and the variable compile the printing with lines, which the cache keeps apart from the other.
func TestWithLines(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	k, line := linesKernel(t, "mov.f32 %0, %1;")
	embedded := "\x7fELF embedded"
	k.Embedded = []string{sealed(k.Source, nvrtc.Options{}.Text(), "sm_90a", []byte(embedded))} // has no lines
	images := &Images{}
	comp := &fakeCompiler{}
	image := func(opts ...Option) string {
		drv := newFake(fake.H200)
		d := opened(t, "cuda:0", append(opts, withFake(drv, comp), WithImages(images))...)
		must(d.Load(k))
		return string(drv.Images()[0])
	}
	marker := fmt.Sprintf("#line %d ", line)
	if got := image(); got != embedded {
		t.Errorf("without the option:\n%s", got)
	}
	if clean := image(WithoutEmbedded()); clean == embedded || strings.Contains(clean, "#line") {
		t.Errorf("compiled without the option:\n%s", clean)
	}
	if lined := image(WithLines()); !strings.Contains(lined, marker) || !strings.Contains(lined, "lines_test.go\"\n") {
		t.Errorf("no %q in\n%s", marker, lined)
	}
	t.Setenv(env.Lines, "1")
	if lined := image(); !strings.Contains(lined, marker) {
		t.Errorf("no %q in\n%s", marker, lined)
	}
	if n := comp.compiled.Load(); n != 2 {
		t.Errorf("compiled %d times, want once for each printing", n)
	}
	t.Setenv(env.Lines, "0")
	if clean := image(); strings.Contains(clean, "#line") {
		t.Errorf("with the variable 0:\n%s", clean)
	}
}

// A source that is not what the kernel prints, or a kernel that nothing can print, is refused.
func TestWithLinesRefuses(t *testing.T) {
	d := openFake(t, newFake(fake.H200), WithLines())
	stale, _ := linesKernel(t, "mov.f32 %0, %1;")
	stale.Source = strings.Replace(stale.Source, "mov.f32", "abs.f32", 1)
	if _, err := d.Load(stale); err == nil || !strings.Contains(err.Error(), "stale") {
		t.Errorf("%v", err)
	}
	alone := scaleKernel()
	alone.Build = nil
	if _, err := d.Load(alone); err == nil || !strings.Contains(err.Error(), "no Build function") {
		t.Errorf("%v", err)
	}
}

// What NVRTC rejects, here in its assembler, is reported at the line of Go, with the whole log, also of a kernel that
// was to be compiled without lines.
func TestCompileErrorAtGoLine(t *testing.T) {
	if _, err := nvrtc.Open(""); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("NVRTC is not here: %v", err)
	}
	k, line := linesKernel(t, "no.such.instruction %0, %1;")
	for _, opts := range [][]Option{nil, {WithLines()}} {
		d := openFake(t, newFake(fake.H200), append(opts, func(c *config) { c.nvrtc = openNVRTC })...)
		_, err := d.Load(k)
		var rejected *nvrtc.CompileError
		if !errors.As(err, &rejected) || !strings.HasSuffix(rejected.File, "lines_test.go") || rejected.Line != line {
			t.Fatalf("%v, want it at line %d", err, line)
		}
		if !strings.Contains(err.Error(), fmt.Sprintf("lines_test.go:%d: ptxas", line)) || !strings.Contains(fmt.Sprintf("%+v", err), rejected.Log) {
			t.Errorf("%+v", err)
		}
	}
}
