package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/internal/printed"
	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/tile"
)

// source is one .cu file: a kernel as lowered for the targets of one lowering set.
type source struct {
	gowrap.Variant
	kernel *tile.Kernel
	text   string
	hashed bool // nothing but its hash is committed
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
	for i, end := range ends {
		if family := slices.Concat(all[start:end]...); len(family) > 0 {
			for _, s := range family {
				s.hashed = set.Families()[i].Hashed()
			}
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
		out[i], errs[i] = sources(kernels[i])
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

// sources are the texts of a kernel.
func sources(k *tile.Kernel) ([]*source, error) {
	texts, err := printed.Sources(k)
	var out []*source
	for _, t := range texts {
		out = append(out, &source{Variant: t.Variant, kernel: k, text: t.Text})
	}
	return out, err
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
	var sums strings.Builder
	for _, family := range families {
		if family[0].hashed {
			for _, s := range family {
				fmt.Fprintf(&sums, "%s  %s\n", sum(s.text), s.File)
			}
			continue
		}
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
	if sums.Len() > 0 {
		out = append(out, file{sumsFile, gowrap.Header + "\n" + sums.String()})
	}
	return out, embeds, nil
}

// sumsFile has the hashes of the texts that are not committed, a line each as sha256sum writes it, behind the header of
// generated files.
const sumsFile = gowrap.Folder + "/kernels.sha256"

// HashSources gives the SHA-256 of each generated .cu file of the package in a directory, and of each of which the
// package has the hash alone.
func HashSources(dir string) (map[string]string, error) {
	out := map[string]string{}
	switch text, err := os.ReadFile(filepath.Join(dir, sumsFile)); {
	case err == nil:
		for _, line := range strings.Split(string(text), "\n")[1:] {
			if sum, name, ok := strings.Cut(line, "  "); ok {
				out[name] = sum
			}
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
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
