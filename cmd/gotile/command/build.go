package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/gotile/gotile/cmd/gotile/command/worker"
	"github.com/gotile/gotile/internal/progress"
)

// mainDir is the directory, existing only in the overlay, of the virtual main.
const mainDir = "zgotilemain"

var mainText = template.Must(template.New("main").Parse(`// Package main runs gotile {{.Command.Name}} on one package.
package main

import (
	"os"

	"github.com/gotile/gotile/cmd/gotile/command/worker"

	kernels {{printf "%q" .Pkg.ImportPath}}
)

func main() {
	os.Exit(worker.Main(worker.Package{
		Command: {{printf "%q" .Command.Name}},
		Path:    {{printf "%q" .Pkg.ImportPath}},
		Name:    {{printf "%q" .Pkg.Name}},
		Dir:     {{printf "%q" .Pkg.Dir}},
		From:    {{printf "%q" .From}},
		Commit:  {{printf "%q" .Commit}},
		Travels: {{.Travels}},
{{- if .Tags}}
		Tags:    {{printf "%q" .Tags}},
{{- end}}
{{- if .Command.Times}}
		Suite:   kernels.Suite,
{{- else}}
		Kernels: kernels.Kernels,
{{- end}}
{{- if .Command.Runs}}
		Cases:   kernels.Cases,
{{- end}}
		Sources: map[string]string{
{{- range $name, $sum := .Sources}}
			{{printf "%q" $name}}: {{printf "%q" $sum}},
{{- end}}
		},
	}))
}
`))

// build compiles the virtual main of a package. Commands that run kernels need the generated Go; the others are built
// without it, and without all that uses it. A program that is to travel is static and follows GOOS and GOARCH; with the
// tag gorgonia it needs the C library, and libcuda, where it runs.
func (g *goCommand) build(ctx context.Context, p *pkg, c *worker.Command, out string, travels bool) error {
	dir := filepath.Join(p.Dir, mainDir)
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("%s exists; gotile needs that name for a package in the overlay: rename it", dir)
	}
	sources, err := worker.HashSources(p.Dir)
	if err != nil {
		return err
	}
	from := "" // the user's directory means nothing where the program travels to
	if !travels {
		if from, err = os.Getwd(); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	if err := mainText.Execute(&text, map[string]any{"Command": c, "Pkg": p, "From": from, "Commit": g.commit(ctx, p.Dir), "Sources": sources, "Travels": travels, "Tags": g.allTags(ctx, "")}); err != nil {
		return err
	}
	file := filepath.Join(g.tmp, "main.go")
	if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
		return err
	}
	replace, own := map[string]string{filepath.Join(dir, "main.go"): file}, ""
	if !c.Runs && !c.Times {
		own = bootTag
		for _, f := range p.hidden {
			replace[f] = ""
		}
	}
	overlay, err := g.overlay("build.json", replace)
	if err != nil {
		return err
	}
	tags := g.allTags(ctx, own)
	args := []string{"build", "-tags=" + tags, "-overlay=" + overlay, "-ldflags=-s -w", "-o", out}
	environ := append(os.Environ(), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if travels {
		args = append(args, "-trimpath")
		environ = append(os.Environ(), "CGO_ENABLED=0")
		if hasTag(tags, cgoTag) {
			environ = append(os.Environ(), "CGO_ENABLED=1")
		}
	}
	var stderr bytes.Buffer
	cmd := interruptible(exec.CommandContext(ctx, "go", append(args, p.ImportPath+"/"+mainDir)...))
	cmd.Env, cmd.Stderr = environ, &stderr // in the user's directory: the compiler's positions are relative to it
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return progress.ErrInterrupted
		}
		return fmt.Errorf("package %s does not build:\n%s%s", p.ImportPath, stderr.String(), buildHint(stderr.String(), p, c))
	}
	return nil
}

// cgoTag is the tag of the driver on gorgonia.org/cu, which needs cgo.
const cgoTag = "gorgonia"

// hasTag reports whether a list of tags has one.
func hasTag(tags, tag string) bool { return slices.Contains(strings.Split(tags, ","), tag) }

// buildHint adds the way out to the go command's message.
func buildHint(text string, p *pkg, c *worker.Command) string {
	kernels := strings.Contains(text, "# "+p.ImportPath+"\n") || strings.Contains(text, "no matching files found") // not another package's mistake
	switch {
	case strings.Contains(text, "cuda.h: No such file") || strings.Contains(text, "-lcuda"):
		return "-tags gorgonia needs cuda.h, a shim and something to link libcuda with; runtime/driver/gorgonia/prepare.sh of gotile's module brings them:\n" +
			"\teval \"$(bash \"$(go list -m -f '{{.Dir}}' github.com/gotile/gotile)\"/runtime/driver/gorgonia/prepare.sh DIR)\""
	case strings.Contains(text, "missing go.sum entry") || strings.Contains(text, "no required module provides package github.com/gotile") ||
		strings.Contains(text, "cannot find module providing package github.com/gotile"):
		return "gotile's own dependencies are missing from go.mod; run: go get -tool github.com/gotile/gotile/cmd/gotile,\nor go mod tidy where go.mod replaces gotile by a clone (and go mod vendor where you vendor)"
	case (c.Runs || c.Times) && kernels && (strings.Contains(text, "undefined:") || strings.Contains(text, "no matching files found")):
		return "generated files may be missing or stale; run: gotile gen"
	case !c.Runs && !c.Times && kernels && strings.Contains(text, "undefined:"):
		return "a file that uses generated names must carry //go:build !gotilegen"
	}
	return ""
}

// interruptible has a command end as at Ctrl-C when its context is done, so that it cleans up. What has not ended ten
// seconds later is killed.
func interruptible(cmd *exec.Cmd) *exec.Cmd {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// exec runs a program in the package's directory, and interrupts it when ctx is done.
func (g *goCommand) exec(ctx context.Context, p *pkg, bin string, flags []string, stdout, stderr io.Writer) int {
	cmd := interruptible(exec.CommandContext(ctx, bin, flags...))
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, append(os.Environ(), absolute()...), stdout, stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	fmt.Fprintf(stderr, "gotile: %s: %v\n", p.ImportPath, err)
	return exitFailure
}

// commit is the revision of the work tree that holds dir, with -dirty where files differ from it; empty where git or
// a repository is missing. What the commands write themselves, results and receipts, is no part of a program: it does
// not make the next command's dirty.
func (g *goCommand) commit(ctx context.Context, dir string) string {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	rev, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return ""
	}
	if changed, err := git("status", "--porcelain", "--untracked-files=no", "--",
		":(top,exclude,glob)**/results/*/*.json", ":(top,exclude,glob)**/receipts/*.json"); err == nil && changed != "" {
		rev += "-dirty"
	}
	return rev
}
