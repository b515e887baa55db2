// Package worker is what the gotile command does inside the program that it builds for a package of kernels: print
// generated files, compile them, run the test cases on the simulator and on a GPU, keep the receipts, and time suites.
package worker

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/tile"
	"github.com/gotile/gotile/tile/tiletest"
)

// Package is a package of kernels and what the command that built the program knows about it.
type Package struct {
	Command string // the default command
	Path    string // import path
	Name    string // Go name
	Dir     string // where it was built from; on another machine it may not exist
	From    string // where the user called gotile: positions in errors are relative to it; empty: base names
	Commit  string // of the work tree; empty: unknown
	Travels bool   // built with -c, to run without the gotile command
	Tags    string // build tags that it was built with, separated by commas

	Kernels func() tile.Set
	Cases   func() []tiletest.Case // nil for commands that run none
	Sources map[string]string      // SHA-256 of the .cu files when the program was built
	Suite   func() bench.Suite     // of commands that time one; they have neither kernels nor cases
}

// Options are the flags of all commands; each registers its own.
type Options struct {
	Check    bool
	Force    bool
	Verbose  bool
	Target   string
	Cubin    string
	Compile  string
	Run      string
	Out      string
	Lines    string // a directory
	Seed     uint64
	Bench    bench.Options
	Parallel int
	Columns  int
}

// Command is one row of the command table.
type Command struct {
	Name  string
	Short string // one line
	Long  string // the text of -h, with an example
	Runs  bool   // runs the package's cases: needs the generated Go
	Times bool   // times the package's suite: needs no Kernels
	Vouch bool   // vouches for every kernel: a package without cases is a failure, not one to skip
	Stays bool   // writes into the package: -c cannot build it for another machine
	flags func(*flag.FlagSet, *Options)
	needs func(*Options) error // what the machine lacks, the same for all packages; nil: Go will do
	do    func(context.Context, *job) error
}

// Lacks says what the command needs and this machine has not got, whatever the packages, before anything is built.
func (c *Command) Lacks(o *Options) error {
	if c.needs == nil {
		return nil
	}
	return c.needs(o)
}

// Commands is the command table, in the order of the work.
var Commands []*Command

func init() { // the functions refer to the table
	Commands = []*Command{genCommand, checkCommand, simCommand, verifyCommand, benchCommand}
}

// Exports is the function that a package must export for the command.
func (c *Command) Exports() string {
	if c.Times {
		return "Suite() bench.Suite"
	}
	return "Kernels() tile.Set"
}

// PackagesHelp says in every help what the packages of a command line are.
const PackagesHelp = "Packages are named as for go build. With none named it is the one in the current directory, or ./... where that has\nno Go files."

// Lookup finds a command by name.
func Lookup(name string) (*Command, error) {
	var names []string
	for _, c := range Commands {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	if name == VizKernel.Name {
		return VizKernel, nil
	}
	return nil, fmt.Errorf("unknown command %q; have %s, and help", name, strings.Join(names, ", "))
}

// FlagSet is the command's flags, stored in o. Mistakes and -h print to w.
func (c *Command) FlagSet(o *Options, w io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet("gotile "+c.Name, flag.ContinueOnError)
	fs.SetOutput(w)
	c.flags(fs, o)
	fs.Usage = func() {
		fmt.Fprintf(w, "usage: gotile %s [flags] [packages]\n\n%s\n\n%s\n\nFlags:\n", c.Name, strings.TrimSpace(c.Long), PackagesHelp)
		fs.PrintDefaults()
	}
	return fs
}

// usageAlone is the help of a program that -c has built: it takes no packages, and the examples are not of it.
func (c *Command) usageAlone(path string, fs *flag.FlagSet, w io.Writer) {
	about, _, _ := strings.Cut(strings.TrimSpace(c.Long), "\n\nExample")
	fmt.Fprintf(w, "usage: %s [flags]\n\nThis program is gotile %s for %s alone.\n\n%s\n\nFlags:\n", fs.Name(), c.Name, path, about)
	fs.PrintDefaults()
}

// job is one execution of a command on a package.
type job struct {
	Package
	Options
	stdout, stderr io.Writer
	display        *progress.Display
}

// tagged adds the build tags to a command line.
func (p Package) tagged(command string) string {
	if p.Tags == "" {
		return command
	}
	return command + " -tags " + p.Tags
}

func (j *job) printf(format string, args ...any) { fmt.Fprintf(j.stdout, format, args...) }

// errFailed ends a command whose output has already said what is wrong.
var errFailed = errors.New("failed")

// ExitInterrupted is the exit code after an interrupt, as a shell gives it.
const ExitInterrupted = 130

// Main is the body of a virtual main: it runs the package's command with the program's flags, until an interrupt.
func Main(p Package) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if p.Travels {
		env.Warn(os.Stderr)
	} else { // the command, which does not know the package's ops, has done the rest
		env.WarnOps(os.Stderr)
	}
	return Run(ctx, p, os.Args[1:], os.Stdout, os.Stderr)
}

// Parse reads a command line with fs, whose output is text; on -h that goes to stdout. A mistake is one line on stderr:
// the whole help would bury it. The code is the exit code where done.
func Parse(fs *flag.FlagSet, text *bytes.Buffer, args []string, stdout, stderr io.Writer) (code int, done bool) {
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		text.WriteTo(stdout)
		return 0, true
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v; run %s -h\n", fs.Name(), err, fs.Name())
		return 2, true
	}
	return 0, false
}

// Run executes the package's command and returns the exit code: 0, 1 for a failure, 2 for wrong flags, ExitInterrupted
// where ctx ended it.
func Run(ctx context.Context, p Package, args []string, stdout, stderr io.Writer) int {
	c, err := Lookup(p.Command)
	if err != nil {
		fmt.Fprintf(stderr, "gotile: %v\n", err)
		return 2
	}
	d := progress.New(stderr)
	j := &job{Package: p, stdout: d.Writer(stdout), stderr: d.Writer(stderr), display: d}
	j.Bench.Progress = stderr
	var text bytes.Buffer
	fs := c.FlagSet(&j.Options, &text)
	if p.Travels {
		fs.Init(filepath.Base(os.Args[0]), flag.ContinueOnError)
		fs.Usage = func() { c.usageAlone(p.Path, fs, &text) }
	}
	if code, done := Parse(fs, &text, args, stdout, stderr); done {
		return code
	}
	if fs.NArg() > 0 {
		fmt.Fprintf(stderr, "gotile: %s: this program works on %s alone; unexpected argument %q\n", c.Name, p.Path, fs.Arg(0))
		return 2
	}
	switch err := c.do(ctx, j); {
	case err == nil:
		return 0
	case errors.Is(err, errFailed):
	default:
		fmt.Fprintf(stderr, "gotile: %s: %s: %s\n", c.Name, p.Path, p.detail(err))
	}
	if ctx.Err() != nil {
		return ExitInterrupted
	}
	return 1
}
