// Package command is the gotile command as a library. The command is not compiled with the kernels it works on: for each
// package it overlays a virtual main inside the package's directory, builds it with the go command and runs it; what
// that program does is package worker. Being inside the directory, it may import internal packages.
package command

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/cmd/gotile/command/worker"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/progress"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // something is wrong with a kernel, or stale
	exitUsage   = 2 // something is wrong with the command line or the packages named

	exitInterrupted = worker.ExitInterrupted
)

// Run executes a command line without the program's name and returns the exit code. Cancelling ctx interrupts the
// programs it runs; the exit code is that of an interrupt then, unless all was done.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	code := execute(ctx, args, stdout, stderr)
	if code != exitOK && ctx.Err() != nil {
		return exitInterrupted
	}
	return code
}

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if len(args) > 1 {
			args = []string{args[1], "-h"}
			break
		}
		usage(stdout)
		return exitOK
	}
	if c := lookupLocal(args[0]); c != nil {
		if !c.warns {
			env.Warn(stderr)
		}
		return c.run(ctx, args[1:], stdout, stderr)
	}
	command, err := worker.Lookup(args[0])
	if err != nil {
		fmt.Fprintf(stderr, "gotile: unknown command %q; have %s, and help\n", args[0], strings.Join(commandNames(), ", "))
		return exitUsage
	}
	env.Warn(stderr)
	inv := invocation{command: command, stdout: stdout, stderr: stderr}
	var text bytes.Buffer
	fs := inv.flagSet(&text)
	if code, done := worker.Parse(fs, &text, args[1:], stdout, stderr); done {
		return code
	}
	if err := flagsFirst(fs.Args()); err != nil {
		return inv.fail(exitUsage, err)
	}
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "tags", "c":
		case "out", "benchfmt", "peers", "lines":
			inv.flags = append(inv.flags, "-"+f.Name+"="+fromHere(f.Value.String(), f.Name == "peers"))
		default:
			inv.flags = append(inv.flags, "-"+f.Name+"="+f.Value.String())
		}
	})
	return inv.run(ctx, fs.Args())
}

// flagsFirst refuses flags among the arguments, which would be taken for a package or a file.
func flagsFirst(args []string) error {
	for i, a := range args {
		if i > 0 && strings.HasPrefix(a, "-") && a != "-" {
			return fmt.Errorf("%s follows %s: flags come first", a, args[i-1])
		}
	}
	return nil
}

// invocation is one command line.
type invocation struct {
	command        *worker.Command
	options        worker.Options
	flags          []string // the same, for the program
	tags, compile  string
	stdout, stderr io.Writer
}

// flagSet is the flags of the program, and those of building it.
func (inv *invocation) flagSet(text io.Writer) *flag.FlagSet {
	fs := inv.command.FlagSet(&inv.options, text)
	fs.StringVar(&inv.tags, "tags", "", "comma-separated build `tags`, as for go build")
	if !inv.command.Stays {
		fs.StringVar(&inv.compile, "c", "", "build the program that does this for one package into `file` instead of running it; it takes the same flags, on a machine without Go")
	}
	return fs
}

func (inv *invocation) run(ctx context.Context, patterns []string) int {
	tmp, err := os.MkdirTemp("", "gotile")
	if err != nil {
		return inv.fail(exitFailure, err)
	}
	defer os.RemoveAll(tmp)
	g := &goCommand{tmp: tmp, tags: inv.tags}
	pkgs, skipped, err := g.list(ctx, patterns, inv.command)
	if err != nil {
		return inv.fail(exitUsage, err)
	}
	if inv.compile != "" {
		return inv.compileFor(ctx, g, pkgs)
	}
	if len(pkgs) > 1 && slices.ContainsFunc(inv.flags, func(f string) bool { return strings.HasPrefix(f, "-benchfmt=") }) {
		return inv.fail(exitUsage, fmt.Errorf("-benchfmt names one file, which each of %d suites would overwrite; name one package", len(pkgs)))
	}
	if err := inv.command.Lacks(&inv.options); err != nil {
		return inv.fail(exitFailure, err)
	}
	code := inv.skip(skipped)
	for i, p := range pkgs {
		if ctx.Err() != nil { // whoever was interrupted has said so
			return exitInterrupted
		}
		if len(pkgs) > 1 {
			fmt.Fprintf(inv.stdout, "# %s\n", p.ImportPath)
		}
		bin := filepath.Join(tmp, fmt.Sprintf("worker%d.exe", i))
		if err := inv.build(ctx, g, p, bin, false); err != nil {
			code = max(code, inv.fail(exitFailure, err))
			continue
		}
		code = max(code, g.exec(ctx, p, bin, inv.flags, inv.stdout, inv.stderr))
	}
	return code
}

// build builds a package's program, which takes a while the first time.
func (inv *invocation) build(ctx context.Context, g *goCommand, p *pkg, out string, travels bool) error {
	task := progress.New(inv.stderr).Start("building "+p.ImportPath, "", 0)
	defer task.End()
	return g.build(ctx, p, inv.command, out, travels)
}

// skip notes the packages that are left out. For a command that vouches for all kernels they are failures.
func (inv *invocation) skip(skipped []error) int {
	for _, why := range skipped {
		fmt.Fprintf(inv.stderr, "gotile: %s: skipped: %v\n", inv.command.Name, why)
	}
	if inv.command.Vouch && len(skipped) > 0 {
		return exitFailure
	}
	return exitOK
}

// compileFor is -c: one package's program for another machine.
func (inv *invocation) compileFor(ctx context.Context, g *goCommand, pkgs []*pkg) int {
	if len(pkgs) != 1 {
		var paths []string
		for _, p := range pkgs {
			paths = append(paths, p.ImportPath)
		}
		return inv.fail(exitUsage, fmt.Errorf("-c builds one program for one package; these are %d: %s", len(pkgs), strings.Join(paths, ", ")))
	}
	file, err := filepath.Abs(inv.compile)
	if err == nil {
		err = inv.build(ctx, g, pkgs[0], file, true)
	}
	if err != nil {
		return inv.fail(exitFailure, err)
	}
	return exitOK
}

func (inv *invocation) fail(code int, err error) int {
	fmt.Fprintf(inv.stderr, "gotile: %s: %v\n", inv.command.Name, err)
	return code
}

func usage(w io.Writer) {
	fmt.Fprint(w, "Gotile works on packages of GPU kernels written in Go.\n\nUsage:\n\n\tgotile command [flags] [packages]\n\nThe commands:\n\n")
	for _, c := range worker.Commands {
		fmt.Fprintf(w, "\t%-8s %s\n", c.Name, c.Short)
	}
	for _, c := range locals {
		fmt.Fprintf(w, "\t%-8s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "\n"+worker.PackagesHelp+" A package of kernels exports\n"+
		"func Kernels() tile.Set, and for sim and verify func Cases() []tiletest.Case; one for bench exports\nfunc Suite() bench.Suite.\ngotile command -h lists a command's flags.\n\nEnvironment:\n\n")
	for _, v := range env.All() {
		fmt.Fprintf(w, "\t%-19s %s\n", v.Name, v.Doc)
	}
}

// commandNames lists all commands, in the order of the help.
func commandNames() []string {
	var out []string
	for _, c := range worker.Commands {
		out = append(out, c.Name)
	}
	for _, c := range locals {
		out = append(out, c.name)
	}
	return out
}
