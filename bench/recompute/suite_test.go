//go:build !gotilegen

package recompute

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/dtype"
)

// TestSuite runs the arms on the simulator: gradients are the same, memory is not.
func TestSuite(t *testing.T) {
	dir := t.TempDir()
	o := bench.Options{Device: "sim", Plan: bench.Plan{Rounds: 1, Replays: 1}, Out: dir, Selection: bench.Selection{Shapes: []string{"2x32"}}}
	if err := bench.Run(t.Context(), Suite(), o, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	r, err := bench.Read(filepath.Join(dir, "sim", "recompute.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != 1 {
		t.Fatalf("%d cases", len(r.Cases))
	}
	for _, c := range r.Cases {
		if len(c.Arms) != len(arms) || c.Base != "saveall" || c.Groups != 1 {
			t.Errorf("%s: base %s, %d groups, arms %v", c.Name, c.Base, c.Groups, c.Arms)
		}
		for name, a := range c.Arms {
			if a.Error != "" || a.Median <= 0 {
				t.Errorf("%s: %s: %+v", c.Name, name, a)
			}
		}
		save, again := c.Arms["saveall"].Figures, c.Arms["recompute"].Figures
		if save["replays"] != 0 || again["replays"] != 2*blockCount || again["launches"] != save["launches"]+2*blockCount {
			t.Errorf("%s: %v, recomputed %v: each op is replayed once", c.Name, save, again)
		}
		if again["peak_bytes"] >= save["peak_bytes"] {
			t.Errorf("%s: recomputing takes %v bytes, saving all %v", c.Name, again["peak_bytes"], save["peak_bytes"])
		}
		for _, strategy := range []string{"saveall", "recompute"} {
			eager, graph := c.Arms[strategy].Figures, c.Arms[strategy+"_graph"].Figures
			if graph["nodes"] < graph["launches"] || graph["launches"] != eager["launches"] || graph["peak_bytes"] != eager["peak_bytes"] {
				t.Errorf("%s: the graph of %s has %v, its launches %v", c.Name, strategy, graph, eager)
			}
		}
	}
}

// Gradients that differ from the first arm's in one bit are no result, and end the run with an error.
func TestGradientsDiffer(t *testing.T) {
	s := Suite()
	s.Benchmarks = func(bench.Selection) ([]bench.Benchmark, error) {
		p := problem{blocks: 1, rows: 2, n: 32, dt: dtype.BF16}
		return []bench.Benchmark{{Name: "recompute/step", Setup: func(s *bench.Setup) ([]bench.Contender, error) {
			m, c, err := p.contenders(s)
			if err == nil {
				last := m.want[len(m.want)-1]
				last[len(last)-1] ^= 1
			}
			return c, err
		}}}, nil
	}
	dir := t.TempDir()
	o := bench.Options{Device: "sim", Plan: bench.Plan{Rounds: 1, Replays: 1}, Out: dir}
	err := bench.Run(t.Context(), s, o, &bytes.Buffer{})
	if !errors.Is(err, bench.ErrWrong) || !strings.Contains(err.Error(), "recompute_graph of recompute/step") {
		t.Errorf("error %v", err)
	}
	r, err := bench.Read(filepath.Join(dir, "sim", "recompute.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range r.Cases[0].Arms {
		if !strings.Contains(a.Error, "gradient 2 differs") || a.Median != 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestSelection(t *testing.T) {
	if all, err := benchmarks(bench.Selection{}); err != nil || len(all) != len(shapes) {
		t.Errorf("%d benchmarks, %v", len(all), err)
	}
	for _, sel := range []bench.Selection{{Shapes: []string{"4096"}}, {Shapes: []string{"0x8"}}, {DTypes: []string{"f16"}}, {DTypes: []string{"f8"}}} {
		if _, err := benchmarks(sel); err == nil {
			t.Errorf("%v is taken", sel)
		}
	}
}
