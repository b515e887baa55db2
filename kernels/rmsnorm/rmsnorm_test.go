//go:build !gotilegen

package rmsnorm

import (
	"testing"

	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }

// The simulator holds 8 blocks at once, fewer than two groups of rows of the stripes that wide rows have. With more
// there are several, each of several rows.
func TestGroupsOfWideRows(t *testing.T) {
	d, err := device.Open("sim", device.WithSim(device.SimConfig{SMs: 16}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, types := range pairs {
		for _, p := range (problem{shape: shape{rows: 9, n: 16400}, x: types.x, w: types.w}).variants() {
			c := tiletest.Case{Name: p.String(), Run: p.check}
			if r := c.Exec(t.Context(), d, 1); r.Err != nil {
				t.Errorf("%s: %v", r.Case, r.Err)
			}
		}
	}
}
