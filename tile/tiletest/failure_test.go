package tiletest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// A failure names the tensor.
func TestFailuresNameTensors(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	res := Case{Name: "case", Run: func(r *Run) error {
		write(t, r, r.Out(dtype.F32, 2), 0, 1, 1)
		r.In(dtype.F32, []float64{1}, 1)
		r.Out(dtype.F32, 3, 1)
		r.Place(Spec{Name: "rstd", Role: Output, DType: dtype.F32, Shape: []int{4}})
		write(t, r, r.In(dtype.F32, []float64{1}, 1), 0, 2)
		r.InOut(dtype.F32, []float64{1}, 2)
		return nil
	}}.Exec(t.Context(), d, 1)
	for _, want := range []string{
		"output 2 of the case, of shape [3 1] f32: 3 of 3 elements not written, the first at [0]",
		"output rstd, of shape [4] f32: 4 of 4 elements not written",
		"input 2 of the case, of shape [1], strides [1], f32: memory that is not an output was written",
		"in-out tensor 1 of the case, of shape [2] f32, cannot be placed: 1 values for 2 elements",
	} {
		if res.Err == nil || strings.Count(res.Err.Error(), want) != 1 {
			t.Errorf("want once %q:\n%v", want, res.Err)
		}
	}
}

func forget(p *int) int { return *p }

// A panic shows the case's frames, not those around it.
func TestPanicStackIsTheCase(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	res := Case{Name: "case", Run: func(*Run) error { forget(nil); return nil }}.Exec(t.Context(), d, 1)
	if res.Err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(res.Err.Error(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "panic: runtime error") || !strings.Contains(lines[1], "failure_test.go:") ||
		!strings.HasSuffix(lines[1], "tiletest.forget") || !strings.HasSuffix(lines[2], "tiletest.TestPanicStackIsTheCase.func1") {
		t.Errorf("got\n%v", res.Err)
	}
}

// failing makes TestFailingTable fail; the test below runs it in a process of its own.
const failing = "TILETEST_FAILING_TABLE"

func TestFailingTable(t *testing.T) {
	if os.Getenv(failing) == "" {
		t.Skip("fails on purpose, for TestErrorsOnlyWithV")
	}
	RunCases(t, []Case{{Name: "case", Run: func(r *Run) error {
		r.Compare("dx", []float64{1}, []float64{1}, 0)
		r.Errorf("it broke")
		return nil
	}}})
}

// The errors of a failing table are printed with -v alone.
func TestErrorsOnlyWithV(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		args := []string{"-test.run=^TestFailingTable$"}
		if verbose {
			args = append(args, "-test.v")
		}
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), failing+"=1")
		out, err := cmd.CombinedOutput()
		if text := string(out); err == nil || !strings.Contains(text, "it broke") || strings.Contains(text, "dx: scale-relative error 0") != verbose {
			t.Errorf("-v %v: %v\n%s", verbose, err, out)
		}
	}
}
