//go:build !gotilegen

package rmsnorm

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/bench"
)

// TestSuite runs every pass on the simulator, on rows that end within a vector, too: checked arms have times.
func TestSuite(t *testing.T) {
	dir := t.TempDir()
	o := bench.Options{Device: "sim", Plan: bench.Plan{Rounds: 1, Replays: 1}, Out: dir, Selection: bench.Selection{Shapes: []string{"5x512", "2x70", "4x1"}}}
	var out bytes.Buffer
	if err := bench.Run(t.Context(), Suite(), o, &out); err != nil {
		t.Fatal(err)
	}
	r, err := bench.Read(filepath.Join(dir, "sim", "rmsnorm.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != 3*2*len(passes) {
		t.Errorf("%d cases", len(r.Cases))
	}
	for _, c := range r.Cases {
		if len(c.Arms) != 2 || c.Base != "gotile" {
			t.Errorf("%s: arms %v", c.Name, c.Arms)
		}
		for name, a := range c.Arms {
			if a.Error != "" || a.Median <= 0 {
				t.Errorf("%s: %s: %+v", c.Name, name, a)
			}
		}
	}
}

// TestReference shows that the checks bite: swapped contenders have errors.
func TestReference(t *testing.T) {
	s := Suite()
	real := s.Benchmarks
	s.Benchmarks = func(sel bench.Selection) ([]bench.Benchmark, error) {
		all, err := real(sel)
		for i := range all {
			setup := all[i].Setup
			all[i].Setup = func(s *bench.Setup) ([]bench.Contender, error) {
				c, err := setup(s)
				if err == nil {
					c[0].Launch, c[1].Launch = c[1].Launch, c[0].Launch
				}
				return c, err
			}
		}
		return all, err
	}
	dir := t.TempDir()
	o := bench.Options{Device: "sim", Plan: bench.Plan{Rounds: 1, Replays: 1}, Out: dir, Selection: bench.Selection{Shapes: []string{"4x64"}}}
	if err := bench.Run(t.Context(), s, o, &bytes.Buffer{}); !errors.Is(err, bench.ErrWrong) || !strings.Contains(err.Error(), "rmsnorm/fwd/4x64/bf16") {
		t.Errorf("error %v", err)
	}
	r, err := bench.Read(filepath.Join(dir, "sim", "rmsnorm.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cases {
		for name, a := range c.Arms {
			if !strings.Contains(a.Error, "wrong: ") || a.Median != 0 {
				t.Errorf("%s: %s passes for another's work: %+v", c.Name, name, a)
			}
		}
	}
}

func TestBenchmarks(t *testing.T) {
	all, err := benchmarks(bench.Selection{})
	if err != nil || len(all) != len(shapes)*len(dtypes)*len(passes) {
		t.Fatalf("%d benchmarks, %v", len(all), err)
	}
	byName := map[string]bench.Benchmark{}
	for _, b := range all {
		byName[b.Name] = b
	}
	const mega, w, rstd = 32768 * 4096 * 2, 4096 * 2, 32768 * 4
	for name, want := range map[string]int{
		"rmsnorm/fwd/32768x4096/bf16": 2*mega + w + rstd, "rmsnorm/bwd/32768x4096/bf16": 3*mega + 2*w + rstd,
		"rmsnorm/add_fwd/32768x4096/bf16": 4*mega + w + rstd, "rmsnorm/add_bwd/32768x4096/f32": 8*mega + 4*w + rstd,
	} {
		if got := byName[name].Bytes; got != want {
			t.Errorf("%s: %d bytes, want %d", name, got, want)
		}
	}
	for _, sel := range []bench.Selection{{Shapes: []string{"4096"}}, {Shapes: []string{"0x8"}}, {Shapes: []string{"3x5"}}, {DTypes: []string{"f8"}}} {
		if _, err := benchmarks(sel); err == nil {
			t.Errorf("%v is taken", sel)
		}
	}
}

// The program of the peers knows this suite's families and passes.
func TestPeerProgram(t *testing.T) {
	p := Suite().Peers
	if _, err := fs.Stat(p.Files, p.Main); err != nil {
		t.Error(err)
	}
	text, err := fs.ReadFile(p.Files, "suite_rmsnorm.py")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, pass := range passes {
		names = append(names, pass.name)
	}
	for _, f := range p.Families {
		names = append(append(names, f.Name), f.Arms...)
	}
	for _, name := range names {
		if !strings.Contains(string(text), `"`+name+`"`) {
			t.Errorf("suite_rmsnorm.py does not know %s", name)
		}
	}
}
