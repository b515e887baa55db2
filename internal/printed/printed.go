// Package printed prints kernels as CUDA C, one text for the targets of each lowering set: what gotile gen writes, and
// what is compiled of kernels whose text is not committed.
package printed

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// Source is one .cu file: a kernel as lowered for the targets of one lowering set.
type Source struct {
	gowrap.Variant
	Text string
}

// Sources lowers a kernel for each target it claims. Targets of one lowering set must give one text; each set is a file.
func Sources(k *tile.Kernel) ([]*Source, error) {
	name := k.Name()
	var out []*Source
	lows := map[string]*thr.Kernel{} // by target
	for _, t := range Claims(k.IR()) {
		low, err := k.Lower(t)
		if err != nil {
			return nil, err // says which kernel, for which target
		}
		lows[t] = low
		i := slices.IndexFunc(out, func(s *Source) bool { return s.Kernel.Lowering == low.Lowering })
		if i < 0 {
			out = append(out, &Source{Variant: gowrap.Variant{Kernel: low}})
			i = len(out) - 1
		}
		out[i].Targets = append(out[i].Targets, t)
	}
	for _, s := range out {
		s.File = name + ".cu"
		if len(out) > 1 {
			s.File = name + "_" + s.Kernel.Lowering + ".cu"
		}
		for i, t := range s.Targets {
			text, err := cuda.Print(lows[t], cuda.Options{Targets: Chips(s.Targets)})
			if err != nil {
				return nil, fmt.Errorf("kernel %s for %s: %w", name, t, err)
			}
			if i > 0 && text != s.Text {
				return nil, fmt.Errorf("kernel %s: targets %s and %s are of lowering set %q, but their texts differ; this is a mistake in gotile's planner",
					name, s.Targets[0], t, lows[t].Lowering)
			}
			s.Text = text
		}
	}
	return out, nil
}

// Claims are the targets that a kernel is for, in the table's order: what it names, or all, and every proxy of one.
func Claims(k *ir.Kernel) []string {
	var out []string
	for _, name := range target.Names() {
		t, err := target.Lookup(name)
		if err == nil && (k.Targets == nil || slices.Contains(k.Targets, name) || t.Proxy != "" && slices.Contains(k.Targets, t.Proxy)) {
			out = append(out, name)
		}
	}
	return out
}

// Chips leaves the proxies out, unless there is nothing else.
func Chips(names []string) []string {
	var out []string
	for _, n := range names {
		if t, err := target.Lookup(n); err == nil && t.Proxy == "" {
			out = append(out, n)
		}
	}
	if out == nil {
		return names
	}
	return out
}
