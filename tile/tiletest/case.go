package tiletest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/gotile/gotile/internal/stack"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// Case is one row of a test table. Run launches kernels and compares; it uses the run's stream and tensors only. An
// error that it returns fails the case, as recorded failures do. Cases are independent: several may run at the same
// time, each on a device of its own.
type Case struct {
	Name string
	Run  func(*Run) error
	// Alone keeps other cases from running at the same time: for a case that takes gigabytes of memory, or that skips
	// where there is too little of it.
	Alone bool
	// Record is what receipts call the case; empty: its name. Cases that are many for one kernel share one, which says how
	// many they are.
	Record string
	// Deep leaves the case to GPUs: gotile sim runs it only where -run matches it.
	Deep bool
}

// Recorded is what receipts call the case.
func (c Case) Recorded() string {
	if c.Record != "" {
		return c.Record
	}
	return c.Name
}

// Result is how a case went.
type Result struct {
	Case string
	// Recorded is what receipts call the case.
	Recorded string
	Err      error              // nil: passed or skipped
	Skipped  string             // why the case did not run on this device; empty: it ran, or failed
	Kernels  []string           // the kernels launched, sorted
	Worst    map[string]float64 // the largest scale-relative error by the name given to Compare
	Elapsed  time.Duration
}

// Unsupported reports whether the case failed only because its family has no kernel for the device's target.
func (r Result) Unsupported() bool {
	var e *bind.Error
	return len(r.Kernels) == 0 && errors.As(r.Err, &e) && e.Err == device.ErrTarget
}

// Exec runs the case on a device: poisoned outputs, guard bands and unread inputs are checked at its end. One case
// runs on a device at a time, since its kernels are known from the device's launch counts.
func (c Case) Exec(ctx context.Context, d *device.Device, seed uint64) Result {
	start, before := time.Now(), d.Launches()
	r := &Run{Device: d, Stream: d.Stream(), Seed: seed, ctx: ctx, worst: map[string]float64{}}
	var skipped *skip
	if err := c.call(r); err != nil && !errors.As(err, &skipped) {
		r.errs = append(r.errs, err)
	}
	res := Result{Case: c.Name, Recorded: c.Recorded(), Err: r.finish(), Worst: r.worst, Elapsed: time.Since(start)}
	for name, n := range d.Launches() {
		if n > before[name] {
			res.Kernels = append(res.Kernels, name)
		}
	}
	slices.Sort(res.Kernels)
	switch {
	case skipped == nil || res.Err != nil:
	case len(res.Kernels) > 0:
		res.Err = fmt.Errorf("%w, but it launched %v before: skip first", skipped, res.Kernels)
	default:
		res.Skipped = skipped.reason
	}
	return res
}

// call turns a panic of the case into an error with the user's part of the stack, so that the rest of the table still
// runs.
func (c Case) call(r *Run) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, stack.Text(stack.User(string(debug.Stack()), "tiletest.Case.call"), nil))
		}
	}()
	return c.Run(r)
}

// Devices opens what tests run on: the simulator always, cuda:0 where there is one. They are closed when t ends.
func Devices(t testing.TB) []*device.Device {
	t.Helper()
	names := []string{"sim"}
	if slices.Contains(device.List(), "cuda:0") {
		names = append(names, "cuda:0")
	} else {
		t.Log("no CUDA device: running on sim alone")
	}
	var out []*device.Device
	for _, name := range names {
		d, err := device.Open(name)
		if err != nil {
			t.Fatalf("opening %s: %v", name, err)
		}
		t.Cleanup(func() { d.Close() })
		out = append(out, d)
	}
	return out
}

// RunCases runs a table on every device, each case as a subtest DEVICE/CASE, with seed 1. With -v it prints the worst
// errors.
func RunCases(t *testing.T, cases []Case) {
	t.Helper()
	for _, d := range Devices(t) {
		t.Run(d.Name(), func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) {
					res := c.Exec(t.Context(), d, 1)
					if res.Unsupported() {
						t.Skipf("no kernel of it is for %s", d.Target().Name)
					}
					if res.Skipped != "" {
						t.Skip(res.Skipped)
					}
					if res.Err != nil {
						t.Error(res.Err)
					}
					if !testing.Verbose() { // a failing test shows its log, in which the failure would drown
						return
					}
					for _, what := range slices.Sorted(maps.Keys(res.Worst)) {
						t.Logf("%s: scale-relative error %.3g", what, res.Worst[what])
					}
				})
			}
		})
	}
}
