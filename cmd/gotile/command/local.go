package command

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/gotile/gotile/cmd/gotile/command/worker"
)

// local is a command that runs here: it works on no package of kernels, so no program is built for it.
type local struct {
	name  string
	short string // one line
	args  string // what follows the flags in the usage line; empty: nothing may
	long  string // the text of -h, with an example
	mixes bool   // takes flags after arguments, too
	warns bool   // itself reports the environment variables that gotile does not have
	// setup registers the flags and gives what runs with them. Its error is a failure; one of usageError, a mistake in
	// the command line; errSaid, one that the output shows.
	setup func(*flag.FlagSet) func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

// locals are the commands of that kind, in the order of the help.
var locals = []*local{
	reportCommand,
	initCommand,
	capsCommand,
	vizCommand,
	doctorCommand,
}

// usageError marks a mistake in the command line.
type usageError struct{ error }

// errSaid ends a command whose output has already said what is wrong.
var errSaid = errors.New("said")

func lookupLocal(name string) *local {
	for _, c := range locals {
		if c.name == name {
			return c
		}
	}
	return nil
}

// run executes the command and returns the exit code.
func (c *local) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var text bytes.Buffer
	fs := flag.NewFlagSet("gotile "+c.name, flag.ContinueOnError)
	fs.SetOutput(&text)
	do := c.setup(fs)
	fs.Usage = func() {
		fmt.Fprintf(&text, "usage: %s\n\n%s\n\nFlags:\n", strings.TrimSpace("gotile "+c.name+" [flags] "+c.args), strings.TrimSpace(c.long))
		fs.PrintDefaults()
	}
	if code, done := worker.Parse(fs, &text, args, stdout, stderr); done {
		return code
	}
	var err error
	if early := flagsFirst(fs.Args()); early != nil && !c.mixes {
		err = usageError{early}
	} else if c.args == "" && fs.NArg() > 0 {
		err = usageError{fmt.Errorf("unexpected argument %q; run gotile %s -h", fs.Arg(0), c.name)}
	} else {
		err = do(ctx, fs.Args(), stdout, stderr)
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errSaid):
		return exitFailure
	case errors.Is(err, flag.ErrHelp): // after an argument
		text.WriteTo(stdout)
		return exitOK
	}
	fmt.Fprintf(stderr, "gotile: %s: %v\n", c.name, err)
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailure
}
