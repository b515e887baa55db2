//go:build !gotilegen

package gemm

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/gemm"
)

func options(dir string, shapes ...string) bench.Options {
	return bench.Options{Device: "sim", Plan: bench.Plan{Rounds: 1, Replays: 1}, Out: dir, Selection: bench.Selection{Shapes: shapes}}
}

// TestSuite runs all forms on the simulator: checked arms have times.
func TestSuite(t *testing.T) {
	dir := t.TempDir()
	var shapes []string
	for _, f := range gemm.Forms {
		shapes = append(shapes, f.String()+"/136x72x40", f.String()+"/7x5x3")
	}
	if err := bench.Run(t.Context(), Suite(), options(dir, shapes...), &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	r, err := bench.Read(filepath.Join(dir, "sim", "gemm.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != len(shapes) {
		t.Errorf("%d cases of %d", len(r.Cases), len(shapes))
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

// TestChecksBite has the product computed in another form.
func TestChecksBite(t *testing.T) {
	s := Suite()
	real := s.Benchmarks
	s.Benchmarks = func(sel bench.Selection) ([]bench.Benchmark, error) {
		all, err := real(sel)
		for i := range all {
			all[i].Checks = problem{form: gemm.TT, m: 64, n: 64, k: 64, dt: dtype.BF16}.checks
		}
		return all, err
	}
	if err := bench.Run(t.Context(), s, options(t.TempDir(), "NN/64x64x64"), &bytes.Buffer{}); !errors.Is(err, bench.ErrWrong) {
		t.Errorf("error %v", err)
	}
}

func TestSelection(t *testing.T) {
	all, err := benchmarks(bench.Selection{})
	if err != nil || len(all) != len(shapes)*len(dtypes) || all[0].Name != "gemm/NT/4096x4096x4096/bf16" {
		t.Errorf("%d benchmarks, error %v", len(all), err)
	}
	for _, c := range []struct {
		sel  bench.Selection
		want string
	}{
		{bench.Selection{Shapes: []string{"4096x4096x4096"}}, `-shapes: "4096x4096x4096": want FORM/MxNxK`},
		{bench.Selection{Shapes: []string{"NT/0x1x1"}}, "-shapes"},
		{bench.Selection{Shapes: []string{"NT/1x1x1x1"}}, "-shapes"},
		{bench.Selection{DTypes: []string{"i32"}}, `-dtypes: "i32"; have bf16, f16`},
	} {
		if _, err := benchmarks(c.sel); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %s", c.sel, err, c.want)
		}
	}
}
