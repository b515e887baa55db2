//go:build !gotilegen

package sim_test

import (
	"errors"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

// The planner's barriers within a role are named ones of its own, on the way round a loop too: without any of them the
// tile that the role's threads share is a race, with the lines of both sides.
func TestBarriersOfRoles(t *testing.T) {
	var put, take int
	line := func() int { return ir.Here(1).Frame().Line }
	define := func(k *tile.Builder, a pipeArgs) {
		s := tile.NewShared[tile.I32](k, pipeCols)
		k.Roles(tile.ConsumerGroup(64, 0, func(c tile.Group) {
			for row := range tile.Range(c, 0, a.X.Dim(0), 1) {
				put = line() + 1
				tile.Store(c, s, tile.Load(c, a.X.At(row), c.Striped(pipeCols, 1)))
				take = line() + 1
				x := tile.Load(c, s, c.Striped(pipeCols, 4)) // of other threads
				tile.Store(c, a.Y.At(row), x.Add(x))
			}
		}), tile.ConsumerWarps(1, 0, func(tile.Warp) {}))
	}
	k := compiled(t, "sm_90a", define, tile.Threads(96))
	runPipe(t, k, 5, pipeCols, sim.Options{})
	for i := 0; ; i++ {
		low := *k.low
		if !withoutSync(&low, thr.NamedSync, i) {
			if i != 2 {
				t.Errorf("%d barriers, want one behind the store and one behind the load", i)
			}
			return
		}
		found := false
		for seed := range uint64(8) {
			_, err := recompiled(t, &low).run(t, 1, map[string]int{"rows": 5, "n": pipeCols}, map[string][]int32{"x": counting(5 * pipeCols)}, sim.Options{Seed: seed})
			var e *sim.Errors
			if !errors.As(err, &e) {
				t.Fatalf("without barrier %d: silent", i)
			}
			for _, r := range e.Reports {
				at, other := r.Pos.Frame().Line, r.Other.Frame().Line
				found = found || r.Kind == sim.Race && (at == put && other == take || at == take && other == put)
			}
		}
		if !found {
			t.Errorf("without barrier %d: no race at lines %d and %d", i, put, take)
		}
	}
}
