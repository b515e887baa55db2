//go:build !gotilegen

package worker

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestSim(t *testing.T) {
	p := fixture(t)
	if out := mustRun(t, p, "sim"); out != "34 cases passed on sim\n" {
		t.Errorf("got %q", out)
	}
	out := mustRun(t, p, "sim", "-v", "-seed", "7", "-run", "^axpy/bf16/rows=5/n=100$", "-target", "sm_120a")
	if !strings.Contains(out, "axpy_bf16_c1000 y=0") || !strings.HasSuffix(out, "1 cases passed on sim\n") {
		t.Errorf("got %q", out)
	}
}

func TestSimFails(t *testing.T) {
	p := fixture(t)
	mustFail(t, 1, `-run "nothing" matches none of the 34 cases`, p, "sim", "-run", "nothing")
	mustFail(t, 1, "-run: error parsing regexp", p, "sim", "-run", "(")
	mustFail(t, 1, `unknown target "sm_1"`, p, "sim", "-target", "sm_1")
	mustFail(t, 2, "gotile sim: flag provided but not defined: -nope; run gotile sim -h\n", p, "sim", "-nope")
	mustFail(t, 2, `unexpected argument "other"`, p, "sim", "other")
	mustFail(t, 0, "gotile sim -seed 7", p, "sim", "-h")

	boom := tiletest.Case{Name: "boom", Run: func(*tiletest.Run) error { return errors.New("it broke") }}
	skip := tiletest.Case{Name: "skip", Run: func(*tiletest.Run) error {
		return &bind.Error{Launch: "launch", Err: device.ErrTarget, Detail: "only for others"}
	}}
	p.Cases = func() []tiletest.Case { return []tiletest.Case{boom, skip} }
	mustFail(t, 1, "FAIL boom", p, "sim")
	mustFail(t, 1, "\tit broke\n", p, "sim")
	mustFail(t, 1, "skip skip: no kernel of it is for sm_90a\n1 of 2 cases failed on sim", p, "sim")
	lazy := tiletest.Case{Name: "lazy", Run: func(r *tiletest.Run) error { return r.Skip("it is Sunday") }}
	p.Cases = func() []tiletest.Case { return []tiletest.Case{lazy} }
	mustFail(t, 0, "skip lazy: it is Sunday\n0 cases passed on sim\n", p, "sim")
	p.Cases = func() []tiletest.Case { return []tiletest.Case{boom, boom} }
	mustFail(t, 1, `two cases are called "boom"`, p, "sim")
	p.Cases = func() []tiletest.Case { return nil }
	mustFail(t, 1, "Cases() is empty", p, "sim")
}

// The simulator passes whatever the .cu files hold, so sim says which are stale.
func TestSimWarnsOfStaleFiles(t *testing.T) {
	p := fixture(t)
	if _, _, errs := call(t, p, "sim", "-run", "sum"); strings.Contains(errs, "warning") { // a slow machine may report progress
		t.Errorf("fresh files: %q", errs)
	}
	cu := filepath.Join(p.Dir, "cuda", "sum_f32_c512.cu")
	write(t, read(t, cu)+"// edited\n", cu)
	code, out, errs := call(t, hashed(t, p), "sim", "-run", "sum")
	if want := "gotile: sim: warning: sum_f32_c512.cu is not what the kernel prints now; run gotile gen\n"; code != 0 || !strings.HasSuffix(errs, want) || strings.Count(errs, "warning") != 1 || out != "2 cases passed on sim\n" {
		t.Errorf("exit code %d, %q, %q; want the warning %q", code, out, errs, want)
	}
}

func TestSimStopsWhenCancelled(t *testing.T) {
	p := fixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	ran := 0
	c := func(name string) tiletest.Case {
		return tiletest.Case{Name: name, Run: func(*tiletest.Run) error { ran++; cancel(); return nil }}
	}
	p.Cases = func() []tiletest.Case { return []tiletest.Case{c("a"), c("b")} }
	p.Command = "sim"
	var out, errs strings.Builder
	if code := Run(ctx, p, nil, &out, &errs); code != ExitInterrupted || ran != 1 || !strings.Contains(errs.String(), "interrupted after 0 of 2 cases") {
		t.Errorf("exit code %d after %d cases: %s%s", code, ran, out.String(), errs.String())
	}
}
