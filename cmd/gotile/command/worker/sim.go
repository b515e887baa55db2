package worker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

var simCommand = &Command{
	Name:  "sim",
	Short: "run the test cases on the simulator",
	Long: `
Sim runs the cases of each package on the simulator, which reports out-of-bounds accesses, reads of uninitialised
shared memory, races and barrier divergence with the lines of Go they come from. It needs neither a GPU nor NVRTC.
The seed chooses the cases' data and the order in which the simulator schedules. The simulator executes the kernels as
they are in Go; sim warns of .cu files that are not what they print. Of cases that are for GPUs mostly, too many for a
simulator, it runs a part, and all that -run matches.

Example:

	gotile sim -seed 7 -run 'fwd.*n=4096' -v ./kernels/rmsnorm`,
	Runs: true,
	flags: func(f *flag.FlagSet, o *Options) {
		f.StringVar(&o.Target, "target", "sm_90a", "`target` to lower for: "+strings.Join(target.Names(), ", "))
		f.Uint64Var(&o.Seed, "seed", 1, "`seed` of data and schedule")
		f.StringVar(&o.Run, "run", "", "run only the cases that match `regexp`")
		f.BoolVar(&o.Verbose, "v", false, "print every case with its kernels and errors")
	},
	do: func(ctx context.Context, j *job) error { return j.sim(ctx) },
}

func (j *job) sim(ctx context.Context) error {
	j.warnStale(ctx)
	cases, err := j.selected()
	if err != nil {
		return err
	}
	if all := len(cases); j.Run == "" {
		cases = slices.DeleteFunc(cases, func(c tiletest.Case) bool { return c.Deep })
		if n := all - len(cases); n > 0 {
			j.printf("%d of %d cases are left to GPUs; -run . runs all\n", n, all)
		}
	}
	if _, err := target.Lookup(j.Target); err != nil {
		return err
	}
	d, err := device.Open("sim", device.WithTarget(j.Target), device.WithContext(ctx), device.WithSim(device.SimConfig{Seed: j.Seed}))
	if err != nil {
		return err
	}
	defer d.Close()
	failed, skips := 0, 0
	task := j.display.Start("sim", "cases", len(cases))
	defer task.End()
	for i, c := range cases {
		task.Begin(c.Name)
		res := c.Exec(ctx, d, j.Seed)
		task.Done(c.Name)
		if ctx.Err() != nil { // the case may have been cut off
			return fmt.Errorf("%w after %d of %d cases", progress.ErrInterrupted, i, len(cases))
		}
		switch why := skipped(res, j.Target); {
		case why != "":
			skips++
			j.printf("skip %s: %s\n", c.Name, why)
		case !j.show(res):
			failed++
		}
	}
	if failed > 0 {
		j.printf("%d of %d cases failed on sim\n", failed, len(cases))
		return errFailed
	}
	j.printf("%d cases passed on sim\n", len(cases)-skips)
	return nil
}

// warnStale says what the cases do not run: the simulator executes the kernels as they are in Go, so it passes whatever
// the .cu files hold.
func (j *job) warnStale(ctx context.Context) {
	families, err := j.lowered(ctx)
	if errors.Is(err, progress.ErrInterrupted) {
		return
	}
	if err != nil { // of a target, maybe, that is not simulated
		fmt.Fprintf(j.stderr, "gotile: sim: warning: the .cu files are not compared with the kernels: %s\n", j.detail(err))
		return
	}
	for _, why := range j.stale(slices.Concat(families...)) {
		fmt.Fprintf(j.stderr, "gotile: sim: warning: %s\n", why)
	}
}

// selected are the cases that -run matches.
func (j *job) selected() ([]tiletest.Case, error) {
	all := j.Cases()
	if len(all) == 0 {
		return nil, fmt.Errorf("Cases() is empty")
	}
	seen := map[string]bool{}
	for _, c := range all {
		if seen[c.Name] {
			return nil, fmt.Errorf("two cases are called %q; names must be unique", c.Name)
		}
		seen[c.Name] = true
	}
	re, err := regexp.Compile(j.Run)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var out []tiletest.Case
	for _, c := range all {
		if re.MatchString(c.Name) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("-run %q matches none of the %d cases", j.Run, len(all))
	}
	return out, nil
}

// skipped says why a case did not run on a device of the target; empty: it did.
func skipped(res tiletest.Result, target string) string {
	if res.Unsupported() {
		return "no kernel of it is for " + target
	}
	return res.Skipped
}

// show prints a result, passes only with -v, and reports whether it passed.
func (j *job) show(res tiletest.Result) bool {
	if res.Err != nil {
		j.printf("FAIL %s (%.2fs)\n\t%s\n", res.Case, res.Elapsed.Seconds(), strings.ReplaceAll(j.detail(res.Err), "\n", "\n\t"))
		return false
	}
	if j.Verbose {
		j.printf("ok   %s (%.2fs) %s %s\n", res.Case, res.Elapsed.Seconds(), strings.Join(res.Kernels, " "), worstText(res.Worst))
	}
	return true
}
