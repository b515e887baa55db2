package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// verification is verify on one target.
type verification struct {
	*job
	target  string
	sources []*source // that claim the target
	receipt *Receipt
	stale   map[string]string // why, by kernel
	passed  map[string][]tiletest.Result
	bad     map[string]bool // kernels of failed cases
	blind   bool            // a case failed of which no kernel is known
	partial bool            // some cases did not run: only failures are recorded
	changed bool
	failed  bool
}

func (v *verification) run(ctx context.Context, name string, cases []tiletest.Case) error {
	if err := v.findStale(); err != nil {
		return err
	}
	todo := v.todo(cases)
	if len(todo) == 0 {
		v.printf("%s: %d kernels have fresh receipts\n", v.target, len(v.sources))
		v.prune()
		return nil
	}
	r, err := openRunner(name, v.target, min(v.Parallel, len(todo)))
	if err != nil {
		return err
	}
	defer r.close()
	v.compile(ctx, r, todo)
	if err := v.execute(ctx, r, todo); err != nil {
		return errors.Join(err, v.record())
	}
	v.prune()
	return v.record()
}

// findStale fills stale.
func (v *verification) findStale() error {
	v.partial = v.Run != ""
	v.stale, v.passed, v.bad = map[string]string{}, map[string][]tiletest.Result{}, map[string]bool{}
	for _, s := range v.sources {
		why, err := v.receipt.find(s.Kernel.Name, v.target).why(s)
		if err != nil {
			return err
		}
		if v.Force {
			why = "forced"
		}
		if why != "" {
			v.stale[s.Kernel.Name] = why
		}
	}
	return nil
}

// todo are the cases to run: all that are new, and those that covered a stale kernel. A kernel without any receipt may
// be met by every case.
func (v *verification) todo(cases []tiletest.Case) []tiletest.Case {
	known, again := map[string]bool{}, map[string]bool{}
	for _, s := range v.sources {
		rec := v.receipt.find(s.Kernel.Name, v.target)
		if rec == nil || v.Force || v.Run != "" {
			return cases
		}
		for _, c := range rec.Ran {
			known[c] = true
			again[c] = again[c] || v.stale[rec.Name] != ""
		}
	}
	var out []tiletest.Case
	for _, c := range cases {
		if name := c.Recorded(); !known[name] || again[name] {
			out = append(out, c)
		}
	}
	return out
}

// compile compiles what the cases will launch.
func (v *verification) compile(ctx context.Context, r *runner, cases []tiletest.Case) {
	var kernels []*device.Kernel
	for _, s := range v.expected(cases) {
		kernels = append(kernels, &device.Kernel{Name: s.Kernel.Name, Source: s.text})
	}
	task := v.display.Start(v.target+": compiling", "kernels", len(kernels))
	defer task.End()
	r.compile(ctx, kernels, task)
}

// expected are the sources that the cases will launch, as far as it is known before: those that they have launched, and
// those without a fresh receipt, which some case should launch, unless -run leaves cases out.
func (v *verification) expected(cases []tiletest.Case) []*source {
	names := map[string]bool{}
	for _, c := range cases {
		names[c.Recorded()] = true
	}
	var out []*source
	for _, s := range v.sources {
		rec := v.receipt.find(s.Kernel.Name, v.target)
		if rec != nil && slices.ContainsFunc(rec.Ran, func(c string) bool { return names[c] }) || v.Run == "" && v.stale[s.Kernel.Name] != "" {
			out = append(out, s)
		}
	}
	return out
}

// execute runs the cases and files their results by kernel.
func (v *verification) execute(ctx context.Context, r *runner, cases []tiletest.Case) error {
	ran, failed, skips, lost := 0, 0, 0, false
	r.task = v.display.Start(v.target, "cases", len(cases))
	defer r.task.End()
	for res := range r.results(ctx, cases, verifySeed) {
		ran++
		why := skipped(res, v.target)
		switch {
		case why != "":
			skips++
			v.printf("skip %s: %s\n", res.Case, why)
		case v.show(res):
			for _, k := range res.Kernels {
				v.passed[k] = append(v.passed[k], res)
			}
		default:
			failed++
			lost = lost || errors.Is(res.Err, device.ErrSticky)
			v.blame(res)
		}
	}
	if ctx.Err() != nil {
		v.partial = true
		lost := ""
		if failed > 0 {
			lost = ", but the kernels of cases that failed lose their receipts"
		}
		return fmt.Errorf("%w after %d of %d cases on %s; nothing of it is recorded%s", progress.ErrInterrupted, ran, len(cases), v.target, lost)
	}
	if lost && len(r.devices) > 1 {
		v.printf("%s: the GPU was lost while up to %d cases were running; any of them may be to blame: gotile verify -p 1 shows which\n", v.target, len(r.devices))
	}
	v.failed = failed > 0
	if failed > 0 {
		v.printf("%s: %d of %d cases failed\n", v.target, failed, len(cases))
	} else {
		v.printf("%s: %d cases passed\n", v.target, len(cases)-skips)
	}
	return nil
}

// blame marks the kernels of a failed case: those that it launched, and those that it covered before.
func (v *verification) blame(res tiletest.Result) {
	found := len(res.Kernels) > 0
	for _, k := range res.Kernels {
		v.bad[k] = true
	}
	for _, rec := range v.receipt.Kernels {
		if rec.Target == v.target && slices.Contains(rec.Ran, res.Recorded) {
			v.bad[rec.Name], found = true, true
		}
	}
	v.blind = v.blind || !found
}

// record updates the receipt: a kernel of a failed case loses its record, a stale one whose cases passed gets a new
// one, a fresh one gains the cases that are new.
func (v *verification) record() error {
	for _, s := range v.sources {
		name := s.Kernel.Name
		old := v.receipt.find(name, v.target)
		switch {
		case v.bad[name]:
			if old != nil {
				v.receipt.drop(name, v.target)
				v.changed = true
			}
		case v.partial || v.blind:
		case len(v.passed[name]) == 0:
			if v.stale[name] != "" {
				v.failed = true
				v.printf("RED  %s: no case launched it on %s (%s)\n", name, v.target, v.stale[name])
			}
		default:
			rec, err := v.recordOf(s, old)
			if err != nil {
				return err
			}
			if old == nil || !rec.equal(*old) {
				v.receipt.put(rec)
				v.changed = true
			}
		}
	}
	return nil
}

// recordOf is the new record of a kernel whose cases passed; old is kept as far as it is fresh.
func (v *verification) recordOf(s *source, old *Record) (Record, error) {
	launch, err := s.launch()
	if err != nil {
		return Record{}, err
	}
	rec := Record{Name: s.Kernel.Name, Target: v.target, CU: sum(s.text), Launch: sum(launch), Worst: map[string]float64{}}
	if old != nil && v.stale[rec.Name] == "" {
		maps.Copy(rec.Worst, old.Worst)
		rec.Ran, rec.Cases = slices.Clone(old.Ran), old.Cases
	}
	before := slices.Clone(rec.Ran)
	for _, res := range v.passed[rec.Name] {
		if !slices.Contains(before, res.Recorded) {
			rec.Ran, rec.Cases = append(rec.Ran, res.Recorded), rec.Cases+1
		}
		for what, e := range res.Worst {
			rec.Worst[what] = max(rec.Worst[what], e)
		}
	}
	slices.Sort(rec.Ran)
	rec.Ran = slices.Compact(rec.Ran)
	return rec, nil
}

func (rec Record) equal(o Record) bool {
	return rec.CU == o.CU && rec.Launch == o.Launch && slices.Equal(rec.Ran, o.Ran) && maps.Equal(rec.Worst, o.Worst)
}

// prune drops this target's records of kernels that are no more.
func (v *verification) prune() {
	before := len(v.receipt.Kernels)
	v.receipt.Kernels = slices.DeleteFunc(v.receipt.Kernels, func(rec Record) bool {
		return rec.Target == v.target && !slices.ContainsFunc(v.sources, func(s *source) bool { return s.Kernel.Name == rec.Name })
	})
	v.changed = v.changed || len(v.receipt.Kernels) != before
}
