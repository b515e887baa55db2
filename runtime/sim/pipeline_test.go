package sim_test

import (
	"encoding/binary"
	"fmt"
	"testing"

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
	}, []tile.Option{tile.Threads(96)}},
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
	}, []tile.Option{tile.Threads(128)}},
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
	}, []tile.Option{tile.Threads(160)}},
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
	}, []tile.Option{tile.Threads(64)}},
}

// Pipelines are right for any trip count, however and whenever the copies arrive: by bulk copies, by cp.async where the
// target has no others, and through registers where the rows are not aligned.
func TestPipelines(t *testing.T) {
	for _, c := range pipelines {
		for _, target := range []string{"sm_90a", "sm_80"} {
			t.Run(c.name+"/"+target, func(t *testing.T) {
				k, err := tile.Define("pipes", c.define, c.opts...)
				if err != nil {
					t.Fatal(err)
				}
				low, err := k.Lower(target)
				if err != nil {
					t.Fatal(err)
				}
				p, err := sim.Compile(low)
				if err != nil {
					t.Fatal(err)
				}
				for _, trips := range []int{0, 1, c.stages - 1, c.stages, c.stages + 1, 4*c.stages + 1} {
					for _, n := range []int{pipeCols, pipeCols - 4, pipeCols - 3} {
						for mode := sim.BySeed; mode <= sim.AtRandom; mode++ {
							runPipe(t, p, trips, n, sim.Options{Copies: mode, Seed: uint64(trips)})
						}
					}
				}
			})
		}
	}
}

// runPipe runs one block on trips rows of n elements.
func runPipe(t *testing.T, p *sim.Program, trips, n int, o sim.Options) {
	t.Helper()
	what := fmt.Sprintf("%d rows of %d, copies %v", trips, n, o.Copies)
	mem := sim.NewMemory(false)
	bytes := max(16, 4*trips*n)
	x, _ := mem.Alloc(bytes)
	y, _ := mem.Alloc(bytes)
	in, _ := mem.Bytes(x, bytes)
	for i := range trips * n {
		binary.LittleEndian.PutUint32(in[4*i:], uint32(i+1))
	}
	var args []byte
	for _, v := range []uint64{x, y, uint64(n), uint64(n)} {
		args = binary.LittleEndian.AppendUint64(args, v)
	}
	args = binary.LittleEndian.AppendUint32(args, uint32(trips))
	args = binary.LittleEndian.AppendUint32(args, uint32(n))
	if _, err := p.Run(t.Context(), mem, 1, args, o); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	out, _ := mem.Bytes(y, bytes)
	for i := range trips * n {
		if got, want := binary.LittleEndian.Uint32(out[4*i:]), uint32(2*(i+1)); got != want {
			t.Fatalf("%s: element %d is %d, want %d", what, i, got, want)
		}
	}
}
