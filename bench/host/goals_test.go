//go:build !gotilegen

package host

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/bench"
)

// TestGoals holds the committed results against what was asked: time beyond the driver's own launch, no allocation of a
// launch. Goals of time that are missed are logged; docs/performance.md says why.
func TestGoals(t *testing.T) {
	r, err := bench.Read("../results/h200/host.json")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bench.Case{}
	for _, c := range r.Cases {
		cases[c.Name] = c
		for name, a := range c.Arms {
			if a.Error != "" || a.Median <= 0 {
				t.Errorf("%s: %s: %+v", c.Name, name, a)
			}
		}
	}
	all, err := benchmarks(bench.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		c, ok := cases[b.Name]
		if !ok {
			t.Errorf("%s is not measured", b.Name)
			continue
		}
		for name, a := range c.Arms {
			if launch := name == "launch" || name == "wrapper" || name == armDriver || name == armC; launch && a.Figures["allocs"] != 0 {
				t.Errorf("%s: %s allocates %v objects", b.Name, name, a.Figures["allocs"])
			}
		}
		if b.Goal == nil {
			continue
		}
		for other, most := range b.Goal.Above {
			for arm := range c.Arms {
				if !strings.HasPrefix(arm, c.Base) { // apply_untracked is to be as quick as apply
					continue
				}
				if above, ok := c.Above(arm, other); !ok {
					t.Errorf("%s lacks what its goal compares", b.Name)
				} else if above > most {
					t.Logf("missed: %s: %s takes %.2f µs more than %s, asked for %.1f", b.Name, arm, above, other, most)
				}
			}
		}
	}
}
