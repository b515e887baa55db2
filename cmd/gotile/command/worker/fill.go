package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/runtime/device"
)

// fillCache is verify -compile: the texts for the targets of an architecture, compiled into the cache.
func (j *job) fillCache(ctx context.Context) error {
	own, err := target.Lookup(j.Compile)
	if err != nil || own.Proxy != "" {
		return fmt.Errorf("-compile %s: that is no architecture; name sm_90a, sm_120a or another column of gotile caps", j.Compile)
	}
	sources, err := j.generated(ctx)
	if err != nil {
		return err
	}
	var todo []*device.Kernel
	for _, s := range sources {
		if slices.ContainsFunc(standsFor(own), func(t string) bool { return slices.Contains(s.Targets, t) }) {
			todo = append(todo, &device.Kernel{Name: s.Kernel.Name, Source: s.text})
		}
	}
	fill, err := device.FillCache(own.Arch)
	if err != nil {
		return err
	}
	errs := make([]error, len(todo))
	j.parallel(ctx, "compiling", "kernels", len(todo), cores(), func(i int) string { return todo[i].Name }, func(i int) {
		if err := fill(todo[i]); err != nil {
			errs[i] = fmt.Errorf("%s: %w", todo[i].Name, err)
		}
	})
	if ctx.Err() != nil {
		return progress.ErrInterrupted
	}
	j.printf("%d kernels are in the cache for %s\n", len(todo), own.Arch)
	return errors.Join(errs...)
}
