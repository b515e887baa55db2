package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/internal/wholefile"
	"github.com/gotile/gotile/runtime/device"
)

// Options are what gotile bench is told.
type Options struct {
	Device    string
	Case      string // regexp
	Selection Selection
	Plan      Plan
	Out       string        // directory of results; empty: none
	Benchfmt  string        // file; empty: none
	Python    string        // interpreter of the peers; empty: no peers
	PeerLimit time.Duration // for preparing one benchmark
	Replace   bool          // drop cases of an existing file that cannot be kept
	Shared    bool          // go on while others compute on the card
	Commit    string        // with -dirty where the work tree differs from it
	Command   string        // without paths of this machine
	Progress  io.Writer     // standard error, for how far the run is; nil: nowhere
}

// runner is one execution of a suite.
type runner struct {
	Options
	suite    Suite
	d        *device.Device
	card     card
	families []*family
	wrong    []string // contenders of ours that are
	results  *Results
	old      *Results
	order    []string // names of all benchmarks of the suite
	path     string   // of the results file; empty: none
	partial  bool     // the file there is kept until all is measured
	task     *progress.Task
	stdout   io.Writer
}

// Run measures a suite, printing as it goes. After each benchmark the files are whole: what ends a run loses no more
// than the benchmark under way. Where the results file has cases that cannot stand beside this run's, it is replaced at
// the end only; until then the run's cases are in a file beside it, with .partial at its end. A first contender whose
// outputs are wrong, and another of ours whose own figures are, makes the error ErrWrong, at the end.
func Run(ctx context.Context, s Suite, o Options, stdout io.Writer) error {
	var display *progress.Display
	if o.Progress != nil {
		display = progress.New(o.Progress)
		stdout = display.Writer(stdout)
	}
	r := &runner{Options: o, suite: s, card: cardOf(o.Device), stdout: stdout}
	todo, err := r.select_()
	if err != nil {
		return err
	}
	if err := r.checkPeers(); err != nil {
		return err
	}
	if r.card != "" {
		unlock, err := lock(r.card.lockPath(ctx), "measures on this device")
		if err != nil {
			return err
		}
		defer unlock()
	}
	strangers := r.card.strangers(ctx)
	if len(strangers) > 0 && !o.Shared {
		return fmt.Errorf("others compute on %s: %s; wait until they are done, or set -shared, which is noted in the results", o.Device, strings.Join(strangers, ", "))
	}
	if r.d, err = device.Open(o.Device, device.WithContext(ctx), device.WithoutEmbedded()); errors.Is(err, device.ErrNoDevice) {
		return fmt.Errorf("%w; -device sim runs a suite without a GPU, and gotile bench -c builds a program for a machine with one", err)
	} else if err != nil {
		return err
	}
	defer r.d.Close()
	r.describe(strangers)
	if doubt := r.card.doubt(ctx, r.d.Info().Name); doubt != "" {
		r.results.Notes = append(r.results.Notes, doubt)
	}
	if o.Out != "" {
		unlock, err := r.openResults(todo)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if o.Benchfmt != "" {
		if err := replaceable(o.Benchfmt); err != nil {
			return fmt.Errorf("-benchfmt: %w", err)
		}
	}
	if r.Python != "" && s.Peers != nil {
		tmp, err := os.MkdirTemp("", "gotile-bench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		number := strings.TrimPrefix(o.Device, "cuda:")
		if r.families, err = s.Peers.families(ctx, r.Python, s.Name, number, tmp, o.PeerLimit); err != nil {
			return err
		}
		defer func() {
			for _, f := range r.families {
				f.end(exitTime)
			}
		}()
	}
	r.task = display.Start(s.Name, "benchmarks", len(todo))
	defer r.task.End()
	for i, b := range todo {
		r.task.Begin(b.Name)
		err := r.benchmark(ctx, &b)
		if ctx.Err() != nil {
			return fmt.Errorf("%w after %d of %d benchmarks%s", progress.ErrInterrupted, i, len(todo), r.kept(i))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		r.task.Done(b.Name)
		if i == len(todo)-1 {
			r.note(ctx)
		}
		if err := r.write(i == len(todo)-1); err != nil {
			return err
		}
	}
	if r.path != "" {
		fmt.Fprintln(stdout, "wrote", r.path)
	}
	if len(r.wrong) > 0 {
		return fmt.Errorf("%w: %s", ErrWrong, strings.Join(r.wrong, ", "))
	}
	return nil
}

// checkPeers refuses an interpreter that there is not, before anything is measured without it. What it lacks is known
// only once it runs, and is the error of the arms that need it.
func (r *runner) checkPeers() error {
	if r.Python == "" || r.suite.Peers == nil {
		return nil
	}
	if r.PeerLimit <= 0 {
		return fmt.Errorf("-peer-timeout: %v; a peer needs some time to prepare", r.PeerLimit)
	}
	path, err := exec.LookPath(r.Python)
	if err != nil {
		return fmt.Errorf("-peers: %w; it names a Python interpreter, such as python3", err)
	}
	r.Python, err = filepath.Abs(path)
	return err
}

// openResults reads the results that there are, and sees to it that those of this run can be written and that no other
// run writes meanwhile: of two that read one file, the second to end would drop the cases of the first.
func (r *runner) openResults(todo []Benchmark) (unlock func(), err error) {
	r.path = resultsPath(r.Out, r.d.Info().Label(), r.suite.Name)
	dir := filepath.Dir(r.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := writable(dir); err != nil {
		return nil, err
	}
	if unlock, err = lock(dir, "writes results there"); err != nil {
		return nil, err
	}
	names := make([]string, len(todo))
	for i, b := range todo {
		names[i] = b.Name
	}
	if r.old, r.partial, err = r.results.earlier(r.path, names, r.Replace); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// select_ lists what the command line asks for, and the names of all.
func (r *runner) select_() ([]Benchmark, error) {
	if r.Plan.Rounds < 1 || r.Plan.Replays < 1 {
		return nil, fmt.Errorf("%d rounds of %d replays: at least 1 of each", r.Plan.Rounds, r.Plan.Replays)
	}
	re, err := regexp.Compile(r.Case)
	if err != nil {
		return nil, fmt.Errorf("-case: %w", err)
	}
	every, err := r.suite.Benchmarks(Selection{})
	if err != nil {
		return nil, err
	}
	for _, b := range every {
		r.order = append(r.order, b.Name)
	}
	all, err := r.suite.Benchmarks(r.Selection)
	if err != nil {
		return nil, err
	}
	if err := r.suite.check(all); err != nil {
		return nil, err
	}
	todo := slices.DeleteFunc(slices.Clone(all), func(b Benchmark) bool { return !re.MatchString(b.Name) })
	if len(todo) == 0 {
		return nil, fmt.Errorf("-case %q matches none of the %d benchmarks of suite %s", r.Case, len(all), r.suite.Name)
	}
	return todo, nil
}

// describe fills in what the results say of the run.
func (r *runner) describe(strangers []string) {
	info := r.d.Info()
	commit, dirty := strings.CutSuffix(r.Commit, "-dirty")
	if commit == "" {
		commit = unknown
	}
	r.results = &Results{Suite: r.suite.Name, Device: info.Name, Driver: info.Driver, NVRTC: info.NVRTC,
		Commit: commit, Dirty: dirty, Binary: binary(), Host: processor(), Command: r.Command, Clocks: map[string]string{},
		Plan: fmt.Sprintf("%d rounds of %d replays", r.Plan.Rounds, r.Plan.Replays), Cases: []Case{}}
	if r.d.Kind() == device.Sim {
		r.results.Notes = append(r.results.Notes, "measured on the simulator: times mean nothing")
	}
	for _, s := range strangers {
		r.results.Notes = append(r.results.Notes, "another process computed on the card at the start: "+s)
	}
}

// note adds what is known at the end only.
func (r *runner) note(ctx context.Context) {
	for _, s := range r.card.strangers(ctx) {
		r.results.Notes = append(r.results.Notes, "another process computed on the card at the end: "+s)
	}
}

// benchmark measures one benchmark and adds its case to the results.
func (r *runner) benchmark(ctx context.Context, b *Benchmark) (err error) {
	st := r.d.Stream()
	setup := &Setup{Stream: st, Groups: b.groups(r.cache()), ctx: ctx}
	r.task.Note("inputs")
	ours, err := r.ours(b, setup)
	defer func() {
		for _, g := range ours {
			err = errors.Join(err, g.close())
		}
		err = errors.Join(err, setup.close())
		_, trimmed := r.d.Trim() // for the peers of the next one
		err = errors.Join(err, trimmed)
	}()
	if errors.Is(err, device.ErrOutOfMemory) { // a smaller benchmark may follow
		c := Case{Name: b.Name, Bytes: b.Bytes, FLOPs: b.FLOPs, Groups: setup.Groups, Goal: b.Goal, Base: "gotile", Arms: map[string]Arm{}}
		unable := &turn{name: c.Base, err: err}
		c.Arms[c.Base] = unable.arm()
		r.results.Cases = append(r.results.Cases, c)
		r.show(c, []*turn{unable})
		return nil
	}
	if err != nil {
		return err
	}
	var turns []*turn
	for _, g := range ours {
		turns = append(turns, g.turn)
	}
	if len(r.families) > 0 {
		r.task.Note("peers")
	}
	turns = append(turns, r.peers(ctx, b, setup.Groups)...)
	defer func() {
		for _, f := range r.families {
			f.free(ctx)
		}
	}()
	for i, t := range turns {
		if slices.ContainsFunc(turns[:i], func(o *turn) bool { return o.name == t.name }) {
			return fmt.Errorf("two contenders are called %s", t.name)
		}
	}
	if err := r.Plan.measure(ctx, turns, r.d.Kind() == device.CUDA, r.task.Note); err != nil {
		return err
	}
	c := Case{Name: b.Name, Bytes: b.Bytes, FLOPs: b.FLOPs, Groups: setup.Groups, Goal: b.Goal, Base: turns[0].name, Arms: map[string]Arm{}}
	if c.Clocks, err = r.underLoad(ctx, turns); err != nil {
		return err
	}
	r.task.Note("checks")
	measureBeside(ctx, turns)
	verify(ctx, turns, setup.Groups-1)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, t := range turns {
		if errors.Is(t.err, ErrWrong) && (i == 0 || t.figures != nil) { // not a peer
			r.wrong = append(r.wrong, t.name+" of "+b.Name)
		}
	}
	c.Ratio = ratios(turns)
	for _, t := range turns {
		c.Arms[t.name] = t.arm()
	}
	if len(c.Clocks) > 0 {
		r.results.Clocks = c.Clocks
	}
	r.results.Cases = append(r.results.Cases, c)
	r.show(c, turns)
	return nil
}

// cache is the size of the L2 that the groups are to exceed. The simulator has none.
func (r *runner) cache() int {
	if r.d.Kind() == device.Sim {
		return 0
	}
	return r.d.Info().L2
}

// peers prepares the families: first, together, those that do not mind, then the others one by one.
func (r *runner) peers(ctx context.Context, b *Benchmark, groups int) []*turn {
	if b.Peer == nil {
		return nil
	}
	turns := make([][]*turn, len(r.families))
	var wg sync.WaitGroup
	for i, f := range r.families {
		if !f.Alone {
			wg.Go(func() { turns[i] = f.turns(ctx, b, groups) })
		}
	}
	wg.Wait()
	for i, f := range r.families {
		if f.Alone {
			turns[i] = f.turns(ctx, b, groups)
		}
		if f.versions != "" {
			if r.results.Peers == nil {
				r.results.Peers = map[string]string{}
			}
			r.results.Peers[f.Name] = f.versions
		}
	}
	return slices.Concat(turns...)
}

// underLoad reads the clocks while a contender runs: they fall as soon as none does.
func (r *runner) underLoad(ctx context.Context, turns []*turn) (map[string]string, error) {
	i := slices.IndexFunc(turns, func(t *turn) bool { return t.err == nil })
	if r.card == "" || i < 0 {
		return nil, nil
	}
	got := make(chan map[string]string, 1)
	go func() { got <- r.card.clocks(ctx) }()
	for {
		select {
		case c := <-got:
			return c, ctx.Err()
		default:
			if _, err := turns[i].replay(ctx, r.Plan.Replays); err != nil {
				turns[i].err = err
				return <-got, ctx.Err()
			}
		}
	}
}

// partialEnd marks results that are not to replace others yet.
const partialEnd = ".partial"

// write writes the files, the last time or before.
func (r *runner) write(last bool) error {
	all := r.results.with(r.old, r.order)
	switch {
	case r.path == "":
	case r.partial && !last:
		if err := all.Write(r.path + partialEnd); err != nil {
			return err
		}
	default:
		if err := all.Write(r.path); err != nil {
			return err
		}
		if r.partial {
			if err := os.Remove(r.path + partialEnd); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if r.Benchfmt != "" {
		return wholefile.Write(r.Benchfmt, r.results.Benchfmt())
	}
	return nil
}

// kept says where the cases of a run that ends early are.
func (r *runner) kept(cases int) string {
	switch {
	case r.path == "":
		return ""
	case cases == 0:
		return fmt.Sprintf("; %s is as it was", r.path)
	case r.partial:
		return fmt.Sprintf("; these are in %s, and %s is as it was", r.path+partialEnd, r.path)
	}
	return fmt.Sprintf("; these are in %s, beside what it had of others", r.path)
}

// show prints a case.
func (r *runner) show(c Case, turns []*turn) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %d groups%s\n", c.Name, c.Groups, clockText(c.Clocks))
	for _, t := range turns {
		a := c.Arms[t.name]
		if a.Error != "" {
			fmt.Fprintf(&b, "  %-14s %s\n", t.name, a.Error)
			continue
		}
		fmt.Fprintf(&b, "  %-14s %9.2f us  [%.2f, %.2f]", t.name, a.Median, a.Min, a.Max)
		if rate := c.Bandwidth(t.name); rate > 0 {
			fmt.Fprintf(&b, "  %.3f TB/s", rate/1e12)
		}
		if ratio, verdict, ok := c.Compare(t.name); ok {
			fmt.Fprintf(&b, "  %s takes %.3f of its time: %s", c.Base, ratio, verdict)
		}
		if a.Plain {
			b.WriteString("  (no graph)")
		}
		for _, name := range slices.Sorted(maps.Keys(a.Figures)) {
			fmt.Fprintf(&b, "  %s %.6g", name, a.Figures[name])
		}
		b.WriteByte('\n')
	}
	b.WriteTo(r.stdout)
}

func clockText(clocks map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(clocks)) {
		out = append(out, clocks[name])
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}
