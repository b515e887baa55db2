package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/image"
	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/internal/target"
)

// compiled is a file of compiled code, to be embedded.
type compiled struct {
	name   string // from the package's directory
	source *source
	target *target.Target
	why    string // it must be made: missing, or what is wrong with it; empty: it is fresh
	data   []byte // of one that was made
}

func (c *compiled) origin() image.Origin {
	return image.Origin{Source: c.source.text, Options: nvrtc.Options{}.Text(), Arch: c.target.Arch}
}

// embedTargets reads -cubin: the targets whose code is embedded, in the order of the table. Without the flag they are
// those that the package has files for.
func (j *job) embedTargets() ([]string, error) {
	switch j.Cubin {
	case "none":
		return nil, nil
	case "":
		return embeddedTargets(j.Dir)
	}
	names, err := parseTargets(j.Cubin)
	if err != nil {
		return nil, err
	}
	if names == nil { // all
		return target.Select(func(*target.Target) bool { return true }), nil
	}
	for _, n := range names {
		t, err := target.Lookup(n)
		if err != nil {
			return nil, err
		}
		if t.Proxy != "" {
			return nil, fmt.Errorf("-cubin %s: that target is for tests on another chip; name %s", n, t.Proxy)
		}
	}
	return inOrder(names), nil
}

// embeddedTargets are the targets of the files of compiled code in a directory.
func embeddedTargets(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, gowrap.Folder, "*"+image.Suffix))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range paths {
		file, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		stem := strings.TrimSuffix(filepath.Base(path), image.Suffix)
		name := stem[strings.LastIndexByte(stem, '.')+1:] // also of a damaged file
		if t, err := target.Lookup(name); err == nil && t.Proxy == "" && image.Is(string(file)) {
			names = append(names, name)
		}
	}
	return inOrder(names), nil
}

// inOrder are names in the table's order, each once.
func inOrder(names []string) []string {
	return target.Select(func(t *target.Target) bool { return slices.Contains(names, t.Name) })
}

// embeds pairs the sources with the targets whose code is to be embedded, and gives each source the files' names.
func (j *job) embeds(sources []*source, targets []string) ([]*compiled, error) {
	var out []*compiled
	for _, s := range sources {
		for _, name := range targets {
			if !slices.Contains(s.Targets, name) {
				continue
			}
			t, err := target.Lookup(name)
			if err != nil {
				return nil, err
			}
			file := strings.TrimSuffix(s.File, ".cu") + "." + name + image.Suffix
			c := &compiled{name: filepath.Join(gowrap.Folder, file), source: s, target: t}
			if c.why, err = c.stale(j.Dir); err != nil {
				return nil, err
			}
			s.Images = append(s.Images, file)
			out = append(out, c)
		}
	}
	for _, name := range targets {
		if !slices.ContainsFunc(out, func(c *compiled) bool { return c.target.Name == name }) && j.Cubin != "" && j.Cubin != "all" {
			return nil, fmt.Errorf("-cubin %s: no kernel claims that target", name)
		}
	}
	return out, nil
}

// stale says why the file that there is will not do; empty: it does.
func (c *compiled) stale(dir string) (why string, err error) {
	file, err := os.ReadFile(filepath.Join(dir, c.name))
	if errors.Is(err, fs.ErrNotExist) {
		return "it is missing", nil
	}
	if err != nil {
		return "", err
	}
	i, err := image.Parse(string(file))
	if err == nil {
		err = i.Fresh(c.origin())
	}
	if err != nil {
		return err.Error(), nil
	}
	return "", nil
}

// compileEmbeds compiles those that are not fresh, on all cores. All failures are reported.
func (j *job) compileEmbeds(ctx context.Context, all []*compiled) error {
	var todo []*compiled
	for _, c := range all {
		if c.why != "" {
			todo = append(todo, c)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	lib, err := nvrtc.Open("")
	if err != nil {
		return fmt.Errorf("%s: %s; compiling it needs NVRTC (gotile gen -cubin none does without embedded code): %w", todo[0].name, todo[0].why, err)
	}
	major, minor := lib.Version()
	rows := make([]*compilation, len(todo))
	j.parallel(ctx, "compiling", "kernels", len(todo), cores(), func(i int) string { return todo[i].name }, func(i int) {
		c := todo[i]
		rows[i] = &compilation{source: c.source, target: c.target, text: c.source.text}
		rows[i].compile(lib, j.place)
		if rows[i].err == nil {
			c.data = image.Seal(c.origin(), fmt.Sprintf("%d.%d", major, minor), rows[i].result.CUBIN)
		}
	})
	if ctx.Err() != nil {
		return progress.ErrInterrupted
	}
	var errs []error
	for i, row := range rows {
		if row != nil && row.err != nil {
			errs = append(errs, fmt.Errorf("%s: %+v", todo[i].name, row.err))
		}
	}
	return errors.Join(errs...)
}
