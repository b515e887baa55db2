//go:build !gotilegen

// Command rmsnorm times RMSNorm, forward and backward, beside plain copies of as many tensors.
//
//	go run ./bench/rmsnorm -shapes 32768x4096 -out bench/results
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/device"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	env.Warn(stderr)
	f := flag.NewFlagSet("rmsnorm", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	name := f.String("device", "cuda:0", "device to time on; on sim the times mean nothing")
	shapes := f.String("shapes", "32768x4096", "comma-separated ROWSxN; rows*n is a multiple of 8192")
	out := f.String("out", "", "directory of results; empty: print only")
	commit := f.String("commit", "", "commit that the results are of; empty: asked of git")
	rounds := f.Int("rounds", bench.Default.Rounds, "rounds to take the median of")
	fail := func(err error) int { fmt.Fprintln(stderr, "rmsnorm:", err); return 1 }
	misuse := func(err error) int { fmt.Fprintf(stderr, "rmsnorm: %v; run rmsnorm -h\n", err); return 2 }
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, "usage: rmsnorm [flags]\n\nExample: rmsnorm -shapes 32768x4096,32768x1024 -out bench/results\n\nFlags:\n")
		f.SetOutput(stdout)
		f.PrintDefaults()
		return 0
	} else if err != nil {
		return misuse(err)
	}
	if f.NArg() > 0 {
		return misuse(fmt.Errorf("unexpected argument %q; shapes go with -shapes", f.Arg(0)))
	}
	if *rounds < 1 {
		return misuse(fmt.Errorf("-rounds %d: at least 1", *rounds))
	}
	list, err := parseShapes(*shapes)
	if err != nil {
		return misuse(err)
	}
	d, err := device.Open(*name)
	if err != nil {
		return fail(err)
	}
	defer d.Close()
	info := d.Info()
	r := &bench.Results{Suite: "rmsnorm", Device: info.Name, Driver: info.Driver, NVRTC: info.NVRTC, Commit: *commit,
		Command: command(f), Clocks: map[string]string{}}
	if r.Commit == "" {
		r.Commit = revision()
	}
	plan := bench.Default
	plan.Rounds = *rounds
	for _, s := range list {
		cases, err := s.measure(ctx, d, plan)
		if err != nil {
			return fail(fmt.Errorf("%s: %w", s, err))
		}
		r.Cases = append(r.Cases, cases...)
		for _, c := range cases {
			show(stdout, c)
		}
	}
	r.Clocks = clocks() // after the work, while the card is still warm
	if *out == "" {
		return 0
	}
	path, err := r.Write(*out, info.GPU)
	if err != nil {
		return fail(err)
	}
	fmt.Fprintln(stdout, "wrote", path)
	return 0
}

// command is the command line without the directory that the results go to, which says nothing about them.
func command(f *flag.FlagSet) string {
	line := "rmsnorm"
	f.Visit(func(g *flag.Flag) {
		if g.Name != "out" {
			line += fmt.Sprintf(" -%s %s", g.Name, g.Value)
		}
	})
	return line
}

// revision is the checked-out commit, marked where the tree differs from it.
func revision() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// clocks asks nvidia-smi for clocks, power and the reasons of throttling; nothing where there is none.
func clocks() map[string]string {
	names := []string{"clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "clocks_event_reasons.active"}
	out, err := exec.Command("nvidia-smi", "--format=csv,noheader", "--query-gpu="+strings.Join(names, ",")).Output()
	got := map[string]string{}
	if fields := strings.Split(strings.TrimSpace(string(out)), ", "); err == nil && len(fields) == len(names) {
		for i, n := range names {
			got[n] = fields[i]
		}
	}
	return got
}
