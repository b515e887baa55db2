//go:build gorgonia

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/cmd/gotile/command/doctor"
)

// The program for a machine with a GPU, on gorgonia.org/cu: it is built here, and runs as far as the library goes that
// stands in for libcuda. On a GPU it verifies.
func TestGorgoniaTravels(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "axpy.verify")
	mustRun(t, "verify", "-tags", "gorgonia", "-c", bin, "./internal/axpy")
	out := t.TempDir()
	cmd := exec.Command(bin, "-run", "rows=5/n=7", "-v", "-out", out)
	cmd.Dir = t.TempDir()
	text, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(text), "launch of axpy_f32_c64 (grid 5): cuLaunchKernelEx: CUDA_ERROR_NOT_SUPPORTED (the loopback library has no such kernel)") {
		t.Errorf("%v\n%s", err, text)
	}
}

// The doctor looks at GPUs by the driver that programs of the build use.
func TestGorgoniaDoctor(t *testing.T) {
	r := doctor.Examine(t.Context(), doctor.This())
	if r.Driver.State != doctor.OK || r.Driver.Binding != "gorgonia" {
		t.Errorf("%+v", r.Driver)
	}
}

// Without headers the failure says what to run.
func TestGorgoniaWithoutHeaders(t *testing.T) {
	if _, err := os.Stat("/usr/local/cuda/include/cuda.h"); err == nil {
		t.Skip("no GPU toolkit may be installed: gorgonia.org/cu finds it by itself")
	}
	t.Setenv("CGO_CFLAGS", "")
	mustFail(t, 1, "runtime/driver/gorgonia/prepare.sh DIR)", "verify", "-tags", "gorgonia", "-c", filepath.Join(t.TempDir(), "x"), "./internal/axpy")
}
