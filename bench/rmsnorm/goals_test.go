//go:build !gotilegen

package rmsnorm

import (
	"fmt"
	"testing"

	"github.com/gotile/gotile/bench"
)

// TestGoals holds the committed results against what was asked of them: a part of a copy's bandwidth, and to be faster
// than every peer. Goals that are missed are logged; docs/performance.md says why. A result that falls behind a goal
// that was reached fails, and so does an arm of ours without a time.
func TestGoals(t *testing.T) {
	r, err := bench.Read("../results/h200/rmsnorm.json")
	if err != nil {
		t.Fatal(err)
	}
	type goal struct{ copy, peers float64 } // at least this part of the copy's bandwidth; at most this part of a peer's time
	reached := map[string]goal{
		"fwd/32768x1024": {0.95, 1}, "fwd/32768x2048": {0.97, 1}, "fwd/32768x4096": {0.97, 1}, "fwd/16384x8192": {0.97, 1.01},
		"fwd/8192x16384": {0.97, 1}, "fwd/4096x32768": {0.97, 1},
		"bwd/4096x512": {0, 1}, "bwd/32768x1024": {0, 1}, "bwd/32768x2048": {0, 1}, "bwd/32768x4096": {0, 1}, "bwd/16384x8192": {0, 1},
		"bwd/8192x16384": {0, 1.01}, "bwd/4096x32768": {0, 1}, "bwd/4096x65536": {0, 1}, "bwd/2048x131072": {0, 1},
	}
	asked := map[string]*bench.Goal{}
	all, err := benchmarks(bench.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		asked[b.Name] = b.Goal
	}
	cases := map[string]bench.Case{}
	for _, c := range r.Cases {
		cases[c.Name] = c
		if a := c.Arms["gotile"]; a.Error != "" || a.Median <= 0 {
			t.Errorf("%s: %+v", c.Name, a)
		}
	}
	copies := map[string]string{"fwd": "copy", "bwd": "copy2"}
	for _, pass := range []string{"fwd", "bwd"} {
		for _, s := range shapes {
			name := fmt.Sprintf("%s/%v", pass, s)
			c, ok := cases["rmsnorm/"+name+"/bf16"]
			if !ok || len(c.Arms) < 4 {
				t.Errorf("%s is not measured beside peers", name)
				continue
			}
			want := asked[c.Name]
			if want == nil {
				t.Errorf("nothing is asked of %s", name)
				continue
			}
			part := c.Bandwidth("gotile") / c.Bandwidth(copies[pass])
			peer, worst := "", 0.0
			for arm, ratio := range c.Ratio {
				if arm != copies[pass] && ratio > worst {
					peer, worst = arm, ratio
				}
			}
			if g := reached[name]; part < g.copy || g.peers > 0 && worst > g.peers {
				t.Errorf("%s falls behind: %.3f of %s, %.3f of the time of %s; it had reached %+v", name, part, copies[pass], worst, peer, g)
			}
			if part < want.Copy {
				t.Logf("missed: %s: %.3f of %s, asked for %.2f", name, part, copies[pass], want.Copy)
			}
			if worst > want.Peers {
				t.Logf("missed: %s: %.3f of the time of %s", name, worst, peer)
			}
		}
	}
}
