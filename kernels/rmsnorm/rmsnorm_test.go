//go:build !gotilegen

package rmsnorm

import (
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }

// The simulator holds 8 blocks at once, fewer than two groups of rows of the stripes that wide rows have. With more
// there are several, each of several rows.
func TestGroupsOfWideRows(t *testing.T) {
	var all []problem
	for _, types := range pairs {
		all = append(all, problem{shape: shape{rows: 9, n: 16400}, x: types.x, w: types.w}.variants()...)
	}
	check(t, device.SimConfig{SMs: 16}, all)
}

// check runs problems on a simulator.
func check(t *testing.T, config device.SimConfig, all []problem) {
	t.Helper()
	d, err := device.Open("sim", device.WithSim(config))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, p := range all {
		c := tiletest.Case{Name: p.String(), Run: p.check}
		if r := c.Exec(t.Context(), d, 1); r.Err != nil || r.Skipped != "" {
			t.Errorf("%s: %v %s", r.Case, r.Err, r.Skipped)
		}
	}
}

// The longest f32 rows that a ring takes are four chunks of each block, and the ring holds six. In three rows slots come
// round; of the last blocks of the cluster one has a part of its columns, and others none.
func TestRingOfFourChunks(t *testing.T) {
	check(t, device.SimConfig{}, []problem{{shape: shape{rows: 3, n: 70000}, x: dtype.F32, w: dtype.F32}})
}

// Uneven shares: too few rows for them, just enough, and so many that the second half of the blocks has several each.
func TestUnevenShares(t *testing.T) {
	var all []problem
	for _, rows := range []int{1, 8, 40, 95, 96, 97, 200, 777} {
		p := problem{shape: shape{rows: rows, n: 1000}, x: dtype.F32, w: dtype.F32}
		all = append(all, p, p.variants()[1])
	}
	check(t, device.SimConfig{SMs: 4}, all)
}
