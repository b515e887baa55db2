package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/bench"
)

var update = flag.Bool("update", false, "write the golden page")

// sample has one case with everything that a page shows, one that is bound by arithmetic, and one that failed.
func sample() *bench.Results {
	arm := func(lo, mid, hi float64) bench.Arm { return bench.Arm{Median: mid, Min: lo, Max: hi} }
	copied := arm(9.9, 10, 10.1)
	copied.Bytes = 40_000_000
	plain := arm(20, 21, 22)
	plain.Plain = true
	return &bench.Results{
		Suite: "rmsnorm", Device: "GPU", Driver: "580", NVRTC: "13.0", Commit: "c0ffee", Dirty: true, Binary: strings.Repeat("ab", 32),
		Command: "gotile bench -case fwd x && gotile bench x", Plan: "3 rounds of 2 replays",
		Clocks: map[string]string{"clocks.sm": "1980 MHz", "clocks_event_reasons.active": "0x0000000000000044", "fan": "3 %"},
		Peers:  map[string]string{"torch": "torch 2"}, Notes: []string{"another process computed on the card"},
		Cases: []bench.Case{
			{Name: "rmsnorm/fwd/32x64/bf16", Bytes: 41_000_000, FLOPs: 1_000_000, Groups: 2, Base: "gotile",
				Clocks: map[string]string{"clocks.sm": "1980 MHz", "clocks_event_reasons.active": "0x0"},
				Ratio:  map[string]float64{"copy": 1.1, "torch": 0.5, "close": 1.01},
				Goal:   &bench.Goal{Copy: 0.97, Peers: 1},
				Arms:   map[string]bench.Arm{"gotile": arm(10.8, 11, 11.2), "copy": copied, "torch": plain, "close": arm(10.7, 10.9, 11.3), "fla": {Error: "needs rows of 64 KB"}}},
			{Name: "rmsnorm/gemm/8x8x8", FLOPs: 2_000_000_000, Bytes: 1000, Arms: map[string]bench.Arm{"gotile": arm(9, 10, 11)}},
			{Name: "rmsnorm/fwd/64x64/bf16", Bytes: 82_000_000, Base: "gotile", Arms: map[string]bench.Arm{"gotile": {Error: "out of memory"}}},
		},
	}
}

func render(t *testing.T, list ...File) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, list); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page as it is in testdata; style and script are files of their own.
func TestGolden(t *testing.T) {
	page := render(t, File{"results/gpu/rmsnorm.json", sample()})
	got := page
	for _, name := range []string{"style.css", "script.js"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got, string(text)) {
			t.Fatalf("the page has another %s", name)
		}
		got = strings.Replace(got, string(text), name, 1)
	}
	path := filepath.Join("testdata", "page.golden.html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("go test -update writes it (-want +got):\n%s", d)
	}
	for range 5 { // maps have no order
		if again := render(t, File{"results/gpu/rmsnorm.json", sample()}); again != page {
			t.Fatal("the same results give another page")
		}
	}
}

// What the golden page must hold, so that -update cannot lose it.
func TestContents(t *testing.T) {
	page := render(t, File{"r.json", sample()})
	for _, want := range []string{
		"580", "13.0", "c0ffee, with uncommitted changes", "gotile bench -case fwd x</code><code>gotile bench x", "3 rounds of 2 replays", "torch 2",
		"SM 1980 MHz, fan 3 %, clocks lowered: software power cap and hardware thermal slowdown", "another process computed on the card",
		"needs rows of 64 KB", "was launched without a graph", "not throttled; 2 groups of inputs",
		"0.932", "goal 0.97 of copy: missed", "goal 1.00 of the peers’ times: missed", // 41/40/1.1 and 1.01
		"200.0", "TFLOP/s", // 2e9 in 10 µs
		"out of memory",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// The page must not need a network.
	for _, banned := range []string{"http://", "https://", "src=", "url(", "@import", "<link"} {
		if strings.Contains(page, banned) {
			t.Errorf("the page has %q", banned)
		}
	}
}

// Where no other library was measured, the other contenders are ways to do the same, and the page calls none of them a
// peer. Their names are not broken.
func TestWithoutLibraries(t *testing.T) {
	r := sample()
	r.Peers, r.Cases = nil, r.Cases[:1]
	r.Cases[0].Groups, r.Cases[0].Goal = 1, nil
	r.Cases[0].Arms["gotile_untracked"] = r.Cases[0].Arms["close"]
	// Nor is there a bandwidth where no bytes are counted.
	r.Cases = append(r.Cases, bench.Case{Name: "rmsnorm/step/8x8", Arms: map[string]bench.Arm{"gotile": {Median: 10, Min: 9, Max: 11}}})
	page := render(t, File{"r.json", r})
	for _, want := range []string{"shapes, beside the fastest other contender<", "over the other contender’s, below", "; 1 group of inputs", "--letters:16",
		"Time in µs, shorter is faster", "Bandwidth in TB/s, longer is faster"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	_, body, _ := strings.Cut(page, "</head>")
	if at := strings.Index(strings.ReplaceAll(body, `"peer`, ""), "peer"); at >= 0 { // but for classes
		t.Errorf("the page has a peer: %.80q", body[max(at-40, 0):])
	}
}

// Names from a file are text, wherever they stand: in elements, attributes and text areas.
func TestHostileNames(t *testing.T) {
	const evil = `</textarea></script><script>alert("x")</script>`
	r := sample()
	c := &r.Cases[0]
	r.Suite, r.Device, r.Commit, r.Command, r.Notes = evil, evil, evil, evil, []string{evil}
	r.Peers, r.Clocks = map[string]string{evil: evil}, map[string]string{evil: evil}
	c.Name = evil + "/" + evil + "\t|\n" + evil + "/32x64/" + evil
	c.Base = evil
	c.Arms[evil] = c.Arms["gotile"]
	c.Arms[evil+"|\n\tx"] = bench.Arm{Error: evil}
	page := render(t, File{evil, r})
	if n := strings.Count(page, "<script>"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	if n := strings.Count(page, "</textarea>"); n != 3*len(kinds(r)) {
		t.Errorf("%d text areas end", n)
	}
	f := kinds(r)[0].figures(kinds(r)[0].arms(), bandwidth)
	if got := strings.Count(f.TSV(), "\n"); got != len(f.Rows)+1 {
		t.Errorf("TSV has %d lines of %d rows", got, len(f.Rows))
	}
	for line := range strings.Lines(f.TSV()) {
		if got := strings.Count(line, "\t"); got != len(f.Head)-1 {
			t.Errorf("%d tabs in %q", got, line)
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(f.Markdown(), `\|`, "")) {
		if got := strings.Count(line, "|"); got != len(f.Head)+1 || strings.Contains(line, "<") {
			t.Errorf("Markdown %q", line)
		}
	}
}

// A file that is cut off, or is something else, is refused, and so is a folder without results.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "gpu", "rmsnorm.json")
	if err := sample().Write(good); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("notes.txt", "no results, and not asked for")
	write(".hidden.json", "{}")
	list, err := Load([]string{dir})
	if err != nil || len(list) != 1 || list[0].Name != filepath.ToSlash(good) {
		t.Fatalf("%v, %v", list, err)
	}
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		paths []string
		words string
	}{
		"truncated":        {[]string{write("cut.json", string(whole[:len(whole)/2]))}, "truncated"},
		"foreign":          {[]string{write("foreign.json", `{"benchmarks": []}`)}, "is no results file"},
		"in a folder":      {[]string{dir}, "is no results file"},
		"missing":          {[]string{filepath.Join(dir, "none.json")}, "no such file"},
		"an empty folder":  {[]string{empty}, "gotile bench -out"},
		"a file and again": {[]string{good, good}, "is named twice"},
	} {
		if list, err := Load(c.paths); err == nil || list != nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, %v", what, list, err)
		}
	}
}

// The committed results give a page with every shape and contender of theirs.
func TestCommitted(t *testing.T) {
	list, err := Load([]string{"../results"})
	if err != nil {
		t.Fatal(err)
	}
	page := render(t, list...)
	for _, f := range list {
		for _, c := range f.Results.Cases {
			for name := range c.Arms {
				if !strings.Contains(page, ">"+name+"</th>") {
					t.Errorf("%s: no bar of %s", c.Name, name)
				}
			}
		}
	}
}

func TestKinds(t *testing.T) {
	r := &bench.Results{Suite: "s"}
	for _, name := range []string{"s/fwd/4x8/bf16", "s/fwd/4x16/bf16", "s/fwd/4x8/f32", "s/long", "other/form", "s/8x8/bf16"} {
		r.Cases = append(r.Cases, bench.Case{Name: name})
	}
	var got []string
	for _, k := range kinds(r) {
		for _, c := range k.cases {
			got = append(got, k.title(r.Suite)+": "+c.shape)
		}
	}
	want := []string{"forward, bf16: 4x8", "forward, bf16: 4x16", "forward, f32: 4x8", "s: long", "other: form", "bf16: 8x8"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Bases come first, then peers that are fast against them, then copies.
func TestArms(t *testing.T) {
	k := kinds(sample())[0]
	if d := cmp.Diff([]string{"gotile", "close", "torch", "fla", "copy"}, k.arms()); d != "" {
		t.Error(d)
	}
}

func TestAxis(t *testing.T) {
	for most, step := range map[float64]float64{4.3: 1, 0.9: 0.2, 1.2: 0.5, 700: 200, 25: 5, 0.004: 0.001} {
		c := bench.Case{Bytes: 1, Arms: map[string]bench.Arm{"gotile": {Median: 1e-6 / most, Min: 1e-6 / most, Max: 1e-6 / most}}}
		c.Bytes = 1
		a := axisOf(&kind{cases: []shaped{{c, "x"}}}, bandwidth)
		if d := a.step - step; d > 1e-9 || d < -1e-9 || a.at(0) != 0 || a.at(most) < 90 || a.at(most) > 100 {
			t.Errorf("up to %g: step %g, want %g; the end is at %g %%", most, a.step, step, a.at(most))
		}
	}
	if a := axisOf(&kind{cases: []shaped{{}}}, bandwidth); len(a.ticks()) < 1 {
		t.Errorf("nothing measured: %+v", a)
	}
}

// A goal is met at its bound, and none is shown where there is nothing to compare with.
func TestGoals(t *testing.T) {
	c := kinds(sample())[0].cases[0]
	c.Goal = &bench.Goal{Copy: c.ofCopy(), Peers: 1.01}
	want := []goal{{"goal 0.93 of copy: met", "met"}, {"goal 1.01 of the peers’ times: met", "met"}}
	if d := cmp.Diff(want, c.goals()); d != "" {
		t.Error(d)
	}
	c.Ratio = nil
	d := shaped{Case: bench.Case{Base: "launch", Goal: &bench.Goal{Above: map[string]float64{"c": 1, "absent": 1}}, Arms: map[string]bench.Arm{
		"launch": {Rounds: []float64{3, 9, 4}}, "c": {Rounds: []float64{2, 3, 2.5}},
	}}} // 1, 6 and 1.5 more
	if d := cmp.Diff([]goal{{"goal 1.0 µs more than c: missed", "missed"}}, d.goals()); d != "" {
		t.Error(d)
	}
	if got := c.goals(); got != nil {
		t.Errorf("nothing to compare with: %v", got)
	}
}
