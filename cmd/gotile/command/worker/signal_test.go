//go:build !gotilegen && !windows && !js

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gotile/gotile/cmd/gotile/command/internal/axpy"
	"github.com/gotile/gotile/tile/tiletest"
)

// verifyIn is set in the process that TestVerifySignal starts, to the package's directory.
const verifyIn = "WORKER_TEST_VERIFY"

func TestMain(m *testing.M) {
	if dir := os.Getenv(verifyIn); dir != "" {
		os.Exit(verifyProgram(dir))
	}
	os.Exit(m.Run())
}

// verifyProgram is the program of gotile verify -f for package axpy, with the simulator in place of a GPU. Its sixth
// case makes a file, and takes a second.
func verifyProgram(dir string) int {
	verifyCommand.do = func(ctx context.Context, j *job) error { return j.verify(ctx, "sim") }
	p := Package{Command: "verify", Path: "example.com/axpy", Name: "axpy", Dir: dir, Commit: "c0ffee", Kernels: axpy.Kernels}
	p.Cases = func() []tiletest.Case {
		cases := axpy.Cases()
		run := cases[5].Run
		cases[5].Run = func(r *tiletest.Run) error {
			if err := os.WriteFile(filepath.Join(dir, "mark"), nil, 0o666); err != nil {
				return err
			}
			time.Sleep(time.Second)
			return run(r)
		}
		return cases
	}
	var err error
	if p.Sources, err = HashSources(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	os.Args = []string{"verify", "-f", "-p", "1"}
	return Main(p)
}

// An interrupt while cases run: exit code 130, and the receipt is what it was.
func TestVerifySignal(t *testing.T) {
	p := fixture(t)
	mustVerify(t, p)
	before := read(t, p.Dir, "receipts", "sim.json")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), verifyIn+"="+p.Dir)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(p.Dir, "mark")
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(mark); err == nil {
			break
		}
		if time.Now().After(end) {
			cmd.Process.Kill()
			t.Fatalf("no case runs: %v\n%s", cmd.Wait(), out.String())
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != ExitInterrupted {
		t.Errorf("it ends with %v:\n%s", err, out.String())
	}
	if want := "gotile: verify: example.com/axpy: interrupted after 5 of 34 cases on sm_90a; nothing of it is recorded\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
	if read(t, p.Dir, "receipts", "sim.json") != before {
		t.Error("the receipt changed")
	}
	if left, _ := filepath.Glob(filepath.Join(p.Dir, "receipts", "*")); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}
