//go:build !gotilegen

package rmsnorm

import (
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/target"
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

// Long rows have a path on every target: with clusters or without, and with as much shared memory as there is. The cases
// are of sm_90a; here is one on a target of each kind, and the longest of all where there is least.
func TestLongRowsOnEveryTarget(t *testing.T) {
	type kind struct{ cluster, shared int }
	seen := map[kind]bool{}
	for _, name := range target.Names() {
		d, err := device.Open("sim", device.WithTarget(name))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		tg := d.Target()
		k := kind{tg.Cluster, tg.Shared}
		if seen[k] {
			continue
		}
		seen[k] = true
		lengths := []int{65536}
		if tg.Cluster <= 1 && tg.Shared < 100<<10 {
			lengths = append(lengths, widest)
		}
		for _, n := range lengths {
			p := problem{shape: shape{rows: 1, n: n}, x: dtype.BF16, w: dtype.BF16}
			if r := (tiletest.Case{Name: p.String(), Run: p.check}).Exec(t.Context(), d, 1); r.Err != nil || r.Skipped != "" {
				t.Errorf("%s on %s: %v %s", r.Case, name, r.Err, r.Skipped)
			}
		}
	}
}

// A backward pass of 4096 rows of 512 elements is one launch, in all forms; one of twice as many elements and more is not.
func TestSmallBackwardIsOneLaunch(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, form := range []form{plain, added, gatedSilu} {
		for rows, want := range map[int]bool{4096: true, 8200: false} {
			a := maker{t, d}.arguments(rows, 512, form)
			p, err := planBackward(d.Stream(), a.saved, a.grads, true, smallWork)
			if err != nil || p.one != want {
				t.Errorf("form %d, %d rows: one launch: %v, want %v (%v)", form, rows, p.one, want, err)
			}
		}
	}
}
