//go:build !gotilegen

package worker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gotile/gotile/cmd/gotile/command/internal/axpy"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// runnerOf is a runner on simulators, in place of one GPU.
func runnerOf(t *testing.T, n int) *runner {
	t.Helper()
	r, err := openRunner("sim", "sm_90a", n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// names gives the names of results, with an error's first line.
func names(r *runner, ctx context.Context, cases []tiletest.Case) (out []string) {
	for res := range r.results(ctx, cases, 1) {
		s := res.Case
		if res.Err != nil {
			first, _, _ := strings.Cut(res.Err.Error(), "\n")
			s += ": " + first
		}
		out = append(out, s)
	}
	return out
}

// row is a case of a table that launches nothing.
func row(name string, run func(*tiletest.Run) error) tiletest.Case {
	return tiletest.Case{Name: name, Run: run}
}

// Cases that wait for later ones run beside them, and their results come in the table's order.
func TestRunnerKeepsTheOrder(t *testing.T) {
	r := runnerOf(t, 3)
	after := make(chan bool)
	cases := []tiletest.Case{
		row("a", func(*tiletest.Run) error { <-after; return errors.New("late") }),
		row("b", func(*tiletest.Run) error { panic("boom") }),
		row("c", func(*tiletest.Run) error { runtime.Goexit(); return nil }),
		row("d", func(r *tiletest.Run) error { return r.Skip("it is Sunday") }),
		row("e", func(*tiletest.Run) error { close(after); return nil }),
	}
	want := []string{"a: late", "b: panic: boom", "c: the case ended its goroutine (runtime.Goexit, testing's FailNow): return an error instead", "d", "e"}
	if got := names(r, t.Context(), cases); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// A case that is to be alone is, wherever it stands; one that runs out of memory beside others runs again, alone. No
// more cases run at a time than there are devices, and no two on one.
func TestRunnerAlone(t *testing.T) {
	r := runnerOf(t, 3)
	var mu sync.Mutex
	busy := map[*device.Device]string{}
	enter := func(c string, d *device.Device, alone bool) func() {
		mu.Lock()
		defer mu.Unlock()
		if busy[d] != "" || alone && len(busy) > 0 {
			t.Errorf("%s runs beside %v", c, busy)
		}
		busy[d] = c
		return func() { mu.Lock(); defer mu.Unlock(); delete(busy, d) }
	}
	var hungry atomic.Int64
	var cases []tiletest.Case
	var want []string
	for i := range 24 {
		name, alone := fmt.Sprintf("case%d", i), i%5 == 3
		c := row(name, func(run *tiletest.Run) error {
			defer enter(name, run.Device, alone)()
			time.Sleep(time.Millisecond)
			return nil
		})
		if i == 7 || i == 8 {
			again := false
			c.Run = func(run *tiletest.Run) error {
				defer enter(name, run.Device, again)()
				hungry.Add(1)
				if !again {
					again = true
					return fmt.Errorf("x: %w", device.ErrOutOfMemory)
				}
				return nil
			}
		}
		c.Alone = alone && i != 8
		cases, want = append(cases, c), append(want, name)
	}
	if got := names(r, t.Context(), cases); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if hungry.Load() != 4 {
		t.Errorf("two cases without memory ran %d times, want each twice", hungry.Load())
	}
	full := row("full", func(*tiletest.Run) error { return device.ErrOutOfMemory })
	if got := names(r, t.Context(), []tiletest.Case{full}); !slices.Equal(got, []string{"full: out of device memory"}) {
		t.Errorf("without memory even alone: %q", got)
	}
}

// Cancelled, it starts no more cases, and ends when those that run have ended.
func TestRunnerCancelled(t *testing.T) {
	r := runnerOf(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var started, running atomic.Int64
	var cases []tiletest.Case
	for i := range 20 {
		cases = append(cases, row(fmt.Sprint(i), func(run *tiletest.Run) error {
			started.Add(1)
			running.Add(1)
			defer running.Add(-1)
			if i == 5 {
				cancel()
			}
			if i >= 5 {
				<-run.Context().Done()
				time.Sleep(5 * time.Millisecond) // the sequence must not end before
			}
			return nil
		}))
	}
	got := names(r, ctx, cases)
	if n := running.Load(); n != 0 {
		t.Errorf("%d cases run on after the end", n)
	}
	if n := started.Load(); n > 7 || len(got) > 5 {
		t.Errorf("%d cases started and %d results %q, cancelled in case 5 on 2 devices", n, len(got), got)
	}
}

// Who stops reading stops the run.
func TestRunnerLeftEarly(t *testing.T) {
	r := runnerOf(t, 2)
	var started atomic.Int64
	var cases []tiletest.Case
	for i := range 100 {
		cases = append(cases, row(fmt.Sprint(i), func(run *tiletest.Run) error {
			if started.Add(1); i > 0 {
				<-run.Context().Done()
			}
			return nil
		}))
	}
	for range r.results(t.Context(), cases, 1) {
		break
	}
	if n := started.Load(); n > 4 {
		t.Errorf("%d cases started", n)
	}
}

// elapsed is the part of the output that differs from run to run.
var elapsed = regexp.MustCompile(`\(\d+\.\d\ds\)`)

// A run of several cases at a time prints and writes what one after the other does: passes, failures, skips, receipts.
func TestVerifyInParallel(t *testing.T) {
	var outs, receipts []string
	for _, n := range []string{"1", "5"} {
		p := fixture(t)
		p.Cases = func() []tiletest.Case {
			cases := axpy.Cases()
			for _, i := range []int{2, 17} {
				run := cases[i].Run
				cases[i].Run = func(r *tiletest.Run) error { return errors.Join(run(r), errors.New("wrong")) }
			}
			cases[9].Run = func(r *tiletest.Run) error { return r.Skip("it is Sunday") }
			cases[20].Run = func(r *tiletest.Run) error { panic("boom") }
			cases[30].Alone = true
			return cases
		}
		out, err := verifyOn(t, t.Context(), p, "-v", "-p", n)
		if !errors.Is(err, errFailed) {
			t.Fatalf("got %v\n%s", err, out)
		}
		outs = append(outs, elapsed.ReplaceAllString(out, "(time)"))
		p.Cases = axpy.Cases // and now receipts
		mustVerify(t, p, "-p", n)
		text := read(t, p.Dir, "receipts", "sim.json")
		receipts = append(receipts, regexp.MustCompile(`"seconds": [\d.]+`).ReplaceAllString(text, ""))
	}
	if outs[0] != outs[1] {
		t.Errorf("one at a time:\n%s\nfive:\n%s", outs[0], outs[1])
	}
	if n := strings.Count(outs[0], "FAIL "); n != 6 {
		t.Errorf("%d failures, want three on each of two targets:\n%s", n, outs[0])
	}
	if receipts[0] != receipts[1] {
		t.Errorf("one at a time:\n%s\nfive:\n%s", receipts[0], receipts[1])
	}
	p := fixture(t)
	if _, err := verifyOn(t, t.Context(), p, "-p", "0"); err == nil || !strings.Contains(err.Error(), "-p 0: at least one") {
		t.Errorf("-p 0: %v", err)
	}
}

// What is compiled before the cases run is what they launch, as far as receipts tell.
func TestExpected(t *testing.T) {
	p := fixture(t)
	mustVerify(t, p)
	families, err := (&job{Package: p}).lowered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(families...)
	expected := func(receipt *Receipt, o Options, cases ...string) (out []string) {
		v := &verification{job: &job{Package: p, Options: o}, target: "sm_90a", sources: all, receipt: receipt}
		if err := v.findStale(); err != nil {
			t.Fatal(err)
		}
		var todo []tiletest.Case
		for _, c := range cases {
			todo = append(todo, tiletest.Case{Name: c})
		}
		for _, s := range v.expected(todo) {
			out = append(out, s.Kernel.Name)
		}
		return out
	}
	none, full := &Receipt{}, receiptOf(t, p)
	const sum = "sum/rows=7/n=100"
	for _, c := range []struct {
		what    string
		receipt *Receipt
		o       Options
		want    int
	}{
		{"no receipt", none, Options{}, len(all)}, {"no receipt, -run", none, Options{Run: "sum"}, 0},
		{"fresh", full, Options{}, 1}, {"fresh, -run", full, Options{Run: "sum"}, 1},
		{"-f", full, Options{Force: true}, len(all)}, {"-f -run", full, Options{Force: true, Run: "sum"}, 1},
	} {
		got := expected(c.receipt, c.o, sum)
		if len(got) != c.want || c.want == 1 && got[0] != "sum_f32_c512" {
			t.Errorf("%s: %v, want %d", c.what, got, c.want)
		}
	}
}
