package tool

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/gotile/gotile/codegen/tool/worker"
	"github.com/gotile/gotile/internal/env"
)

// local is a command that this program does itself: it needs no program of a package.
type local struct {
	name  string
	args  string // what follows the flags, as in "DIR"; empty: nothing does
	short string // one line
	long  string // the text of -h, with an example
	// warns says that the command itself reports the environment variables that gotile does not have.
	warns bool
	// setup registers the flags and returns what runs after they are parsed; it gives the exit code.
	setup func(*flag.FlagSet) func(context.Context, *call) int
}

// call is one execution of a local command.
type call struct {
	name           string
	args           []string // after the flags
	stdout, stderr io.Writer
}

// locals is the table of local commands, in the order of help.
var locals = []*local{
	capsCommand,
}

// findLocal is the local command of that name, or nil.
func findLocal(name string) *local {
	for _, c := range locals {
		if c.name == name {
			return c
		}
	}
	return nil
}

// run executes the command and returns its exit code.
func (l *local) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if !l.warns {
		env.Warn(stderr)
	}
	var text bytes.Buffer
	fs := flag.NewFlagSet("gotile "+l.name, flag.ContinueOnError)
	fs.SetOutput(&text)
	do := l.setup(fs)
	fs.Usage = func() {
		fmt.Fprintf(&text, "usage: %s\n\n%s\n", strings.TrimSpace("gotile "+l.name+" [flags] "+l.args), strings.TrimSpace(l.long))
		if hasFlags(fs) {
			fmt.Fprint(&text, "\nFlags:\n")
			fs.PrintDefaults()
		}
	}
	if code, done := worker.Parse(fs, &text, args, stdout, stderr); done {
		return code
	}
	c := &call{name: l.name, args: fs.Args(), stdout: stdout, stderr: stderr}
	if l.args == "" && len(c.args) > 0 {
		return c.fail(exitUsage, fmt.Errorf("unexpected argument %q; run gotile %s -h", c.args[0], l.name))
	}
	return do(ctx, c)
}

func hasFlags(fs *flag.FlagSet) bool {
	n := 0
	fs.VisitAll(func(*flag.Flag) { n++ })
	return n > 0
}

func (c *call) fail(code int, err error) int {
	fmt.Fprintf(c.stderr, "gotile: %s: %v\n", c.name, err)
	return code
}

// commandNames lists all commands, in the order of help.
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
