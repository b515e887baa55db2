package matrix

import (
	"testing"

	"github.com/gotile/gotile/tile/tiletest"
)

// TestSpread runs a spread of the cases on the simulator, and all of them on a GPU.
func TestSpread(t *testing.T) {
	var cases []tiletest.Case
	for _, c := range Cases() {
		if !c.Deep {
			cases = append(cases, c)
		}
	}
	t.Logf("%d of %d cases, of %d modules", len(cases), len(Cases()), len(modules()))
	tiletest.RunCases(t, cases)
}
