package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/cmd/gotile/command/worker"
	"github.com/gotile/gotile/codegen/gowrap"
	"github.com/gotile/gotile/internal/progress"
)

// pkg is a package of kernels, as go list describes it.
type pkg struct {
	Dir, ImportPath, Name   string
	GoFiles, IgnoredGoFiles []string
	Match                   []string // the patterns that named it
	Module                  *struct {
		Path string
		Main bool
	}
	Error *struct{ Err string }

	hidden []string // absolute paths of generated Go files
}

// goCommand runs the go command with this process's environment.
type goCommand struct {
	tmp   string  // for overlays and programs
	tags  string  // from the command line
	flags *string // GOFLAGS, once read
}

// bootTag is set where generated names must not be needed.
const bootTag = "gotilegen"

// defaultPatterns is the package of the current directory, or everything below where it has none.
func defaultPatterns() []string {
	if files, err := filepath.Glob("*.go"); err == nil && len(files) == 0 {
		return []string{"./..."}
	}
	return []string{"."}
}

// list finds the packages, with generated Go hidden, so that a broken z-file is no obstacle. Packages of kernels that
// only a pattern names and that lack the cases which the command runs are left out; skipped says so of each.
func (g *goCommand) list(ctx context.Context, patterns []string, c *worker.Command) (out []*pkg, skipped []error, err error) {
	if len(patterns) == 0 {
		patterns = defaultPatterns()
	}
	if c.Times {
		patterns = suites(patterns)
	}
	tag := bootTag
	if c.Times {
		tag = "" // a suite launches: it needs generated names
	}
	all, err := g.goList(ctx, "", tag, patterns)
	if err != nil {
		return nil, nil, err
	}
	hide := map[string]string{}
	for _, p := range all {
		for _, f := range generatedGo(p.Dir) {
			hide[f] = ""
		}
	}
	overlay, err := g.overlay("list.json", hide)
	if err != nil {
		return nil, nil, err
	}
	if all, err = g.goList(ctx, overlay, tag, patterns); err != nil {
		return nil, nil, err
	}
	for _, p := range all {
		p.hidden = generatedGo(p.Dir)
		switch err := p.usable(c); {
		case err == nil:
			out = append(out, p)
		case p.wild() && errors.Is(err, errNoCases):
			skipped = append(skipped, err)
		case !p.wild() || !errors.Is(err, errNoKernels) && !errors.Is(err, errNoSuite):
			return nil, nil, err
		}
	}
	switch {
	case len(out) > 0:
	case len(skipped) > 0:
		return nil, nil, errors.Join(skipped...)
	default:
		return nil, nil, fmt.Errorf("no package of %s exports func %s", strings.Join(patterns, " "), c.Exports())
	}
	return out, skipped, nil
}

// suites are patterns in which gotile's own suites go by their names.
func suites(patterns []string) []string {
	out := slices.Clone(patterns)
	for i, p := range out {
		if token.IsIdentifier(p) {
			out[i] = ownSuites + p
		}
	}
	return out
}

// ownSuites is where they are.
const ownSuites = "github.com/gotile/gotile/bench/"

// suiteOf is the name that suites turns into an import path, if it is one of those.
func suiteOf(path string) string {
	name, ok := strings.CutPrefix(path, ownSuites)
	if !ok || !token.IsIdentifier(name) {
		return ""
	}
	return name
}

func (g *goCommand) goList(ctx context.Context, overlay, tag string, patterns []string) ([]*pkg, error) {
	args := []string{"list", "-e", "-find", "-json=Dir,ImportPath,Name,GoFiles,IgnoredGoFiles,Match,Module,Error", "-tags=" + g.allTags(ctx, tag)}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	out, err := g.output(ctx, "", append(append(args, "--"), patterns...)...)
	if err != nil {
		return nil, err
	}
	var pkgs []*pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{}
		if err := dec.Decode(p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	return pkgs, nil
}

// The reasons for which a package that only a pattern names is no mistake.
var (
	errNoKernels = errors.New("no kernels")
	errNoCases   = errors.New("no cases")
	errNoSuite   = errors.New("no suite")
)

// usable says why the command cannot work on a package.
func (p *pkg) usable(c *worker.Command) error {
	name := p.ImportPath
	export, _, _ := strings.Cut(c.Exports(), "(")
	none := errNoKernels
	if c.Times {
		none = errNoSuite
	}
	switch {
	case p.Dir == "" && c.Times && suiteOf(name) != "":
		return fmt.Errorf("gotile has no suite of its own called %s; another package is named by its path, such as ./%[1]s", suiteOf(name))
	case p.Dir == "" || len(p.GoFiles) == 0 && p.Error != nil:
		if p.Error != nil {
			return fmt.Errorf("%s: %s", name, strings.TrimSpace(p.Error.Err))
		}
		return fmt.Errorf("%s: no such package", name)
	case p.Name == "main" && p.declares(export):
		return fmt.Errorf("%s is package main, which cannot be imported: move func %s into another package", name, c.Exports())
	case p.Name == "main":
		return fmt.Errorf("%w: %s is package main, which cannot be imported: func %s lives in a package of its own", none, name, c.Exports())
	case c.Times && !p.declares(export):
		return fmt.Errorf("%w: package %s has no func %s, which says what to time; add one in a file tagged //go:build !gotilegen", none, name, c.Exports())
	case !p.declares(export):
		return fmt.Errorf("%w: package %s has no func Kernels() tile.Set, which names the kernels to work on; add one in a file without the !gotilegen tag:\n\tfunc Kernels() tile.Set { return tile.Configs(build, configs...) }", errNoKernels, name)
	case p.Module == nil || !p.Module.Main:
		return fmt.Errorf("package %s is not in the module you are in; run gotile inside that module", name)
	case c.Runs && !p.declares("Cases"):
		return fmt.Errorf("%w: package %s has no func Cases() []tiletest.Case, the test table that gotile %s runs; add one in a file tagged //go:build !gotilegen", errNoCases, name, c.Name)
	}
	return nil
}

// wild reports whether the package was only met through a pattern with dots.
func (p *pkg) wild() bool {
	return !slices.ContainsFunc(p.Match, func(m string) bool { return !strings.Contains(m, "...") })
}

// declares reports whether one of the package's own Go files, whatever its build tags, has a function of that name. A
// file that does not parse is left to the compiler to complain about.
func (p *pkg) declares(name string) bool {
	for _, f := range append(slices.Clone(p.GoFiles), p.IgnoredGoFiles...) {
		path := filepath.Join(p.Dir, f)
		if strings.HasSuffix(f, "_test.go") || slices.Contains(p.hidden, path) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
				return true
			}
		}
	}
	return false
}

// generatedGo lists the z*.go files that gotile wrote. One that does not parse counts too: that is what a merge
// conflict or a half-written file looks like, and it must not keep gotile gen from repairing it.
func generatedGo(dir string) []string {
	var out []string
	paths, _ := filepath.Glob(filepath.Join(dir, "z*.go"))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, err = parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly)
		if err != nil || bytes.Contains(text, []byte(gowrap.Header)) {
			out = append(out, path)
		}
	}
	return out
}

// allTags joins the tags of the command line, those of GOFLAGS (which a -tags flag would replace) and one of ours.
func (g *goCommand) allTags(ctx context.Context, own string) string {
	tags := strings.FieldsFunc(g.tags, func(r rune) bool { return r == ',' || r == ' ' })
	if g.flags == nil {
		out, _ := g.output(ctx, "", "env", "GOFLAGS") // go list will say what is wrong
		text := string(out)
		g.flags = &text
	}
	for _, f := range strings.Fields(*g.flags) {
		if v, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), "tags="); ok {
			tags = append(tags, strings.Split(v, ",")...)
		}
	}
	if own != "" {
		tags = append(tags, own)
	}
	return strings.Join(tags, ",")
}

// output runs the go command in a directory and gives its standard output; its error shows what it printed.
func (g *goCommand) output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := interruptible(exec.CommandContext(ctx, "go", args...))
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, progress.ErrInterrupted
		}
		if text := strings.TrimSpace(stderr.String()); text != "" {
			return nil, fmt.Errorf("go %s: %s", args[0], text)
		}
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return stdout.Bytes(), nil
}

// overlay writes an overlay file: each key is replaced by its value, or hidden where that is empty.
func (g *goCommand) overlay(name string, replace map[string]string) (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(g.tmp, name)
	return path, os.WriteFile(path, text, 0o666)
}
