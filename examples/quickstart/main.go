//go:build !gotilegen

// Command quickstart runs RMSNorm, a kernel written in Go, forward and backward: on the GPU if there is one, on the
// simulator otherwise. It shows the CUDA that the kernel becomes and compares every result with float64.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/device"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	env.Warn(os.Stderr)
	err := run(ctx, os.Stdout, os.Args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "quickstart:", err)
	if errors.Is(err, errUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}

// errUsage is the command line's fault.
var errUsage = errors.New("quickstart -h lists the flags")

// maxN keeps to rows that one block holds, which is where the arithmetic reads best, and maxElems keeps the float64 reference within a few GB.
const (
	maxN     = 16384
	maxElems = 1 << 26
)

// run is the program: it prints to stdout; -h is flag.ErrHelp.
func run(ctx context.Context, stdout io.Writer, args []string) error {
	fs := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	name := fs.String("device", "", "`device`: sim, cuda:0, cuda:1, ... (default: what GOTILE_DEVICE says, else cuda:0 if there is one, else sim)")
	rows := fs.Int("rows", 64, "`rows` of x, at least 1")
	n := fs.Int("n", 2048, "`elements` of a row, from 1 to 16384")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(stdout, "usage: quickstart [flags]\n\nRuns RMSNorm forward and backward and checks it against float64.\n\nFlags:")
		fs.SetOutput(stdout)
		fs.PrintDefaults()
		return err
	} else if err != nil {
		return fmt.Errorf("%w; %w", err, errUsage)
	}
	switch {
	case fs.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; %w", fs.Arg(0), errUsage)
	case *rows < 1:
		return fmt.Errorf("-rows %d: give at least 1; %w", *rows, errUsage)
	case *n < 1 || *n > maxN:
		return fmt.Errorf("-n %d: a row has 1 to %d elements; %w", *n, maxN, errUsage)
	case *rows > maxElems / *n:
		return fmt.Errorf("-rows %d -n %d: more than %d elements, too many for the float64 check; %w", *rows, *n, maxElems, errUsage)
	}
	d, err := open(ctx, *name)
	if err != nil {
		return err
	}
	defer d.Close()

	p := newProblem(*rows, *n)
	results, err := p.solve(ctx, d)
	if err != nil {
		return err
	}
	if err := showCUDA(stdout, d, results); err != nil {
		return err
	}
	return report(stdout, d, p, results)
}

// open opens the device that was named, or the default one.
func open(ctx context.Context, name string) (*device.Device, error) {
	if name == "" {
		return device.Default(device.WithContext(ctx))
	}
	d, err := device.Open(name, device.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("%w; this machine has %s", err, strings.Join(device.List(), ", "))
	}
	return d, nil
}
