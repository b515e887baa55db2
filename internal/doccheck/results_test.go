//go:build !gotilegen

package doccheck

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/rmsnorm"
)

// results renders bench:FILE, all tables, bench:FILE:PASS/DTYPE and bench:FILE:PASS/DTYPE:SHAPE,SHAPE, one, and
// floors:FILE:SHAPE; goals:FILE is what was asked of the cases; of:FILE says what the results are of. recompute:FILE,
// host:FILE:PASS and async:FILE:SHAPE are those suites' tables, earlier:FILE:FILE the peers that only the second has. Before there is a file its parts say so.
func results(what, spec string) (string, error) {
	fields := strings.Split(spec, ":")
	r, err := bench.Read(filepath.Join(root, filepath.FromSlash(fields[0])))
	if errors.Is(err, fs.ErrNotExist) {
		return "Not measured yet.\n", nil
	}
	if err != nil {
		return "", err
	}
	switch {
	case what == "of":
		return Provenance(r), nil
	case what == "goals" && len(fields) == 1:
		goals, err := goalsOf(r.Suite)
		if err != nil {
			return "", err
		}
		return GoalsTable(r, goals)
	case what == "missing" && len(fields) == 1:
		names, err := namesOf(r.Suite)
		if err != nil {
			return "", err
		}
		return Missing(r, names), nil
	case what == "earlier" && len(fields) == 2:
		before, err := bench.Read(filepath.Join(root, filepath.FromSlash(fields[1])))
		if err != nil {
			return "", err
		}
		return EarlierPeers(r, before)
	case what == "budget" && len(fields) == 2:
		return BudgetTable(r, fields[1])
	case what == "recompute" && len(fields) == 1:
		return RecomputeTable(r)
	case what == "async" && len(fields) == 2:
		return AsyncTable(r, fields[1])
	case what == "host" && len(fields) == 2:
		return HostTable(r, fields[1])
	case what == "floors" && len(fields) == 2:
		return FloorsTable(r, fields[1])
	case what == "bench" && len(fields) == 1:
		return AllTables(r)
	case what == "bench" && len(fields) <= 3:
		pass, dtype, _ := strings.Cut(fields[1], "/")
		var list []string
		if len(fields) == 3 {
			list = strings.Split(fields[2], ",")
		}
		return ResultsTable(r, kind{pass, dtype}, list)
	}
	return "", fmt.Errorf("%s:%s: cannot read that", what, spec)
}

// benchmarksOf are what a suite publishes.
func benchmarksOf(suite string) ([]bench.Benchmark, error) {
	for _, s := range []bench.Suite{rmsnorm.Suite()} {
		if s.Name == suite {
			return s.Benchmarks(bench.Selection{})
		}
	}
	return nil, fmt.Errorf("suite %q is not known here", suite)
}

// goalsOf are a suite's goals by case.
func goalsOf(suite string) (map[string]*bench.Goal, error) {
	out := map[string]*bench.Goal{}
	all, err := benchmarksOf(suite)
	for _, b := range all {
		out[b.Name] = b.Goal
	}
	return out, err
}

// namesOf are the names of a suite's cases.
func namesOf(suite string) (out []string, err error) {
	all, err := benchmarksOf(suite)
	for _, b := range all {
		out = append(out, b.Name)
	}
	return out, err
}

// pictures are the generated pictures.
var pictures = []struct {
	file, results string
	kinds         []kind
}{
	{"docs/rmsnorm-h200.svg", "bench/results/h200/rmsnorm.json", []kind{{"fwd", "bf16"}, {"bwd", "bf16"}}},
	{"docs/rmsnorm-f32-h200.svg", "bench/results/h200/rmsnorm.json", []kind{{"fwd", "f32"}, {"bwd", "f32"}}},
}

func TestPictures(t *testing.T) {
	for _, p := range pictures {
		r, err := bench.Read(filepath.Join(root, filepath.FromSlash(p.results)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := Picture(r, p.kinds...)
		if err != nil {
			t.Fatalf("%s: %v", p.file, err)
		}
		path := filepath.Join(root, filepath.FromSlash(p.file))
		if *write {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != want {
			t.Errorf("%s is stale; run go test ./internal/doccheck -write (%v)", p.file, err)
		}
	}
}

// measured is a run of two shapes, of which our kernel does not run the second: 2 TB/s beside a copy's 4 and a peer.
func measured() *bench.Results {
	return &bench.Results{Suite: "rmsnorm", Device: "GPU", Driver: "1.2", NVRTC: "13.0", Commit: "abc", Plan: "9 rounds of 20 replays",
		Peers: map[string]string{"fla": "torch 2, fla 3", "torch": "torch 2"}, Notes: []string{"it was hot"},
		Cases: []bench.Case{
			{Name: "rmsnorm/fwd/8x16/bf16", Bytes: 2e8, Base: "gotile", Ratio: map[string]float64{"copy": 2.5, "fla": 0.8}, Arms: map[string]bench.Arm{
				"gotile": {Median: 100, Min: 99, Max: 101.5}, "copy": {Median: 50, Min: 50, Max: 50, Bytes: 1e8},
				"fla": {Median: 120, Min: 119, Max: 121}, "torch": {Median: 150, Min: 150, Max: 151}, "liger": {Error: "no"}}},
			{Name: "rmsnorm/fwd/4x32/bf16", Bytes: 2e8, Arms: map[string]bench.Arm{"gotile": {Error: "too long"}, "copy": {Median: 50, Bytes: 2e8}, "fla": {Error: "no"}}},
			{Name: "rmsnorm/bwd/8x16/bf16", Bytes: 4e8, Arms: map[string]bench.Arm{"gotile": {Median: 100, Min: 99, Max: 101.5}, "copy2": {Median: 100, Bytes: 3e8}}},
		}}
}

func TestResultsTable(t *testing.T) {
	const head = "| rows x n, forward, bf16 | µs (min to max) | TB/s | copy, TB/s | part of it | fastest peer | its µs | our time against it |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
	const first = "| 8x16 | 100.0 (99.0 to 101.5) | 2.00 | 2.00 | 0.80 | fla | 120.0 | 0.80 |\n"
	const second = "| 4x32 | does not run |  | 4.00 |  | none runs |  |  |\n"
	for want, list := range map[string][]string{head + first + second: nil, head + second: {"4x32"}} {
		got, err := ResultsTable(measured(), kind{"fwd", "bf16"}, list)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v: %v\n%s", list, err, d)
		}
	}
	all, err := AllTables(measured())
	want := head + first + second + "\n" + strings.Replace(head, "forward", "backward", 1) +
		"| 8x16 | 100.0 (99.0 to 101.5) | 4.00 | 3.00 | 1.33 | not measured |  |  |\n" +
		"\nGPU, driver 1.2, NVRTC 13.0, commit abc, 9 rounds of 20 replays; medians.\nPeers: torch 2, fla 3.\nNote: it was hot.\n"
	if d := cmp.Diff(want, all); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	close := measured()
	close.Cases[0].Ratio["fla"] = 1.01 // within the spread of an arm
	if got, err := ResultsTable(close, kind{"fwd", "bf16"}, nil); err != nil || !strings.Contains(got, "| 1.01, no change |") {
		t.Errorf("%v\n%s", err, got)
	}
	for _, bad := range []struct {
		k    kind
		list []string
	}{{kind{"fwd", "f32"}, nil}, {kind{"fwd", "bf16"}, []string{"5x5"}}, {kind{"fwd", "bf16"}, []string{""}}} {
		if out, err := ResultsTable(measured(), bad.k, bad.list); err == nil {
			t.Errorf("no error for %v:\n%s", bad, out)
		}
	}
	if out, err := AllTables(&bench.Results{}); err == nil {
		t.Errorf("no error for no cases:\n%s", out)
	}
}

// TestPicture: the picture is XML, has a mark an arm, and each at its place.
func TestPicture(t *testing.T) {
	text, err := Picture(measured(), kind{"fwd", "bf16"}, kind{"bwd", "bf16"})
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for mark, want := range map[string]int{`<circle class="gotile"`: 1 + 2, `<path class="peer"`: 1 + 1, `<line class="copy"`: 1 + 3} { // the legend's, too
		if got := strings.Count(text, mark); got != want {
			t.Errorf("%d marks %s, want %d", got, mark, want)
		}
	}
	// 2 of 4 TB/s is the middle of the first panel's 320 pixels from 96 on.
	if want := `<circle class="gotile" cx="256.0" cy="86.0" r="4.5"/>`; !strings.Contains(text, want) {
		t.Errorf("no %s in:\n%s", want, text)
	}
	if _, err := Picture(measured(), kind{"fwd", "f32"}); err == nil {
		t.Error("no error for a kind that was not measured")
	}
}

func TestFloorsTable(t *testing.T) {
	got, err := FloorsTable(measured(), "8x16")
	want := "| pass | tensors moved | floor at 4.28 TB/s, µs | target, 0.97 of its bandwidth | measured, µs (min to max) |\n| --- | --- | --- | --- | --- |\n" +
		"| forward | x read, y written: 2 | 23.4 | 24.1 | 100.0 (99.0 to 101.5) |\n" +
		"| backward, both launches | x and dy read, dx written: 3 | 70.1 | 72.3 | 100.0 (99.0 to 101.5) |\n"
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for _, shape := range []string{"5x5", "4x32"} {
		if out, err := FloorsTable(measured(), shape); err == nil {
			t.Errorf("no error for %s, which was not measured:\n%s", shape, out)
		}
	}
}

func TestGoalsTable(t *testing.T) {
	goals := map[string]*bench.Goal{"rmsnorm/fwd/8x16/bf16": {Copy: 0.9, Peers: 1}, "rmsnorm/bwd/8x16/bf16": {Copy: 0.97, Peers: 1}}
	const head = "| pass | rows x n | part of copy | asked | time against the fastest peer | asked |\n| --- | --- | --- | --- | --- | --- |\n"
	got, err := GoalsTable(measured(), goals)
	want := head + "| forward, bf16 | 8x16 | **0.800** | 0.90 | 0.800 of fla | 1.00 |\n" +
		"| backward, bf16 | 8x16 | 1.333 | 0.97 | not measured | 1.00 |\n"
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	level := measured()
	level.Cases[0].Ratio["fla"] = 1.01 // within the spread of an arm
	got, err = GoalsTable(level, map[string]*bench.Goal{"rmsnorm/fwd/8x16/bf16": {Peers: 1}})
	if want := head + "| forward, bf16 | 8x16 | 0.800 |  | **1.010** of fla, no change | 1.00 |\n"; err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, bad := range []map[string]*bench.Goal{nil, {"rmsnorm/fwd/4x32/bf16": {Copy: 1}}} {
		if out, err := GoalsTable(measured(), bad); err == nil {
			t.Errorf("no error for %v:\n%s", bad, out)
		}
	}
}

func TestMissing(t *testing.T) {
	got := Missing(measured(), []string{
		"rmsnorm/fwd/8x16/bf16", "rmsnorm/fwd/4x32/bf16", "rmsnorm/fwd/2x64/bf16", "rmsnorm/bwd/8x16/bf16", "rmsnorm/bwd/4x32/bf16",
		"rmsnorm/gated_fwd/8x16/bf16", "rmsnorm/gated_fwd/4x32/bf16", "other",
	})
	want := "| not measured | rows x n |\n| --- | --- |\n| forward, bf16 | 4x32, 2x64 |\n| backward, bf16 | 4x32 |\n| gated forward, bf16 | all 2 |\n" +
		"| backward, bf16, peers | 8x16 |\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestEarlierPeers(t *testing.T) {
	before := measured()
	before.Commit = "old"
	before.Cases[0].Arms["fla"] = bench.Arm{Median: 1} // not asked for: the present run has a peer
	const head = "| pass | rows x n | µs | fastest peer, earlier | its µs | our time against it |\n| --- | --- | --- | --- | --- | --- |\n"
	for peer, last := range map[float64]string{80: "80.0 | **1.250**", 125: "125.0 | 0.800"} {
		before.Cases[2].Arms["fla"], before.Cases[2].Arms["torch"] = bench.Arm{Median: peer}, bench.Arm{Median: 130}
		got, err := EarlierPeers(measured(), before)
		if want := head + "| backward, bf16 | 8x16 | 100.0 | fla | " + last + " |\n"; err != nil || got != want {
			t.Errorf("%v\n%s", err, got)
		}
	}
	if out, err := EarlierPeers(measured(), measured()); err == nil {
		t.Errorf("no error where there is no such peer:\n%s", out)
	}
}

func TestBudgetTable(t *testing.T) {
	got, err := BudgetTable(measured(), "8x16") // 1e8 and 3e8 bytes are 23.36 and 70.09 µs at 4.28 TB/s
	want := "| 8x16 | its bytes at 4.28 TB/s, µs | launch and latency, as of a copy, µs | our own, µs | together, µs | fastest peer | its µs |\n" +
		"| --- | --- | --- | --- | --- | --- | --- |\n" +
		"| forward, bf16 | 23.36 | 26.64 | 50.00 | 100.00 | fla | 120.00 |\n| backward, bf16 | 70.09 | 29.91 | 0.00 | 100.00 | not measured |  |\n"
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for _, shape := range []string{"5x5", "4x32"} {
		if out, err := BudgetTable(measured(), shape); err == nil {
			t.Errorf("no error for %s, which was not measured:\n%s", shape, out)
		}
	}
}
