package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// fills is a suite without kernels: of 16 and of 8 numbers 1, 2, 3, ... that are copied from a tensor. An arm gets
// them right, one wrong, one not at all.
func fills(p *Peers) Suite {
	return Suite{Name: "fills", Peers: p, Benchmarks: func(sel Selection) ([]Benchmark, error) {
		if sel.Shapes != nil && sel.Shapes[0] != "8" {
			return nil, errors.New("-shapes: only 8")
		}
		var out []Benchmark
		for _, n := range []int{16, 8} {
			b := Benchmark{Name: map[int]string{16: "fills/long", 8: "fills/short"}[n], Bytes: 8 * n, FLOPs: n, Input: 4 * n, Goal: &Goal{Copy: 0.5}, Peer: map[string]any{"size": n}}
			b.Setup = func(s *Setup) ([]Contender, error) { return fill(s, n) }
			b.Checks = func(int) []Check { return []Check{{Output: "y", Want: counting(n), Tol: 1e-6}} }
			if sel.Shapes == nil || n == 8 {
				out = append(out, b)
			}
		}
		return out, nil
	}}
}

func counting(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	return x
}

func fill(s *Setup, n int) ([]Contender, error) {
	x, err := s.New(dtype.F32, n)
	if err != nil {
		return nil, err
	}
	y, err := s.New(dtype.F32, n)
	if err != nil {
		return nil, err
	}
	if err := device.UploadFloats(s.Stream, x, counting(n)); err != nil {
		return nil, err
	}
	move := func(bytes int) func(int) error {
		return func(int) error { return s.Stream.Copy(y.Buffer(), 0, x.Buffer(), 0, bytes) }
	}
	out := map[string]device.Tensor{"y": y}
	return []Contender{
		{Name: "gotile", Launch: move(4 * n), Outputs: out},
		{Name: "half", Launch: move(2 * n), Outputs: out}, // the rest stays poisoned
		{Name: "zero", Bytes: 4 * n, Launch: func(int) error { return s.Stream.Fill(y.Buffer(), 0, 4*n, 0) }, Outputs: out,
			Checks: func(int) []Check { return []Check{{Output: "y", At: 1, Want: make([]float64, n-1)}} }},
		{Name: "refuses", Err: errors.New("it does not take rows of that length")},
		{Name: "fails", Launch: func(int) error { return errors.New("it broke") }},
	}, nil
}

// runSim runs a suite on the simulator with a small plan and reads the results back.
func runSim(t *testing.T, s Suite, o Options) (stdout string, r *Results) {
	t.Helper()
	o.Device, o.Plan, o.Commit, o.Command = "sim", Plan{Rounds: 3, Replays: 2}, "c0ffee-dirty", "gotile bench fills"
	if o.Out == "" {
		o.Out = t.TempDir()
	}
	var out bytes.Buffer
	if err := Run(t.Context(), s, o, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	r, err := Read(filepath.Join(o.Out, "sim", s.Name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), r
}

func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.txt")
	out, r := runSim(t, fills(nil), Options{Benchfmt: file})
	if r.Commit != "c0ffee" || !r.Dirty || len(r.Binary) != 64 || r.Plan != "3 rounds of 2 replays" || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "simulator") {
		t.Errorf("head: %+v", r)
	}
	c := r.Cases[0]
	if c.Name != "fills/long" || c.Bytes != 128 || c.FLOPs != 16 || c.Groups != 2 || c.Goal == nil || c.Goal.Copy != 0.5 || c.Base != "gotile" || len(c.Ratio) != 1 || c.Ratio["zero"] <= 0 {
		t.Errorf("case %+v", c)
	}
	for name, want := range map[string]string{"gotile": "", "zero": "", "half": "wrong: y differs by NaN", "refuses": "it does not take rows of that length", "fails": "it broke"} {
		a := c.Arms[name]
		if !strings.Contains(a.Error, want) || (want == "") != (a.Error == "") || (want == "") != (a.Median > 0) || (want == "") != (len(a.Rounds) == 3) {
			t.Errorf("%s: %+v, want an error with %q", name, a, want)
		}
		if !strings.Contains(out, "  "+name+" ") {
			t.Errorf("%s is not printed:\n%s", name, out)
		}
	}
	if c.Arms["zero"].Bytes != 64 {
		t.Errorf("zero: %+v", c.Arms["zero"])
	}
	text, err := os.ReadFile(file)
	if n := strings.Count(string(text), "BenchmarkFills/"); err != nil || n != 2*2*3 {
		t.Errorf("%d benchmark lines, %v:\n%s", n, err, text)
	}
}

// A partial run keeps what it does not measure; a foreign file ends a run before it starts.
func TestRunAgain(t *testing.T) {
	dir := t.TempDir()
	runSim(t, fills(nil), Options{Out: dir})
	if _, r := runSim(t, fills(nil), Options{Out: dir, Case: "short"}); len(r.Cases) != 2 || r.Cases[0].Name != "fills/long" {
		t.Errorf("after a partial run: %+v", r.Cases)
	}
	if _, r := runSim(t, fills(nil), Options{Out: dir, Selection: Selection{Shapes: []string{"8"}}}); len(r.Cases) != 2 {
		t.Errorf("after a run of one shape: %+v", r.Cases)
	}
	path := filepath.Join(dir, "sim", "fills.json")
	if err := os.WriteFile(path, []byte(`{"suite":"fills","cas`), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Run(t.Context(), fills(nil), Options{Device: "sim", Plan: Default, Out: dir}, &out); err == nil || !strings.Contains(err.Error(), "truncated") || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
	if text, _ := os.ReadFile(path); string(text) != `{"suite":"fills","cas` {
		t.Errorf("the file was overwritten: %q", text)
	}
}

// What cannot be written is refused before anything is measured, and so is a file that another run writes.
func TestRunCannotWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	refused := func(want string, o Options) {
		t.Helper()
		o.Device, o.Plan = "sim", Plan{Rounds: 1, Replays: 1}
		var out bytes.Buffer
		if err := Run(t.Context(), fills(nil), o, &out); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("error %v, want %q; %s", err, want, &out)
		}
	}
	refused("file", Options{Out: filepath.Join(dir, "file")})
	refused("-benchfmt: "+dir+" is no regular file", Options{Benchfmt: dir})
	refused("-benchfmt: "+os.DevNull+" is no regular file", Options{Benchfmt: os.DevNull})
	if err := os.MkdirAll(filepath.Join(dir, "taken", "sim", "fills.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	refused("nor a regular one; move it away", Options{Out: filepath.Join(dir, "taken")})
	refused("none", Options{Benchfmt: filepath.Join(dir, "none", "new.txt")})
	if os.Getuid() > 0 { // root writes where nobody may
		closed := filepath.Join(dir, "closed")
		if err := os.Mkdir(closed, 0o555); err != nil {
			t.Fatal(err)
		}
		refused("permission", Options{Out: closed})
	}
	if runtime.GOOS != "linux" {
		return // folders are locked on linux only
	}
	during := fills(nil)
	during.Benchmarks = func(sel Selection) ([]Benchmark, error) {
		all, err := fills(nil).Benchmarks(sel)
		setup := all[0].Setup
		all[0].Setup = func(s *Setup) ([]Contender, error) {
			refused("another gotile bench writes results there", Options{Out: dir})
			return setup(s)
		}
		return all, err
	}
	if _, r := runSim(t, during, Options{Out: dir}); len(r.Cases) != 2 {
		t.Errorf("%+v", r)
	}
}

// An interrupt loses the benchmark under way, and nothing that was measured before.
func TestRunInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s := fills(pretended(t, "good", "hangs"))
	s.Benchmarks = func(sel Selection) ([]Benchmark, error) {
		all, err := fills(nil).Benchmarks(sel)
		checks := all[1].Checks
		all[1].Checks = func(group int) []Check {
			cancel()
			return checks(group)
		}
		return all, err
	}
	o := Options{Device: "sim", Plan: Plan{Rounds: 1, Replays: 1}, Out: dir, Python: os.Args[0], PeerLimit: time.Second}
	if err := Run(ctx, s, o, &bytes.Buffer{}); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "interrupted after 1 of 2 benchmarks; these are in "+dir) {
		t.Errorf("error %v", err)
	}
	r, err := Read(filepath.Join(dir, "sim", "fills.json"))
	if err != nil || len(r.Cases) != 1 || r.Cases[0].Name != "fills/long" {
		t.Errorf("%v, %+v", err, r)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "sim", "*")); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// A run that is interrupted loses nothing of the file that was there: what may stand beside its figures stays, and what
// may not stays until all is measured.
func TestRunInterruptedKeeps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sim", "fills.json")
	run := func(commit string, stop bool) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := fills(nil)
		s.Benchmarks = func(sel Selection) ([]Benchmark, error) {
			all, err := fills(nil).Benchmarks(sel)
			setup := all[1].Setup
			all[1].Setup = func(s *Setup) ([]Contender, error) {
				if stop {
					cancel()
				}
				return setup(s)
			}
			return all, err
		}
		return Run(ctx, s, Options{Device: "sim", Plan: Plan{Rounds: 1, Replays: 1}, Out: dir, Commit: commit, Command: "gotile bench " + commit}, &bytes.Buffer{})
	}
	read := func(path string) *Results {
		t.Helper()
		r, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if err := run("one", false); err != nil {
		t.Fatal(err)
	}
	first := read(path)
	// The same program: the case that it measured is new, the other one is still there.
	if err := run("one", true); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	second := read(path)
	if len(second.Cases) != 2 || cmp.Equal(first.Cases[0], second.Cases[0]) || !cmp.Equal(first.Cases[1], second.Cases[1]) {
		t.Errorf("the same commit: %+v", second.Cases)
	}
	// Another program: its case is beside the file, which has not changed.
	if err := run("two", true); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "fills.json.partial, and ") {
		t.Fatal(err)
	}
	if d := cmp.Diff(second, read(path)); d != "" {
		t.Errorf("another commit: %s", d)
	}
	if r := read(path + ".partial"); len(r.Cases) != 1 || r.Commit != "two" {
		t.Errorf("the part: %+v", r)
	}
	// Once all is measured it takes the file's place.
	if err := run("two", false); err != nil {
		t.Fatal(err)
	}
	if r := read(path); r.Commit != "two" || len(r.Cases) != 2 || r.Command != "gotile bench two" {
		t.Errorf("%+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "sim", "*")); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// A benchmark that does not fit the device has that as its result; the next one is measured.
func TestRunOutOfMemory(t *testing.T) {
	s := fills(nil)
	s.Benchmarks = func(sel Selection) ([]Benchmark, error) {
		all, err := fills(nil).Benchmarks(sel)
		setup := all[0].Setup
		all[0].Setup = func(s *Setup) ([]Contender, error) {
			if _, err := s.New(dtype.F32, 1<<40); err != nil {
				return nil, err
			}
			return setup(s)
		}
		return all, err
	}
	out, r := runSim(t, s, Options{})
	if len(r.Cases) != 2 || !strings.Contains(r.Cases[0].Arms["gotile"].Error, "4398046511104 bytes") || r.Cases[1].Arms["gotile"].Median <= 0 || !strings.Contains(out, "4398046511104 bytes") {
		t.Errorf("%+v\n%s", r.Cases, out)
	}
}

// A card that others compute on is not measured, nor is one that another bench measures.
func TestRunRefusesCompany(t *testing.T) {
	smi(t, fmt.Sprintf(`case "$*" in *uuid*) echo GPU-%s ;; *compute-apps*) echo "%d, neighbour" ;; esac`, t.Name(), os.Getppid()))
	o := Options{Device: "cuda:0", Plan: Plan{Rounds: 1, Replays: 1}}
	if err := Run(t.Context(), fills(nil), o, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "neighbour; wait until they are done, or set -shared") {
		t.Errorf("error %v", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	path := card("0").lockPath(t.Context())
	defer os.Remove(path)
	unlock, err := lock(path, "is a test")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := Run(t.Context(), fills(nil), o, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "another gotile bench measures on this device") {
		t.Errorf("error %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	for want, o := range map[string]Options{
		"0 rounds":              {Device: "sim", Plan: Plan{Replays: 1}},
		"-case: error parsing":  {Device: "sim", Plan: Default, Case: "("},
		"matches none of the 2": {Device: "sim", Plan: Default, Case: "nothing"},
		"-shapes: only 8":       {Device: "sim", Plan: Default, Selection: Selection{Shapes: []string{"9"}}},
		`unknown device "tpu"`:  {Device: "tpu", Plan: Default},
		"cuda:77":               {Device: "cuda:77", Plan: Default},
	} {
		var out bytes.Buffer
		if err := Run(t.Context(), fills(nil), o, &out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	double := fills(nil)
	double.Benchmarks = func(Selection) ([]Benchmark, error) {
		b, err := fills(nil).Benchmarks(Selection{})
		return append(b, b...), err
	}
	if err := Run(t.Context(), double, Options{Device: "sim", Plan: Default}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "benchmark fills/long of suite fills twice") {
		t.Errorf("two benchmarks of one name: %v", err)
	}
}
