//go:build !gotilegen

package recompute

import (
	"testing"

	"github.com/gotile/gotile/bench"
)

// TestGoals holds the committed results against what Recompute is for: less memory, by running each op once more.
func TestGoals(t *testing.T) {
	r, err := bench.Read("../results/h200/recompute.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) < len(shapes) {
		t.Errorf("%d cases for %d shapes", len(r.Cases), len(shapes))
	}
	for _, c := range r.Cases {
		for _, a := range arms {
			got, base := c.Arms[a.name], c.Arms["saveall"]
			if got.Error != "" || got.Median <= 0 {
				t.Errorf("%s: %s: %+v", c.Name, a.name, got)
				continue
			}
			again := a.strategy != "save-all"
			if less := got.Figures["peak_bytes"] < base.Figures["peak_bytes"]; less != again {
				t.Errorf("%s: the peak of %s is %v bytes, of saveall %v", c.Name, a.name, got.Figures["peak_bytes"], base.Figures["peak_bytes"])
			}
			if want := map[bool]float64{true: 2 * blockCount}[again]; got.Figures["replays"] != want {
				t.Errorf("%s: %s runs %v ops again, not %v", c.Name, a.name, got.Figures["replays"], want)
			}
		}
	}
}
