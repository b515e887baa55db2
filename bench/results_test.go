package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample has all fields set that matter to a reader.
func sample(names ...string) *Results {
	r := &Results{Suite: "s", Device: "GPU", Driver: "1", NVRTC: "13.0", Commit: "abc", Binary: "b1", Command: "gotile bench s",
		Plan: "9 rounds of 20 replays", Clocks: map[string]string{"clocks.sm": "1980 MHz"}, Cases: []Case{}}
	for _, n := range names {
		r.Cases = append(r.Cases, Case{Name: n, Bytes: 100, FLOPs: 7, Groups: 2, Base: "gotile", Ratio: map[string]float64{"copy": 0.5}, Arms: map[string]Arm{
			"gotile": {Median: 1, Min: 0.5, Max: 2, Rounds: []float64{1, 0.5, 2}},
			"copy":   {Median: 2, Min: 2, Max: 2, Bytes: 80, Rounds: []float64{2, 2, 2}},
			"peer":   {Error: `it said "no"`},
		}})
	}
	return r
}

func TestWriteRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gpu", "s.json")
	for _, r := range []*Results{sample("s/a", "s/b"), sample()} {
		if err := r.Write(path); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if d := cmp.Diff(r, got); err != nil || d != "" {
			t.Errorf("%v\n%s", err, d)
		}
	}
	text, err := sample("s/a").text()
	if err != nil || !json.Valid(text) {
		t.Fatalf("no JSON: %v\n%s", err, text)
	}
	if want := "\t\t\t\"copy\": {\"median_us\":2,\"min_us\":2,\"max_us\":2,\"bytes\":80,\"rounds_us\":[2,2,2]},\n"; !strings.Contains(string(text), want) {
		t.Errorf("an arm is not a line:\n%s", text)
	}
}

// The results in this repository are readable, whatever version wrote them, and were measured as is promised.
func TestReadCommitted(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("results", "*", "*.json"))
	earlier, _ := filepath.Glob(filepath.Join("results", "*", "earlier", "*", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no results: %v", err)
	}
	for _, path := range append(paths, earlier...) {
		r, err := Read(path)
		if err != nil || len(r.Cases) == 0 || r.Suite+".json" != filepath.Base(path) {
			t.Errorf("%s: %v, %+v", path, err, r)
			continue
		}
		var rounds, replays int
		if _, err := fmt.Sscanf(r.Plan, "%d rounds of %d replays", &rounds, &replays); err != nil || rounds < 5 || replays < 20 {
			t.Errorf("%s: %q: published are at least 5 rounds of 20 replays", path, r.Plan)
		}
		if r.Commit == unknown || r.Dirty || r.Command == "" || r.Clocks["clocks_event_reasons.active"] == "" {
			t.Errorf("%s: commit %s (dirty: %v), command %q, clocks %v: published results name what was measured, and how", path, r.Commit, r.Dirty, r.Command, r.Clocks)
		}
	}
}

var update = flag.Bool("update", false, "write the committed results as benchfmt")

// The results in this repository stand beside themselves as benchfmt, of the same run.
func TestBenchfmtCommitted(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("results", "*", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no results: %v", err)
	}
	for _, path := range paths {
		r, err := Read(path)
		if err != nil {
			t.Error(err)
			continue
		}
		path = strings.TrimSuffix(path, ".json") + ".benchfmt.txt"
		if *update {
			if err := os.WriteFile(path, r.Benchfmt(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, r.Benchfmt()) {
			t.Errorf("%s differs from the results: go test ./bench -run TestBenchfmtCommitted -update writes it (%v)", path, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	whole, err := sample("s/a").text()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.json")
	for what, text := range map[string]string{
		"empty":           "",
		"truncated":       string(whole[:len(whole)/2]),
		"no JSON":         "notes",
		"foreign":         `{"benchmarks":[]}`,
		"without cases":   `{"suite":"s"}`,
		"a newer field":   strings.Replace(string(whole), `"suite"`, `"mood":"good","suite"`, 1),
		"two in one file": string(whole) + string(whole),
		"negative":        strings.Replace(string(whole), `"median_us":2`, `"median_us":-2`, 1),
		"below its least": strings.Replace(string(whole), `"median_us":2`, `"median_us":1`, 1),
		"no time":         `{"suite":"s","cases":[{"name":"s/a","arms":{"copy":{}}}]}`,
		"no name":         `{"suite":"s","cases":[{"name":""}]}`,
		"a case twice":    `{"suite":"s","cases":[{"name":"s/a"},{"name":"s/a"}]}`,
		"negative groups": `{"suite":"s","cases":[{"name":"s/a","groups":-1}]}`,
		"no such arm":     `{"suite":"s","cases":[{"name":"s/a","arms":{},"ratio":{"copy":2}}]}`,
		"ratio below 0":   `{"suite":"s","cases":[{"name":"s/a","arms":{"copy":{"error":"x"}},"ratio":{"copy":-2}}]}`,
		"round apart":     `{"suite":"s","cases":[{"name":"s/a","arms":{"copy":{"median_us":2,"min_us":1,"max_us":3,"rounds_us":[2,4]}}}]}`,
		"negative bytes":  `{"suite":"s","cases":[{"name":"s/a","bytes":-1}]}`,
	} {
		if text == string(whole) {
			t.Fatalf("%s: nothing was replaced", what)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, replace := range []bool{false, true} {
			if _, _, err := sample().earlier(path, nil, replace); err == nil || !strings.Contains(err.Error(), "move it away") {
				t.Errorf("%s: error %v", what, err)
			}
		}
	}
}

func TestMerge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	old := sample("s/a", "s/b")
	old.Command, old.Peers, old.Notes = "gotile bench -case b s", map[string]string{"x": "1"}, []string{"shared"}
	if err := old.Write(path); err != nil {
		t.Fatal(err)
	}
	// A partial run of the same program keeps the other case, in the suite's order.
	now := sample("s/a")
	now.Cases[0].Bytes = 101
	kept, lost, err := now.earlier(path, []string{"s/a"}, false)
	if err != nil || kept == nil || lost {
		t.Fatalf("%v, %v", kept, err)
	}
	if got := sample().with(kept, nil); len(got.Cases) != 2 || got.Cases[0].Bytes != 100 {
		t.Errorf("before anything is measured: %+v", got)
	}
	if got := sample("s/a", "s/b").with(kept, nil); len(got.Cases) != 2 || got.Command != "gotile bench s" {
		t.Errorf("after all is measured again: %+v", got)
	}
	got := now.with(kept, []string{"s/b", "s/a"})
	if len(got.Cases) != 2 || got.Cases[0].Name != "s/b" || got.Cases[1].Bytes != 101 || got.Command != "gotile bench -case b s && gotile bench s" ||
		got.Peers["x"] != "1" || len(got.Notes) != 1 {
		t.Errorf("merged: %+v", got)
	}
	if again := now.with(got, []string{"s/b", "s/a"}); again.Command != got.Command {
		t.Errorf("a repeated command: %q", again.Command)
	}
	for what, change := range map[string]func(*Results){
		"device": func(r *Results) { r.Device = "other" }, "driver": func(r *Results) { r.Driver = "2" }, "NVRTC": func(r *Results) { r.NVRTC = "12" },
		"commit": func(r *Results) { r.Commit = "def" }, "plan": func(r *Results) { r.Plan = "1 rounds of 1 replays" }, "another program": func(r *Results) { r.Dirty, r.Binary = true, "b2" },
	} {
		now := sample("s/a")
		change(now)
		if _, _, err := now.earlier(path, []string{"s/a"}, false); err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "-replace") {
			t.Errorf("%s: %v", what, err)
		}
		// What the run measures anew need not agree, nor what is dropped by flag.
		if kept, lost, err := now.earlier(path, []string{"s/a", "s/b"}, false); err != nil || kept != nil || !lost {
			t.Errorf("%s, all measured: %v, %v", what, kept, err)
		}
		if kept, lost, err := now.earlier(path, []string{"s/a"}, true); err != nil || kept != nil || !lost {
			t.Errorf("%s, replaced: %v, %v", what, kept, err)
		}
	}
	// Programs without a commit are told apart by their bytes.
	loose := sample("s/a", "s/b")
	loose.Commit = unknown
	if err := loose.Write(path + ".loose"); err != nil {
		t.Fatal(err)
	}
	now = sample("s/a")
	now.Commit = unknown
	if kept, lost, err := now.earlier(path+".loose", []string{"s/a"}, false); err != nil || kept == nil || lost {
		t.Errorf("the same program: %v, %v", kept, err)
	}
	now.Binary = "b2"
	if _, _, err := now.earlier(path+".loose", []string{"s/a"}, false); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("another program: %v", err)
	}
	// Other versions of a peer are noted.
	now = sample("s/a")
	now.Peers = map[string]string{"x": "2"}
	if got := now.with(old, nil); got.Peers["x"] != "2" || len(got.Notes) != 2 || !strings.Contains(got.Notes[0], "peer x: 1 in cases that were measured before, 2 in") {
		t.Errorf("versions %v, notes %q", got.Peers, got.Notes)
	}
	other := sample("s/a")
	other.Suite = "t"
	if _, _, err := other.earlier(path, nil, true); err == nil || !strings.Contains(err.Error(), "suite s, not t") {
		t.Errorf("another suite's file: %v", err)
	}
	if kept, lost, err := now.earlier(path+"none", nil, false); err != nil || kept != nil || lost {
		t.Errorf("no file: %v, %v", kept, err)
	}
}

func TestBenchfmt(t *testing.T) {
	r := sample("rms/fwd/4x8")
	want := `suite: s
device: GPU
driver: 1
nvrtc: 13.0
commit: abc
BenchmarkRms/fwd/4x8/arm=copy 1 2000 ns/op 4e+07 B/s
BenchmarkRms/fwd/4x8/arm=copy 1 2000 ns/op 4e+07 B/s
BenchmarkRms/fwd/4x8/arm=copy 1 2000 ns/op 4e+07 B/s
BenchmarkRms/fwd/4x8/arm=gotile 1 1000 ns/op 1e+08 B/s
BenchmarkRms/fwd/4x8/arm=gotile 1 500 ns/op 2e+08 B/s
BenchmarkRms/fwd/4x8/arm=gotile 1 2000 ns/op 5e+07 B/s
`
	if d := cmp.Diff(want, string(r.Benchfmt())); d != "" {
		t.Error(d)
	}
}
