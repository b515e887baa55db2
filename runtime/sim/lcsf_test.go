//go:build !gotilegen

package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

// A deadlock of the template names the functions of its author that load, compute and store, not the line of Record.
func TestLinesOfTemplate(t *testing.T) {
	var load, chunk, store int
	line := func() int { return ir.Here(1).Frame().Line }
	define := func(k *tile.Builder, a pipeArgs) {
		tile.LCSF[rowSlot, rowSlot]{
			Work:  tile.Linear(a.X.Dim(0), 1),
			Input: rowSlot{A: tile.NewShared[tile.I32](k, pipeCols)}, Stages: 2,
			Output: rowSlot{A: tile.NewShared[tile.I32](k, pipeCols)}, OutStages: 2, Consumers: 1,
			Load: func(p tile.Warp, in rowSlot, r tile.Piece, _ tile.Index) {
				load = line() - 1
				tile.CopyAsync(in, in.A, a.X.At(r.Row))
			},
			Compute: func(c tile.Warpgroup, _ tile.Piece) tile.Steps[rowSlot, rowSlot] {
				return tile.Steps[rowSlot, rowSlot]{Chunk: func(in, out rowSlot, _ tile.Index) {
					chunk = line() - 1
					x := tile.Load(c, in.A, c.Striped(pipeCols, 1))
					tile.Store(c, out.A, x.Add(x))
				}}
			},
			Store: func(s tile.Warp, out rowSlot, r tile.Piece, _ tile.Index) {
				store = line() - 1
				tile.Store(s, a.Y.At(r.Row), tile.Load(s, out.A, s.Striped(pipeCols, 1)))
			},
		}.Record(k)
	}
	k := compiled(t, "sm_90a", define, tile.Threads(192))
	runPipe(t, k, 5, pipeCols, sim.Options{})
	for bar, lines := range map[string][]*int{"pipe_full": {&load, &chunk}, "pipe_empty": {&load}, "pipe2_full": {&chunk, &store}} {
		low := *k.low
		low.Body = edit(low.Body, func(s thr.Stmt) []thr.Stmt { // nobody arrives there
			if d, ok := s.(thr.Do); ok && d.Bar != nil && d.Bar.Name == bar && d.Fn.Arrives() {
				return nil
			}
			return []thr.Stmt{s}
		})
		_, err := recompiled(t, &low).run(t, 1, map[string]int{"rows": 5, "n": pipeCols}, map[string][]int32{"x": counting(5 * pipeCols)}, sim.Options{})
		var e *sim.Errors
		if !errors.As(err, &e) || !e.Has(sim.Deadlock) {
			t.Errorf("without arrivals at %s: %v", bar, err)
			continue
		}
		for _, n := range lines {
			if want := fmt.Sprintf("at lcsf_test.go:%d for", *n); !strings.Contains(e.Error(), want) {
				t.Errorf("without arrivals at %s there is no %q in\n%v", bar, want, e)
			}
		}
	}
}
