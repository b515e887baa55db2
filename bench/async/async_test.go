//go:build !gotilegen

package async

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }

// TestSuite runs the variants on the simulator: checked arms have times, and figures that say what they have in flight.
func TestSuite(t *testing.T) {
	dir := t.TempDir()
	o := bench.Options{Device: "sim", Plan: bench.Plan{Rounds: 1, Replays: 1}, Out: dir, Selection: bench.Selection{Shapes: []string{"40x72"}}}
	if err := bench.Run(t.Context(), Suite(), o, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	r, err := bench.Read(filepath.Join(dir, "sim", "async.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != len(blocksPerSM) {
		t.Errorf("%d cases", len(r.Cases))
	}
	for _, c := range r.Cases {
		if len(c.Arms) != len(arms)+1 || c.Base != "sync" {
			t.Errorf("%s: base %s, arms %v", c.Name, c.Base, c.Arms)
		}
		for name, a := range c.Arms {
			if a.Error != "" || a.Median <= 0 {
				t.Errorf("%s: %s: %+v", c.Name, name, a)
			}
		}
		row := c.Arms["sync"].Figures["in_flight_bytes"]
		for name, rows := range map[string]float64{"cpasync_2": 1, "cpasync_8": 7, "tma_2": 2, "tma_8": 8} {
			if got := c.Arms[name].Figures["in_flight_bytes"]; row <= 0 || got != rows*row {
				t.Errorf("%s: %s has %v bytes in flight, sync %v", c.Name, name, got, row)
			}
		}
	}
}

// TestBenchmarks sees that the working points are those that a multiprocessor holds.
func TestBenchmarks(t *testing.T) {
	all, err := benchmarks(bench.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	want := []string{
		"async/blocks1/131072x1024/bf16", "async/blocks2/131072x1024/bf16", "async/blocks3/131072x1024/bf16", "async/blocks4/131072x1024/bf16", "async/blocks8/131072x1024/bf16",
		"async/blocks1/32768x4096/bf16", "async/blocks2/32768x4096/bf16", "async/blocks3/32768x4096/bf16",
	}
	if !slices.Equal(names, want) {
		t.Errorf("benchmarks %v", names)
	}
	for p, want := range map[problem]int{{1, 4096, 1}: 7, {1, 4096, 3}: 7, {1, 4096, 4}: 0, {1, 1024, 8}: 7, {1, 1024, 12}: 4} {
		if got := p.arms(); len(got) != want || want > 0 && got[0].arm() != "sync" {
			t.Errorf("%+v: %v", p, got)
		}
	}
	for _, sel := range []bench.Selection{{Shapes: []string{"4096"}}, {Shapes: []string{"0x8"}}, {Shapes: []string{"8x12"}}, {Shapes: []string{"8x8192"}}, {DTypes: []string{"f32"}}} {
		if _, err := benchmarks(sel); err == nil {
			t.Errorf("%v is taken", sel)
		}
	}
}
