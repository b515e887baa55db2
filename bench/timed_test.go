package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Contenders that do the timing themselves have figures, which see the median; one whose figures find it wrong has no
// time, and the run ends with an error.
func TestTimedContenders(t *testing.T) {
	took := func(us ...float64) func(context.Context, int) (float64, error) {
		i := -1 // the first warms up
		return func(_ context.Context, n int) (float64, error) {
			i++
			return float64(n) * us[max(i-1, 0)%len(us)], nil
		}
	}
	figures := func(_ context.Context, us float64) (map[string]float64, error) {
		return map[string]float64{"half": us / 2}, nil
	}
	wrong := func(context.Context, float64) (map[string]float64, error) {
		return nil, fmt.Errorf("%w: nothing fits", ErrWrong)
	}
	s := Suite{Name: "timed", Benchmarks: func(Selection) ([]Benchmark, error) {
		return []Benchmark{{Name: "timed/one", Goal: &Goal{Above: map[string]float64{"slow": 1}}, Setup: func(s *Setup) ([]Contender, error) {
			if s.Groups != 1 {
				return nil, fmt.Errorf("%d groups of no inputs", s.Groups)
			}
			return []Contender{
				{Name: "quick", Time: took(3, 4, 8), Figures: figures}, {Name: "slow", Time: took(5, 10, 15)},
				{Name: "wrong", Time: took(1), Figures: wrong}, {Name: "unable", Err: errors.New("no device")},
			}, nil
		}}}, nil
	}}
	dir := t.TempDir()
	file := filepath.Join(dir, "bench.txt")
	err := Run(t.Context(), s, Options{Device: "sim", Plan: Plan{Rounds: 3, Replays: 2}, Out: dir, Benchfmt: file}, &bytes.Buffer{})
	if !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), "wrong of timed/one") {
		t.Errorf("error %v", err)
	}
	r, err := Read(filepath.Join(dir, "sim", "timed.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := r.Cases[0]
	if q := c.Arms["quick"]; q.Median != 4 || q.Min != 3 || q.Max != 8 || q.Figures["half"] != 2 || c.Arms["slow"].Figures != nil {
		t.Errorf("%+v", c.Arms)
	}
	if w := c.Arms["wrong"]; w.Median != 0 || w.Error != "wrong: nothing fits" || c.Arms["unable"].Error != "no device" {
		t.Errorf("%+v", c.Arms)
	}
	if !strings.Contains(r.Host, "GOMAXPROCS") || c.Goal.Above["slow"] != 1 {
		t.Errorf("host %q, goal %v", r.Host, c.Goal)
	}
	if above, ok := c.Above("slow", "quick"); !ok || above != 6 { // of 2, 6 and 7
		t.Errorf("%v, %v above", above, ok)
	}
	if _, ok := c.Above("slow", "wrong"); ok {
		t.Error("compared with an arm without a time")
	}
	if text := string(r.Benchfmt()); !strings.Contains(text, "BenchmarkTimed/one/arm=quick 1 3000 ns/op 2 half\n") {
		t.Errorf("benchfmt:\n%s", text)
	}
}
