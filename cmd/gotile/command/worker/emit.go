package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/tile"
)

// source is one .cu file: a kernel as lowered for the targets of one lowering set.
type source struct {
	gowrap.Variant
	kernel *tile.Kernel
	text   string
}

// sum is the SHA-256 of a file's text in hexadecimal.
func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// launch is the canonical text of the launch.
func (s *source) launch() (string, error) { return gowrap.LaunchText(s.Kernel) }

// lowered lowers and prints all kernels, family by family, in the order of the set.
func (j *job) lowered(ctx context.Context) ([][]*source, error) {
	set := j.Kernels()
	task := j.display.Start("recording", "kernels", len(set.Names()))
	defer task.End()
	seen := map[string]bool{}
	var kernels []*tile.Kernel
	var ends []int // of the families, in kernels
	for _, f := range set.Families() {
		for _, name := range f.Names() {
			if seen[name] {
				return nil, fmt.Errorf("two kernels are called %s; names must be unique in a package", name)
			}
			seen[name] = true
			if ctx.Err() != nil {
				return nil, progress.ErrInterrupted
			}
			task.Begin(name)
			k, err := built(f.Build, name)
			task.Done(name)
			if err != nil {
				return nil, fmt.Errorf("kernel %s: %w", name, err)
			}
			kernels = append(kernels, k)
		}
		ends = append(ends, len(kernels))
	}
	if len(kernels) == 0 {
		return nil, fmt.Errorf("Kernels() is an empty set; list configs with tile.Configs(build, ...)")
	}
	task.End()
	all, err := j.printAll(ctx, kernels)
	if err != nil {
		return nil, err
	}
	var out [][]*source
	start := 0
	for _, end := range ends {
		if family := slices.Concat(all[start:end]...); len(family) > 0 {
			out = append(out, family)
		}
		start = end
	}
	return out, nil
}

// printAll prints kernels, on all cores. Of several errors it is that of the first kernel.
func (j *job) printAll(ctx context.Context, kernels []*tile.Kernel) ([][]*source, error) {
	out, errs := make([][]*source, len(kernels)), make([]error, len(kernels))
	j.parallel(ctx, "lowering", "kernels", len(kernels), cores(), func(i int) string { return kernels[i].Name() }, func(i int) {
		out[i], errs[i] = print(kernels[i].Name(), kernels[i])
	})
	if ctx.Err() != nil {
		return nil, progress.ErrInterrupted
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// print lowers a kernel for each target it claims. Targets of one lowering set must give one text; each set is a file.
func print(name string, k *tile.Kernel) ([]*source, error) {
	var out []*source
	lows := map[string]*thr.Kernel{} // by target
	for _, t := range claims(k.IR()) {
		low, err := k.Lower(t)
		if err != nil {
			return nil, err // says which kernel, for which target
		}
		lows[t] = low
		i := slices.IndexFunc(out, func(s *source) bool { return s.Kernel.Lowering == low.Lowering })
		if i < 0 {
			out = append(out, &source{Variant: gowrap.Variant{Kernel: low}, kernel: k})
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
			text, err := cuda.Print(lows[t], cuda.Options{Targets: chips(s.Targets)})
			if err != nil {
				return nil, fmt.Errorf("kernel %s for %s: %w", name, t, err)
			}
			if i > 0 && text != s.text {
				return nil, fmt.Errorf("kernel %s: targets %s and %s are of lowering set %q, but their texts differ; this is a mistake in gotile's planner",
					name, s.Targets[0], t, lows[t].Lowering)
			}
			s.text = text
		}
	}
	return out, nil
}

// stale says, one text a file, which .cu files are not what their kernels print now, by the sums in Sources.
func (p *Package) stale(all []*source) []string {
	var out []string
	for _, s := range all {
		if why := staleness(s, p.Sources[s.File]); why != "" {
			out = append(out, why)
		}
	}
	return out
}

// staleness compares a source with the sum of its committed file, empty where there is none.
func staleness(s *source, committed string) string {
	switch committed {
	case "":
		return s.File + " is not generated; run gotile gen"
	case sum(s.text):
		return ""
	}
	return s.File + " is not what the kernel prints now; run gotile gen"
}

// claims are the targets that a kernel is for, in the table's order: what it names, or all, and every proxy of one.
func claims(k *ir.Kernel) []string {
	var out []string
	for _, name := range target.Names() {
		t, err := target.Lookup(name)
		if err == nil && (k.Targets == nil || slices.Contains(k.Targets, name) || t.Proxy != "" && slices.Contains(k.Targets, t.Proxy)) {
			out = append(out, name)
		}
	}
	return out
}

// chips leaves the proxies out, unless there is nothing else.
func chips(names []string) []string {
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

// file is a generated file, named from the package's directory.
type file struct{ name, text string }

// files are all files that the package should have, the .cu files of a family before its z-file, and those of compiled
// code, which the z-files name.
func (j *job) files(ctx context.Context) (out []file, embeds []*compiled, err error) {
	families, err := j.lowered(ctx)
	if err != nil {
		return nil, nil, err
	}
	targets, err := j.embedTargets()
	if err != nil {
		return nil, nil, err
	}
	if embeds, err = j.embeds(slices.Concat(families...), targets); err != nil {
		return nil, nil, err
	}
	for _, family := range families {
		wrap := gowrap.Family{Package: j.Name}
		for _, s := range family {
			out = append(out, file{filepath.Join(gowrap.Folder, s.File), s.text})
			wrap.Variants = append(wrap.Variants, s.Variant)
		}
		text, err := gowrap.Generate(wrap)
		if err != nil {
			return nil, nil, err
		}
		name := wrap.File()
		if slices.ContainsFunc(out, func(f file) bool { return f.name == name }) {
			return nil, nil, fmt.Errorf("two families would write %s; give their Args types different names (%s)", name, family[0].kernel.IR().ArgsType)
		}
		out = append(out, file{name, string(text)})
	}
	return out, embeds, nil
}

// HashSources gives the SHA-256 of each generated .cu file of the package in a directory.
func HashSources(dir string) (map[string]string, error) {
	out := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, gowrap.Folder, "*.cu"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(string(text), gowrap.Header) {
			out[filepath.Base(path)] = sum(string(text))
		}
	}
	return out, nil
}

// built is a kernel of a set, built apart: a function that ends its goroutine would end the worker's, for which others wait.
func built(build func(name string) (*tile.Kernel, error), name string) (k *tile.Kernel, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		k, err = build(name)
	}()
	if <-done; k == nil && err == nil {
		return build(name) // which says so
	}
	return k, err
}
