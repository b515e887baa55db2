//go:build !gotilegen

package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gotile/gotile/cmd/gotile/command/internal/axpy"
	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/tile"
	"github.com/gotile/gotile/tile/tiletest"
)

// verifyOn runs verify as on a GPU, with the simulator in its place: it has sm_90a's targets, proxy included.
func verifyOn(t *testing.T, ctx context.Context, p Package, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	j := &job{Package: p, stdout: &out, stderr: &out}
	fs := flag.NewFlagSet("verify", flag.ContinueOnError)
	verifyCommand.flags(fs, &j.Options)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	err := j.verify(ctx, "sim")
	return out.String(), err
}

func mustVerify(t *testing.T, p Package, args ...string) string {
	t.Helper()
	out, err := verifyOn(t, t.Context(), p, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

func receiptOf(t *testing.T, p Package) *Receipt {
	t.Helper()
	r := &Receipt{}
	if err := json.Unmarshal([]byte(read(t, p.Dir, "receipts", "sim.json")), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// counting wraps the cases so that ran lists those that run, in any order.
func counting(p *Package, ran *[]string) {
	var mu sync.Mutex
	p.Cases = func() []tiletest.Case {
		cases := axpy.Cases()
		for i, c := range cases {
			cases[i].Run = func(r *tiletest.Run) error {
				mu.Lock()
				*ran = append(*ran, c.Name)
				mu.Unlock()
				return c.Run(r)
			}
		}
		return cases
	}
}

func TestVerifyWritesReceipts(t *testing.T) {
	p := fixture(t)
	mustFail(t, 1, "RED  sum_f32_c512 (sum_f32_c512.cu): no receipt for any of its targets", p, "verify", "-check")
	mustVerify(t, p)
	r := receiptOf(t, p)
	if r.Device == "" || r.Commit != "c0ffee" || r.Command != "gotile verify example.com/axpy" || r.Seconds <= 0 || len(r.Kernels) != 10 {
		t.Errorf("got %+v", r)
	}
	rec := r.find("sum_f32_c512", "sm_90a-as-120")
	if rec == nil || rec.Cases != 2 || rec.CU != p.Sources["sum_f32_c512.cu"] || len(rec.Launch) != 64 || !slices.Equal(rec.Ran, []string{"sum/rows=300/n=512", "sum/rows=7/n=100"}) {
		t.Errorf("got %+v", rec)
	}
	if e, ok := rec.Worst["sum"]; !ok || e != 0 {
		t.Errorf("worst errors %v", rec.Worst)
	}
	if out := mustRun(t, p, "verify", "-check"); out != "10 fresh receipts (sim.json)\n" {
		t.Errorf("got %q", out)
	}
}

func TestVerifyIsIncremental(t *testing.T) {
	p := fixture(t)
	mustVerify(t, p)
	text := read(t, p.Dir, "receipts", "sim.json")
	var ran []string
	counting(&p, &ran)
	mustVerify(t, p)
	// Cases without rows launch nothing, so no receipt knows them.
	for _, c := range ran {
		if !strings.Contains(c, "rows=0") {
			t.Errorf("%s ran although its kernels are fresh", c)
		}
	}
	if read(t, p.Dir, "receipts", "sim.json") != text {
		t.Error("the receipt was rewritten though nothing changed")
	}
	// A stale record: the cases of that kernel run, no others.
	r := receiptOf(t, p)
	r.find("sum_f32_c512", "sm_90a").Launch = "before"
	if err := r.write(filepath.Join(p.Dir, "receipts", "sim.json")); err != nil {
		t.Fatal(err)
	}
	mustFail(t, 1, "RED  sum_f32_c512 (sum_f32_c512.cu): sm_90a: its launch (threads, shared memory, grid or arguments) has changed", p, "verify", "-check")
	ran = nil
	mustVerify(t, p)
	ran = slices.DeleteFunc(ran, func(c string) bool { return strings.Contains(c, "rows=0") })
	slices.Sort(ran)
	if !slices.Equal(ran, []string{"sum/rows=300/n=512", "sum/rows=7/n=100"}) {
		t.Errorf("ran %v", ran)
	}
	mustRun(t, p, "verify", "-check")
	ran = nil
	mustVerify(t, p, "-f")
	if len(ran) != 2*len(axpy.Cases()) {
		t.Errorf("-f ran %d cases on two targets", len(ran))
	}
}

func TestVerifyCheckSeesChanges(t *testing.T) {
	p := fixture(t)
	mustVerify(t, p)
	// The kernel changes, but nothing is generated.
	p.Kernels = edited("sum_f32_c512")
	mustFail(t, 1, "RED  sum_f32_c512 (sum_f32_c512.cu): sum_f32_c512.cu is not what the kernel prints now; run gotile gen", p, "verify", "-check")
	if _, err := verifyOn(t, t.Context(), p); err == nil || !strings.Contains(err.Error(), "sum_f32_c512.cu is not what the kernel prints now; run gotile gen") {
		t.Errorf("verify of a stale file: %v", err)
	}
	// It is generated, but not verified.
	families, err := (&job{Package: p}).lowered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range slices.Concat(families...) {
		write(t, s.text, p.Dir, gowrap.Folder, s.File)
	}
	p = hashed(t, p)
	mustFail(t, 1, "sum_f32_c512.cu has changed since it was verified in sim.json", p, "verify", "-check")
	mustFail(t, 1, "1 kernels without a fresh receipt", p, "verify", "-check")
	// A kernel more.
	p = fixture(t)
	mustVerify(t, p)
	p.Kernels = func() tile.Set {
		return tile.Sets(axpy.Kernels(), tile.Configs(func(n named) (*tile.Kernel, error) { return double(string(n), 64) }, named("extra")))
	}
	mustRun(t, p, "gen")
	p = hashed(t, p)
	mustFail(t, 1, "RED  extra (extra.cu): sm_90a: no receipt in sim.json; sm_90a-as-120: no receipt in sim.json", p, "verify", "-check")
	out, err := verifyOn(t, t.Context(), p)
	if !errors.Is(err, errFailed) || !strings.Contains(out, "RED  extra: no case launched it on sm_90a (no receipt)") {
		t.Errorf("got %v\n%s", err, out)
	}
}

func TestVerifyFailureLosesTheReceipt(t *testing.T) {
	p := fixture(t)
	mustVerify(t, p)
	right := p.Cases
	p.Cases = func() []tiletest.Case {
		cases := right()
		i := slices.IndexFunc(cases, func(c tiletest.Case) bool { return c.Name == "sum/rows=7/n=100" })
		run := cases[i].Run
		cases[i].Run = func(r *tiletest.Run) error { return errors.Join(run(r), errors.New("wrong sum")) }
		return cases
	}
	out, err := verifyOn(t, t.Context(), p, "-f")
	if !errors.Is(err, errFailed) || !strings.Contains(out, "FAIL sum/rows=7/n=100") {
		t.Errorf("got %v\n%s", err, out)
	}
	r := receiptOf(t, p)
	if r.find("sum_f32_c512", "sm_90a") != nil || r.find("sum_f32_c512", "sm_90a-as-120") != nil || r.find("axpy_f32_c64", "sm_90a") == nil {
		t.Errorf("got %+v", r.Kernels)
	}
	mustFail(t, 1, "RED  sum_f32_c512", p, "verify", "-check")
	// The other case of that kernel passes: no receipt either, while one fails.
	if _, err := verifyOn(t, t.Context(), p); !errors.Is(err, errFailed) || receiptOf(t, p).find("sum_f32_c512", "sm_90a") != nil {
		t.Errorf("a kernel of a failing case got a receipt; %v", err)
	}
	// A selection of cases writes no receipts.
	p.Cases = right
	mustVerify(t, p, "-run", "rows=300")
	if receiptOf(t, p).find("sum_f32_c512", "sm_90a") != nil {
		t.Error("a kernel got a receipt from a part of its cases")
	}
	mustVerify(t, p)
	mustRun(t, p, "verify", "-check")
}

// A case that fails before it launches anything might have been any kernel's.
func TestVerifyFailureOfUnknownKernel(t *testing.T) {
	p := fixture(t)
	p.Cases = func() []tiletest.Case {
		return append(axpy.Cases(), tiletest.Case{Name: "early", Run: func(*tiletest.Run) error { return errors.New("no data") }})
	}
	if out, err := verifyOn(t, t.Context(), p); !errors.Is(err, errFailed) {
		t.Errorf("got %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "receipts", "sim.json")); err == nil {
		t.Error("a receipt was written")
	}
}

func TestVerifyInterrupted(t *testing.T) {
	p := fixture(t)
	mustVerify(t, p)
	before := read(t, p.Dir, "receipts", "sim.json")
	ctx, cancel := context.WithCancel(t.Context())
	p.Cases = func() []tiletest.Case {
		cases := axpy.Cases()
		run := cases[20].Run
		cases[20].Run = func(r *tiletest.Run) error { cancel(); return run(r) }
		return cases
	}
	if out, err := verifyOn(t, ctx, p, "-f"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v\n%s", err, out)
	}
	if read(t, p.Dir, "receipts", "sim.json") != before {
		t.Error("the receipt changed")
	}
}

// What an interrupt leaves of the cases that failed before it: their kernels have no receipt, the others keep theirs.
func TestVerifyInterruptedAfterFailure(t *testing.T) {
	p := fixture(t)
	mustVerify(t, p)
	before := receiptOf(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	p.Cases = func() []tiletest.Case {
		cases := axpy.Cases()
		for i, c := range cases {
			if c.Name == "sum/rows=7/n=100" {
				c.Run = func(r *tiletest.Run) error {
					return errors.Join(errors.New("on purpose"), axpy.Cases()[i].Run(r))
				}
				cases[i], cases[0] = cases[0], c
			}
		}
		return cases
	}
	out := &onText{text: "on purpose", do: cancel}
	j := &job{Package: p, Options: Options{Force: true, Parallel: 1}, stdout: out, stderr: out}
	err := j.verify(ctx, "sim")
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted after 1 of ") || !strings.Contains(err.Error(), "lose their receipts") {
		t.Fatalf("got %v\n%s", err, out.String())
	}
	after := receiptOf(t, p)
	if after.find("sum_f32_c512", "sm_90a") != nil || len(after.Kernels) != len(before.Kernels)-1 {
		t.Errorf("%d records of %d", len(after.Kernels), len(before.Kernels))
	}
}

// onText calls a function when a text has been written to it.
type onText struct {
	strings.Builder
	text string
	do   func()
}

func (w *onText) Write(b []byte) (int, error) { return w.WriteString(string(b)) }

func (w *onText) WriteString(s string) (int, error) {
	n, err := w.Builder.WriteString(s)
	if strings.Contains(w.String(), w.text) {
		w.do()
	}
	return n, err
}

func TestVerifyElsewhere(t *testing.T) {
	p := fixture(t)
	p.Dir = filepath.Join(p.Dir, "not", "here")
	if _, err := verifyOn(t, t.Context(), p); err == nil || !strings.Contains(err.Error(), "say with -out") {
		t.Errorf("got %v", err)
	}
	out := t.TempDir()
	mustVerify(t, p, "-out", out)
	if !strings.Contains(read(t, out, "sim.json"), `"command": "gotile verify example.com/axpy"`) {
		t.Error("no receipt in -out")
	}
}
