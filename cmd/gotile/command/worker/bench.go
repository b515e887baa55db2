package worker

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/gotile/gotile/bench"
)

var benchCommand = &Command{
	Name:  "bench",
	Short: "time a suite on the GPU, beside copies and other libraries",
	Long: `
Bench times the suite of each package, which exports func Suite() bench.Suite; the suites of gotile itself go by their
names, such as rmsnorm. Contenders work on the same inputs, each as one CUDA graph, and take turns; the figure is the
median over rounds. With -out the results go to DIR/GPU/SUITE.json, after each benchmark. A run that measures part of a
suite keeps the other cases of that file if they are of the same device, driver, NVRTC, commit and plan, and is refused
otherwise; a run of all that would replace others does so at its end, and is in SUITE.json.partial until then. So Ctrl-C
loses the benchmark under way and nothing else. Results that are wrong end a run with exit code 1 after all is written.
Another library's program runs in the interpreter that -peers names; without it there are no peers.

Examples:

	gotile bench rmsnorm
	gotile bench -peers python3 -shapes 32768x4096 -dtypes bf16 -out bench/results -benchfmt new.txt rmsnorm
	gotile bench -c rmsnorm.bench rmsnorm   # then, on the machine with the GPU: ./rmsnorm.bench -out results`,
	Times: true,
	flags: func(f *flag.FlagSet, o *Options) {
		b := &o.Bench
		f.StringVar(&b.Device, "device", "cuda:0", "`device` to time on; on sim the times mean nothing")
		f.StringVar(&b.Case, "case", "", "run only the benchmarks that match `regexp`")
		f.Var((*words)(&b.Selection.Shapes), "shapes", "comma-separated `shapes` instead of the suite's own, as it writes them")
		f.Var((*words)(&b.Selection.DTypes), "dtypes", "comma-separated `types` instead of the suite's own")
		f.IntVar(&b.Plan.Rounds, "rounds", bench.Default.Rounds, "rounds to take the median of")
		f.IntVar(&b.Plan.Replays, "replays", bench.Default.Replays, "replays in a round")
		f.StringVar(&b.Out, "out", "", "`directory` of results; empty: print only")
		f.StringVar(&b.Benchfmt, "benchfmt", "", "`file` for benchstat, a line a round")
		f.StringVar(&b.Python, "peers", "", "Python `interpreter` that has the other libraries; empty: no peers")
		f.DurationVar(&b.PeerLimit, "peer-timeout", 5*time.Minute, "longest that a peer may prepare for one benchmark")
		f.BoolVar(&b.Replace, "replace", false, "drop the cases of an existing file that cannot be kept beside those of this run")
		f.BoolVar(&b.Shared, "shared", false, "go on while other processes compute on the GPU; the results say so")
	},
	do: func(ctx context.Context, j *job) error {
		if variable := otherTexts(); variable != "" {
			return fmt.Errorf("%s is set, with which other texts than the committed ones are compiled; unset it to time them", variable)
		}
		o := j.Bench
		o.Commit, o.Command = j.Commit, j.benchCommand()
		return bench.Run(ctx, j.Suite(), o, j.stdout)
	},
}

// words is a comma-separated list as a flag.
type words []string

func (w *words) String() string { return strings.Join(*w, ",") }

func (w *words) Set(text string) error {
	*w = nil
	if text != "" {
		*w = strings.Split(text, ",")
	}
	return nil
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%^") == "" && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// benchCommand is the command line as it stands in results, without paths of this machine.
func (j *job) benchCommand() string {
	s := j.tagged("gotile bench")
	add := func(flag, value, usual string) {
		if value != usual {
			s += " -" + flag + " " + quoted(value)
		}
	}
	b := j.Bench
	add("device", b.Device, "cuda:0")
	add("case", b.Case, "")
	add("shapes", strings.Join(b.Selection.Shapes, ","), "")
	add("dtypes", strings.Join(b.Selection.DTypes, ","), "")
	add("rounds", fmt.Sprint(b.Plan.Rounds), fmt.Sprint(bench.Default.Rounds))
	add("replays", fmt.Sprint(b.Plan.Replays), fmt.Sprint(bench.Default.Replays))
	if b.Python != "" {
		add("peers", filepath.Base(b.Python), "")
	}
	return s + " " + j.Path
}
