package worker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/internal/image"
	"github.com/gotile/gotile/internal/printed"
	"github.com/gotile/gotile/internal/wholefile"
)

var genCommand = &Command{
	Name:  "gen",
	Short: "print the kernels as CUDA C with typed Go wrappers",
	Long: `
Gen writes a z*.go file for each family (the kernels of one Args type) into the directory of its package, and a .cu file
for each kernel and lowering set into its folder cuda. Only files whose text changes are written. Generated files of
kernels that no longer exist are removed; nothing else is.

With -lines it writes the .cu files with #line markers into another directory, and nothing into the package: the text
that is compiled where GOTILE_LINES is set, but for the names of Go files, which are relative here.

With -cubin it compiles the kernels with NVRTC, too, for the targets that are named, and the Go files embed the code: a
program that is deployed then needs the driver alone. Files of code, KERNEL.TARGET.cubin, name the text that they were
compiled from: only those whose text changes are compiled again, and a program does not use one that is stale. Later
runs without the flag keep the targets.

Examples:

	gotile gen
	gotile gen -cubin sm_90a,sm_120a ./kernels

In a Go file of the package, for go generate:

	//go:generate go tool gotile gen

And in a continuous build:

	gotile gen -check ./...`,
	Stays: true,
	flags: func(f *flag.FlagSet, o *Options) {
		f.BoolVar(&o.Check, "check", false, "write nothing; show what is stale as a diff and fail if anything is")
		f.StringVar(&o.Cubin, "cubin", "", "comma-separated `targets` whose compiled code is embedded, all or none; default: those of the files that there are")
		f.BoolVar(&o.Verbose, "v", false, "name the files that are up to date, too")
		f.StringVar(&o.Lines, "lines", "", "only write the CUDA with the lines of its Go source, into `directory`")
	},
	do: func(ctx context.Context, j *job) error {
		if j.Lines != "" {
			return j.genLines(ctx)
		}
		return j.gen(ctx)
	},
}

// genLines writes the printings with markers. They are no package's: no command would know them as generated.
func (j *job) genLines(ctx context.Context) error {
	families, err := j.lowered(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(j.Lines, 0o777); err != nil {
		return err
	}
	for _, own := range []string{j.Dir, filepath.Join(j.Dir, gowrap.Folder)} {
		if same, err := sameDir(j.Lines, own); err != nil {
			return err
		} else if same {
			return errors.New("-lines names the package's own directory, where the clean text belongs; name another")
		}
	}
	for _, s := range slices.Concat(families...) {
		text, err := s.lined(j.place)
		if err != nil {
			return err
		}
		if err := wholefile.Write(filepath.Join(j.Lines, s.File), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

func sameDir(a, b string) (bool, error) {
	x, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y), nil
}

// lined is the source with line markers, which name files by place.
func (s *source) lined(place func(file string) string) (string, error) {
	low, err := s.kernel.Lower(s.Targets[0])
	if err != nil {
		return "", err
	}
	return cuda.Print(low, cuda.Options{Targets: printed.Chips(s.Targets), Lines: true, Path: place})
}

// gen can be interrupted until it writes: then all files are as they were.
func (j *job) gen(ctx context.Context) error {
	want, embeds, err := j.files(ctx)
	if err != nil {
		return err
	}
	if !j.Check {
		if err := j.compileEmbeds(ctx, embeds); err != nil {
			return err
		}
	}
	old, err := vanished(j.Dir, want, embeds)
	if err != nil {
		return err
	}
	if !j.Check {
		if err := os.MkdirAll(filepath.Join(j.Dir, gowrap.Folder), 0o777); err != nil {
			return err
		}
	}
	stale, err := j.genEmbeds(embeds) // before the Go files that embed them
	if err != nil {
		return err
	}
	for _, f := range want {
		path := filepath.Join(j.Dir, f.name)
		have, err := os.ReadFile(path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case err == nil && string(have) == f.text:
			if j.Verbose {
				j.printf("%s is up to date\n", f.name)
			}
			continue
		}
		stale++
		if !j.Check {
			if err := wholefile.Write(path, []byte(f.text)); err != nil {
				return err
			}
			j.printf("wrote %s\n", f.name)
		} else if err != nil {
			j.printf("%s is missing\n", f.name)
		} else {
			j.printf("%s is stale (-have +want):\n%s\n", f.name, diff(string(have), f.text))
		}
	}
	for _, name := range old {
		stale++
		if j.Check {
			j.printf("%s belongs to no kernel any more\n", name)
			continue
		}
		if err := os.Remove(filepath.Join(j.Dir, name)); err != nil {
			return err
		}
		j.printf("removed %s: it belongs to no kernel any more\n", name)
	}
	j.warnBroken(want)
	if j.Check && stale > 0 {
		j.printf("%d stale; run: gotile gen\n", stale)
		return errFailed
	}
	if stale == 0 {
		j.printf("%d files are up to date\n", len(want)+len(embeds)) // at least two: a .cu and its launch
	}
	return nil
}

// genEmbeds writes the files of compiled code that are not fresh, or names them, and counts them.
func (j *job) genEmbeds(embeds []*compiled) (stale int, err error) {
	for _, c := range embeds {
		if c.why == "" {
			if j.Verbose {
				j.printf("%s is up to date\n", c.name)
			}
			continue
		}
		stale++
		if j.Check {
			j.printf("%s: %s\n", c.name, c.why)
			continue
		}
		if err := wholefile.Write(filepath.Join(j.Dir, c.name), c.data); err != nil {
			return stale, err
		}
		j.printf("wrote %s\n", c.name)
	}
	return stale, nil
}

// diff shows two texts line by line.
func diff(have, want string) string {
	type line string
	lines := func(text string) (out []line) {
		for _, l := range strings.Split(text, "\n") {
			out = append(out, line(l))
		}
		return out
	}
	// The comparer makes a line one thing: without it, cmp would look for differences within lines.
	return cmp.Diff(lines(have), lines(want), cmp.Comparer(func(a, b line) bool { return a == b }))
}

// vanished lists the generated files of a package, known by their first line, that are not wanted. Before there was a
// folder for CUDA C, it was beside the Go files.
func vanished(dir string, want []file, embeds []*compiled) ([]string, error) {
	var out []string
	for _, pattern := range []string{gowrap.Folder + "/*.cu", gowrap.Folder + "/*" + image.Suffix, "z*.go", "*.cu", "*" + image.Suffix, sumsFile} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(want, func(f file) bool { return f.name == name }) ||
				slices.ContainsFunc(embeds, func(c *compiled) bool { return c.name == name }) {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if first, _, _ := strings.Cut(string(text), "\n"); strings.TrimSpace(first) == gowrap.Header || image.Is(string(text)) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// warnBroken names z-files that do not parse and that no family will rewrite: they were hidden from this program, but
// they break the package.
func (j *job) warnBroken(want []file) {
	paths, _ := filepath.Glob(filepath.Join(j.Dir, "z*.go"))
	for _, path := range paths {
		name := filepath.Base(path)
		if slices.ContainsFunc(want, func(f file) bool { return f.name == name }) {
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly); err != nil {
			fmt.Fprintf(j.stderr, "gotile: gen: %s is not Go and belongs to no family; remove or repair it (%v)\n", name, err)
		}
	}
}
