package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/runtime/sim"
	"github.com/gotile/gotile/tile"
)

type pipeArgs struct {
	X, Y tile.Global[tile.I32] `tile:"rows,n"`
}

type pipeSlot struct {
	tile.Slot
	A, B tile.Shared[tile.I32]
}

type rowSlot struct {
	tile.Slot
	A tile.Shared[tile.I32]
}

const pipeCols = 64

// pipelines are kernels that write 2x, each through a pipeline of S stages used in another way. A trip is a row.
var pipelines = []struct {
	name   string
	stages int
	define func(k *tile.Builder, a pipeArgs)
	opts   []tile.Option
	each   int  // rows a trip; 0: one
	tensor bool // it takes tensors with a tensor map only
}{
	{"two members, one released early", 3, func(k *tile.Builder, a pipeArgs) {
		pipe := tile.NewPipeline(k, 3, pipeSlot{A: tile.NewShared[tile.I32](k, pipeCols), B: tile.NewShared[tile.I32](k, pipeCols)})
		work := k.Schedule(tile.Linear(a.X.Dim(0), 1))
		k.Roles(tile.Producer(0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.A, a.X.At(t.Row))
				tile.CopyAsync(s, s.B, a.X.At(t.Row))
			}
		}), tile.ConsumerGroup(64, 0, func(c tile.Group) {
			span := c.Striped(pipeCols, 1)
			for t := range work.Tiles(c) {
				s := pipe.Wait(c)
				x := tile.Load(c, s.A, span)
				s.A.Release(c)
				y := tile.Load(c, s.B, span)
				s.Release(c)
				tile.Store(c, a.Y.At(t.Row), x.Add(y))
			}
		}))
	}, []tile.Option{tile.Threads(96)}, 0, false},
	{"two pipelines, the second filled from registers", 2, func(k *tile.Builder, a pipeArgs) {
		pipe := tile.NewPipeline(k, 2, rowSlot{A: tile.NewShared[tile.I32](k, pipeCols)})
		next := tile.NewPipeline(k, 2, rowSlot{A: tile.NewShared[tile.I32](k, pipeCols)})
		work := k.Schedule(tile.Linear(a.X.Dim(0), 1))
		k.Roles(tile.ConsumerWarps(1, 0, func(c tile.Warp) {
			for t := range work.Tiles(c) {
				s := next.Wait(c)
				tile.Store(c, a.Y.At(t.Row), tile.Load(c, s.A, c.Striped(pipeCols, 1)))
				s.Release(c)
			}
		}), tile.ConsumerGroup(64, 0, func(c tile.Group) {
			for range work.Tiles(c) {
				s := pipe.Wait(c)
				x := tile.Load(c, s.A, c.Striped(pipeCols, 1))
				s.Release(c)
				out := next.Acquire(c)
				tile.Store(c, out.A, x.Add(x))
			}
		}), tile.Producer(0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.A, a.X.At(t.Row))
			}
		}))
	}, []tile.Option{tile.Threads(128)}, 0, false},
	{"boxes of rows, of which the last is short, and two slots held", 3, func(k *tile.Builder, a pipeArgs) {
		pipe := tile.NewPipeline(k, 3, rowSlot{A: tile.NewShared[tile.I32](k, 4, pipeCols)})
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			span := c.Striped2(4, pipeCols, 1, 32)
			last := pipe.NewVar(c, pipe.Wait(c))
			for row := range tile.Range(c, 0, a.X.Dim(0), 4) {
				next, s := pipe.Wait(c), last.Get()
				x := tile.Load(c, s.A, span)
				s.Release(c)
				last.Set(next)
				tile.Store(c, a.Y.At(row), x.Add(x))
			}
			last.Get().Release(c)
		}), tile.Producer(0, func(p tile.Warp) {
			for row := range tile.Range(p, 0, a.X.Dim(0).AddInt(4), 4) {
				s := pipe.Acquire(p)
				tile.CopyAsync(s, s.A, a.X.At(row), tile.Valid(4))
			}
		}))
	}, []tile.Option{tile.Threads(160)}, 0, false},
	{"the block fills and reads", 2, func(k *tile.Builder, a pipeArgs) {
		pipe := tile.NewPipeline(k, 2, rowSlot{A: tile.NewShared[tile.I32](k, pipeCols)})
		for row := range tile.Range(k, 0, a.X.Dim(0), 1) {
			in := pipe.Acquire(k)
			tile.CopyAsync(in, in.A, a.X.At(row))
			s := pipe.Wait(k)
			x := tile.Load(k, s.A, k.Block().Striped(pipeCols, 1))
			s.Release(k)
			tile.Store(k, a.Y.At(row), x.Add(x))
		}
	}, []tile.Option{tile.Threads(64)}, 0, false},
	{"boxes with swizzles, by what the tensor allows", 2, swizzledBoxes(func(p tile.Warp, s pipeSlot, a pipeArgs, row tile.Index) {
		tile.CopyAsync(s, s.A, a.X.At(row))
		tile.CopyAsync(s, s.B, a.X.At(row))
	}), []tile.Option{tile.Threads(64)}, 8, false},
	{"boxes with swizzles, one of them in a branch", 3, swizzledBoxes(func(p tile.Warp, s pipeSlot, a pipeArgs, row tile.Index) {
		tile.CopyAsync(s, s.A, a.X.At(row))
		tile.If(p, row.RemInt(16).EqInt(0), func() {
			tile.CopyAsync(s, s.B, a.X.At(row))
		}, func() {
			tile.CopyAsync(s, s.B, a.X.At(row), tile.Valid(8))
		})
	}), []tile.Option{tile.Threads(64)}, 8, false},
	{"tensor copies alone", 3, swizzledBoxes(func(p tile.Warp, s pipeSlot, a pipeArgs, row tile.Index) {
		tile.CopyTensor(p, s.A, a.X.At(row), s)
		tile.CopyTensor(p, s.B, a.X.At(row), s)
	}), []tile.Option{tile.Threads(64)}, 8, true},
}

// swizzledBoxes doubles boxes of eight rows, of two tiles that are filled with the same.
func swizzledBoxes(fill func(p tile.Warp, s pipeSlot, a pipeArgs, row tile.Index)) func(k *tile.Builder, a pipeArgs) {
	return func(k *tile.Builder, a pipeArgs) {
		box := func(sw layout.Swizzle) tile.Shared[tile.I32] {
			return tile.NewShared[tile.I32](k, 8, pipeCols).Swizzle(sw)
		}
		pipe := tile.NewPipeline(k, 3, pipeSlot{A: box(layout.Swizzle128), B: box(layout.Swizzle32)})
		work := k.Schedule(tile.Linear(a.X.Dim(0), 8))
		k.Roles(tile.Producer(0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				fill(p, pipe.Acquire(p), a, t.Row)
			}
		}), tile.ConsumerWarps(1, 0, func(c tile.Warp) {
			span := c.Striped2(8, pipeCols, 4, 16)
			for t := range work.Tiles(c) {
				s := pipe.Wait(c)
				sum := tile.Load(c, s.A, span).Add(tile.Load(c, s.B, span))
				s.Release(c)
				tile.Store(c, a.Y.At(t.Row), sum)
			}
		}))
	}
}

// Pipelines are right for any trip count, however and whenever the copies arrive: by bulk copies and tensor copies, by
// cp.async where the target has no others, and through registers where the rows are not aligned.
func TestPipelines(t *testing.T) {
	for _, c := range pipelines {
		for _, target := range []string{"sm_90a", "sm_80"} {
			if c.tensor && target == "sm_80" {
				continue
			}
			t.Run(c.name+"/"+target, func(t *testing.T) {
				k, each := compiled(t, target, c.define, c.opts...), max(c.each, 1)
				for _, trips := range []int{0, 1, c.stages - 1, c.stages, c.stages + 1, 4*c.stages + 1} {
					for _, n := range []int{pipeCols, pipeCols - 4, pipeCols - 3} {
						if c.tensor && (trips == 0 || n%4 != 0) { // of which there is no tensor map
							continue
						}
						for _, mode := range modes {
							runPipe(t, k, max(trips*each-each/2, 0), n, sim.Options{Copies: mode, Seed: uint64(trips)})
						}
					}
				}
			})
		}
	}
}

// What is filled and not read is reported where no copy is left in flight, too: slots that stores fill, and those that one
// of two consumers reads.
func TestSlotsLeftOver(t *testing.T) {
	left := func(fewer, others int, second bool) func(k *tile.Builder, a pipeArgs) {
		return func(k *tile.Builder, a pipeArgs) {
			pipe := tile.NewPipeline(k, 4, rowSlot{A: tile.NewShared[tile.I32](k, pipeCols)})
			rows := a.X.Dim(0)
			read := func(fewer int, f func(c tile.Warp, row tile.Index, x tile.Reg[tile.I32])) tile.Role {
				return tile.ConsumerWarps(1, 0, func(c tile.Warp) {
					for row := range tile.Range(c, 0, rows.SubInt(fewer), 1) {
						s := pipe.Wait(c)
						f(c, row, tile.Load(c, s.A, c.Striped(pipeCols, 1)))
						s.Release(c)
					}
				})
			}
			roles := []tile.Role{tile.Producer(0, func(p tile.Warp) {
				for row := range tile.Range(p, 0, rows, 1) {
					s := pipe.Acquire(p)
					tile.Store(p, s.A, tile.Load(p, a.X.At(row), p.Striped(pipeCols, 1)))
				}
			}), read(fewer, func(c tile.Warp, row tile.Index, x tile.Reg[tile.I32]) { tile.Store(c, a.Y.At(row), x.Add(x)) })}
			if second {
				roles = append(roles, read(others, func(tile.Warp, tile.Index, tile.Reg[tile.I32]) {}))
			}
			k.Roles(roles...)
		}
	}
	for _, c := range []struct {
		fewer, others int
		second        bool
		want          string
	}{
		{0, 0, false, ""}, {0, 0, true, ""},
		{1, 0, false, "nobody has waited for phase 1 of pipe_full[1]: a slot is filled that nobody reads"},
		{2, 2, true, "nobody has waited for phase 1 of pipe_full[0]"},
		{0, 1, true, "the kernel ends in phase 1 of pipe_empty[1], in which 1 of 2 arrivals have come"},
	} {
		k := compiled(t, "sm_90a", left(c.fewer, c.others, c.second), tile.Threads(map[bool]int{false: 64, true: 96}[c.second]))
		for _, mode := range modes {
			_, err := k.run(t, 1, map[string]int{"rows": 6, "n": pipeCols}, map[string][]int32{"x": counting(6 * pipeCols)}, sim.Options{Copies: mode})
			var found *sim.Errors
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &found) || !found.Has(sim.MissedPhase) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%d and %d fewer, copies %v: %v, want %q", c.fewer, c.others, mode, err, c.want)
			}
		}
	}
}

// runPipe runs one block on rows of n elements.
func runPipe(t *testing.T, k launchable, rows, n int, o sim.Options) {
	t.Helper()
	what := fmt.Sprintf("%d rows of %d, copies %v", rows, n, o.Copies)
	x := counting(rows * n)
	out, err := k.run(t, 1, map[string]int{"rows": rows, "n": n}, map[string][]int32{"x": x}, o)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for i, got := range out["y"] {
		if got != 2*x[i] {
			t.Fatalf("%s: element %d is %d, want %d", what, i, got, 2*x[i])
		}
	}
}

type boxArgs struct {
	X, Y tile.Global[tile.I32] `tile:"rows,16"`
}

type fragmentSlot struct {
	tile.Slot
	A tile.Shared[tile.BF16]
}

// Tensor cores fill slots and read them: fragments are stored to a slot by stmatrix, and loaded from it by ldmatrix and as
// the operand of a product with the unit matrix.
func TestSlotsOfTensorCores(t *testing.T) {
	define := func(k *tile.Builder, a boxArgs) {
		box := tile.NewShared[tile.BF16](k, 16, 16)
		pipe := tile.NewPipeline(k, 2, fragmentSlot{A: box})
		work := k.Schedule(tile.Linear(a.X.Dim(0), 16))
		k.Roles(tile.ConsumerWarps(1, 0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				s := pipe.Acquire(p)
				x := tile.Load(p, a.X.At(t.Row), p.Fragment(16, 16)).Fill(tile.I32(0)) // StoreMatrix has no extents
				tile.StoreMatrix(p, s.A, tile.Cast[tile.BF16](tile.Cast[tile.F32](x)))
			}
		}), tile.ConsumerWarps(1, 0, func(c tile.Warp) {
			f := c.Fragment(16, 16)
			unit := tile.Cast[tile.BF16](tile.Select(tile.Coord(f, 0).Eq(tile.Coord(f, 1)), tile.Full(c, f, tile.F32(1)), tile.F32(0)))
			for t := range work.Tiles(c) {
				s := pipe.Wait(c)
				acc := tile.NewAcc[tile.F32](c, 16, 16)
				tile.MMA(acc, unit, s.A)
				x := tile.LoadMatrix(c, s.A, f)
				s.Release(c)
				tile.Store(c, a.Y.At(t.Row), tile.Cast[tile.I32](acc.Get().Add(tile.Cast[tile.F32](x))))
			}
		}))
	}
	k := compiled(t, "sm_90a", define, tile.Threads(64))
	for _, rows := range []int{0, 16, 17, 80} {
		x := counting(rows * 16)
		for i := range x {
			x[i] %= 100 // exact in bf16
		}
		for _, mode := range modes {
			out, err := k.run(t, 1, map[string]int{"rows": rows}, map[string][]int32{"x": x}, sim.Options{Copies: mode})
			if err != nil {
				t.Fatalf("%d rows: %v", rows, err)
			}
			for i, got := range out["y"] {
				if got != 2*x[i] {
					t.Fatalf("%d rows: element %d is %d, want %d", rows, i, got, 2*x[i])
				}
			}
		}
	}
}
