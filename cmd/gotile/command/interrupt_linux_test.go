package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/bench"
)

// slowKernels is a package of kernels that takes as long to record as SLOW says. Its cases and benchmarks note in the
// file MARK which process works; the second of each then works until it is interrupted.
const slowKernels = `package slow

import (
	"fmt"
	"os"
	"time"

	"github.com/gotile/gotile/tile"
)

func mark() {
	if path := os.Getenv("MARK"); path != "" {
		os.WriteFile(path, []byte(fmt.Sprint(os.Getpid())), 0o666)
	}
}

type slowArgs struct {
	X, Y tile.Global[tile.F32] ` + "`tile:\"n\"`" + `
}

type config int

func (c config) KernelName() string { return fmt.Sprintf("slow_%02d", int(c)) }

func build(c config) (*tile.Kernel, error) {
	if d, err := time.ParseDuration(os.Getenv("SLOW")); err == nil {
		mark()
		time.Sleep(d)
	}
	return tile.Define(c.KernelName(), func(k *tile.Builder, a slowArgs) {
		block := k.Block()
		x := tile.Load(block, a.X, block.Striped(256*(int(c)+1), 4))
		tile.Store(block, a.Y, x.Mul(x))
	}, tile.Threads(64))
}

func Kernels() tile.Set {
	var all []config
	for i := range 60 {
		all = append(all, config(i))
	}
	return tile.Configs(build, all...)
}
`

const slowRuns = `//go:build !gotilegen

package slow

import (
	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func Cases() []tiletest.Case {
	run := func(r *tiletest.Run, times int) error {
		x := make([]float64, 256)
		y := r.Out(dtype.F32, 256)
		in := r.In(dtype.F32, x, 256)
		for range times {
			if err := launchSlow(r.Stream, slowParams{X: in, Y: y}); err != nil {
				return err
			}
		}
		r.Compare("y", r.Floats(y), x, 0)
		return nil
	}
	return []tiletest.Case{
		{Name: "first", Run: func(r *tiletest.Run) error { return run(r, 1) }},
		{Name: "second", Run: func(r *tiletest.Run) error { mark(); return run(r, 1<<40) }},
	}
}

func Suite() bench.Suite {
	return bench.Suite{Name: "slow", Benchmarks: func(bench.Selection) ([]bench.Benchmark, error) {
		one := func(name string, launch func(*bench.Setup, func() error) error) bench.Benchmark {
			return bench.Benchmark{Name: name, Bytes: 2048, Setup: func(s *bench.Setup) ([]bench.Contender, error) {
				var in [2]device.Tensor
				for i := range in {
					x, err := s.New(dtype.F32, 256)
					if err != nil {
						return nil, err
					}
					if err := device.UploadFloats(s.Stream, x, make([]float64, 256)); err != nil {
						return nil, err
					}
					in[i] = x
				}
				once := func() error { return launchSlow(s.Stream, slowParams{X: in[0], Y: in[1]}) }
				return []bench.Contender{{Name: "gotile", Launch: func(int) error { return launch(s, once) }}}, nil
			}}
		}
		return []bench.Benchmark{
			one("slow/first", func(_ *bench.Setup, f func() error) error { return f() }),
			one("slow/second", func(s *bench.Setup, f func() error) error {
				mark()
				for s.Context().Err() == nil {
					if err := f(); err != nil {
						return err
					}
				}
				return s.Context().Err()
			}),
		}, nil
	}}
}
`

// asCommand is set in processes of this test's binary that are the gotile command.
const asCommand = "COMMAND_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" { // as in package main
		ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
		os.Exit(Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// slow is a module with that package, generated.
type slow struct {
	module
	mark, tmp string
}

func newSlow(t *testing.T) slow {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs in a temporary module")
	}
	s := slow{module: newModule(t, "kernels/axpy"), mark: filepath.Join(t.TempDir(), "mark"), tmp: t.TempDir()}
	s.pkg = filepath.Join(s.root, "slow")
	s.write(t, "slow/slow.go", slowKernels)
	s.write(t, "slow/runs.go", slowRuns)
	t.Chdir(s.pkg)
	mustRun(t, "gen")
	return s
}

// start is the command, in a process of its own, with a directory of its own for temporary files.
func (s slow) start(t *testing.T, extra []string, args ...string) *exec.Cmd {
	t.Helper()
	os.Remove(s.mark)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), asCommand+"=1", "MARK="+s.mark, "TMPDIR="+s.tmp), extra...)
	return cmd
}

// output is what a command has printed so far.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// await waits for what a running command does.
func await(t *testing.T, cmd *exec.Cmd, out *output, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if ended(cmd.Process.Pid) || time.Now().After(end) {
			cmd.Process.Kill()
			cmd.Wait()
			t.Fatalf("no %s:\n%s", what, out)
		}
	}
}

// ended reports whether a process has, though nobody has waited for it yet.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(state, "Z")
}

// marked reports whether the work that is to be interrupted has begun.
func (s slow) marked() bool {
	text, err := os.ReadFile(s.mark)
	return err == nil && len(text) > 0
}

// gone demands the exit code, that the worker has ended, and that no temporary file is left.
func (s slow) gone(t *testing.T, cmd *exec.Cmd, out *output) {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Errorf("it ends with %v, not exit code %d:\n%s", err, exitInterrupted, out)
	}
	if text, err := os.ReadFile(s.mark); err == nil {
		pid, err := strconv.Atoi(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("the worker %d is still there: %v", pid, err)
		}
	}
	if left, err := os.ReadDir(s.tmp); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// files are the contents of the package's directory and all below.
func (s slow) files(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(s.pkg, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[strings.TrimPrefix(path, s.pkg+"/")] = s.readFrom(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Commands, interrupted in the middle of their work: exit code 130, no process and no temporary file left, and files as
// they were, or whole. Package worker has the others.
func TestInterrupt(t *testing.T) {
	s := newSlow(t)
	if err := os.Remove(filepath.Join(s.pkg, "cuda", "slow_07.cu")); err != nil { // what gen is to write
		t.Fatal(err)
	}
	without := s.files(t)
	interrupt := func(t *testing.T, words string, extra []string, args ...string) {
		t.Helper()
		out := &output{}
		cmd := s.start(t, extra, args...)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, cmd, out, "start of the work", s.marked)
		if err := cmd.Process.Signal(os.Interrupt); err != nil { // to the command alone: it passes the signal on
			t.Fatal(err)
		}
		s.gone(t, cmd, out)
		if !strings.Contains(out.String(), words) {
			t.Errorf("it does not say %q:\n%s", words, out)
		}
	}

	t.Run("gen", func(t *testing.T) {
		interrupt(t, "gotile: gen: example.com/user/slow: interrupted", []string{"SLOW=100ms"}, "gen")
		if d := cmp.Diff(without, s.files(t)); d != "" {
			t.Errorf("files differ: %s", d)
		}
	})
	mustRun(t, "gen")
	with := s.files(t)
	t.Run("sim on a terminal", s.onATerminal)
	if d := cmp.Diff(with, s.files(t)); d != "" {
		t.Errorf("files differ: %s", d)
	}
	t.Run("bench", func(t *testing.T) {
		args := []string{"bench", "-device", "sim", "-rounds", "1", "-replays", "1", "-out", "results"}
		interrupt(t, "gotile: bench: example.com/user/slow: interrupted after 1 of 2 benchmarks; these are in ", nil, args...)
		r, err := bench.Read(filepath.Join("results", "sim", "slow.json"))
		if err != nil || len(r.Cases) != 1 || r.Cases[0].Name != "slow/first" {
			t.Errorf("%v, %+v", err, r)
		}
		now := s.files(t)
		delete(now, "results/sim/slow.json")
		if d := cmp.Diff(slices.Sorted(maps.Keys(with)), slices.Sorted(maps.Keys(now))); d != "" {
			t.Errorf("files: %s", d)
		}
	})
}

// onATerminal is Ctrl-C where a bar is shown: it is gone afterwards, and the last lines are the command's.
func (s slow) onATerminal(t *testing.T) {
	master, slave := openTerminal(t, 100)
	cmd := s.start(t, []string{"TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR=1"}, "sim")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	out := &output{}
	read := make(chan bool)
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			out.Write(buf[:n])
			if err != nil { // EIO: all have closed the terminal
				return
			}
		}
	}()
	const bar = "\rsim ━━━━━━━━━━━━──────────── 1/2 cases, "
	await(t, cmd, out, "bar", func() bool { return s.marked() && strings.Contains(out.String(), bar) })
	if _, err := master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	s.gone(t, cmd, out)
	<-read
	text := out.String()
	if !strings.Contains(text, "  second\x1b[K") {
		t.Errorf("the bar does not say what is running:\n%q", text)
	}
	last := text[strings.LastIndex(text, "\r\x1b[K"):]
	if want := "\r\x1b[Kgotile: sim: example.com/user/slow: interrupted after 1 of 2 cases\r\n"; last != want {
		t.Errorf("the terminal ends with %q, want %q", last, want)
	}
}

// openTerminal is a terminal of some columns: what a person's side sees and types, and the programs' side.
func openTerminal(t *testing.T, columns uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	var number, unlock int32
	size := struct{ rows, columns, x, y uint16 }{rows: 40, columns: columns}
	control(t, master, syscall.TIOCSPTLCK, &unlock)
	control(t, master, syscall.TIOCGPTN, &number)
	control(t, master, syscall.TIOCSWINSZ, &size)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}
