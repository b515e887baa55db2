package sim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

// handOver is a producer warp that copies rows to a tile and two consumer warps that double them, by mbarriers written by
// hand. The functions say what is done at each step, right or wrong.
type handOver struct {
	arrivals int                                                     // that empty takes
	parity   func(fill tile.Index) tile.Index                        // of the wait for full
	expect   func(p tile.Warp, full tile.MBarrier, bytes tile.Index) // with the copy
	empty    func(c tile.Warp, empty tile.MBarrier)                  // when a row is read
}

func rightHandOver() handOver {
	return handOver{
		arrivals: 2,
		parity:   func(fill tile.Index) tile.Index { return fill.RemInt(2) },
		expect:   func(p tile.Warp, full tile.MBarrier, bytes tile.Index) { full.ArriveExpect(p, bytes) },
		empty:    func(c tile.Warp, empty tile.MBarrier) { empty.ArriveOnce(c) },
	}
}

func (h handOver) define(k *tile.Builder, a pipeArgs) {
	s := tile.NewShared[tile.I32](k, pipeCols).Manual()
	full, empty := tile.NewMBarriers(k, 1, 1).At(0), tile.NewMBarriers(k, 1, h.arrivals).At(0)
	k.Roles(tile.Producer(0, func(p tile.Warp) {
		for row := range tile.Range(p, 0, a.X.Dim(0), 1) {
			empty.Wait(p, row.AddInt(1).RemInt(2))
			h.expect(p, full, tile.CopyBulk(p, s, a.X.Row(row), full))
		}
	}), tile.ConsumerWarps(2, 0, func(c tile.Warp) {
		half := c.Index().Scale(pipeCols / 2)
		for row := range tile.Range(c, 0, a.X.Dim(0), 1) {
			full.Wait(c, h.parity(row))
			x := tile.Load(c, s.At(half), c.Striped(pipeCols/2, 1))
			h.empty(c, empty)
			tile.Store(c, a.Y.At(row, half), x.Add(x))
		}
	}))
}

// What the text does not show to be wrong about mbarriers the simulator reports, whenever the copies come, with the line of
// an op of theirs.
func TestPhaseMisuse(t *testing.T) {
	right := rightHandOver()
	for _, c := range []struct {
		name  string
		kinds []sim.Kind // one of them; nil: right
		with  func(h *handOver)
	}{
		{"right", nil, func(h *handOver) {}},
		{"the same parity each time", []sim.Kind{sim.MissedPhase, sim.InFlight, sim.Race, sim.Deadlock, sim.Uninitialised}, func(h *handOver) {
			h.parity = func(fill tile.Index) tile.Index { return fill.Scale(0) }
		}},
		{"the parity of the phase before", []sim.Kind{sim.MissedPhase, sim.InFlight, sim.Race, sim.Deadlock, sim.Uninitialised}, func(h *handOver) {
			h.parity = func(fill tile.Index) tile.Index { return right.parity(fill.AddInt(1)) }
		}},
		{"fewer arrivals than a phase takes", []sim.Kind{sim.Deadlock}, func(h *handOver) { h.arrivals = 3 }},
		{"more arrivals than a phase takes", []sim.Kind{sim.BadBarrier, sim.MissedPhase, sim.Race, sim.InFlight}, func(h *handOver) { h.arrivals = 1 }},
		{"one consumer arrives", []sim.Kind{sim.Deadlock}, func(h *handOver) {
			h.empty = func(c tile.Warp, empty tile.MBarrier) {
				tile.If(c, c.Index().EqInt(0), func() { right.empty(c, empty) })
			}
		}},
		{"more bytes than the copy has", []sim.Kind{sim.Deadlock}, func(h *handOver) {
			h.expect = func(p tile.Warp, full tile.MBarrier, bytes tile.Index) { right.expect(p, full, bytes.AddInt(16)) }
		}},
		{"fewer bytes than the copy has", []sim.Kind{sim.WrongBytes, sim.Deadlock}, func(h *handOver) {
			h.expect = func(p tile.Warp, full tile.MBarrier, bytes tile.Index) { right.expect(p, full, bytes.SubInt(16)) }
		}},
		{"bytes without an arrival", []sim.Kind{sim.Deadlock}, func(h *handOver) {
			h.expect = func(p tile.Warp, full tile.MBarrier, bytes tile.Index) {
				full.Expect(p, bytes)
				tile.If(p, bytes.LtInt(0), func() { full.ArriveOnce(p) })
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := rightHandOver()
			c.with(&h)
			k := compiled(t, "sm_90a", h.define, tile.Threads(96), tile.WholeVectors())
			for _, mode := range modes {
				for seed := range uint64(4) {
					_, err := k.run(t, 1, map[string]int{"rows": 5, "n": pipeCols}, map[string][]int32{"x": counting(5 * pipeCols)}, sim.Options{Copies: mode, Seed: seed})
					if c.kinds == nil {
						if err != nil {
							t.Fatalf("copies %v: %v", mode, err)
						}
						continue
					}
					var e *sim.Errors
					found := errors.As(err, &e)
					if found {
						found = false
						for _, kind := range c.kinds {
							found = found || e.Has(kind)
						}
					}
					if !found || !strings.Contains(err.Error(), "misuse_test.go:") {
						t.Errorf("copies %v, seed %d: no %v: %v", mode, seed, c.kinds, err)
					}
				}
			}
		})
	}
}
