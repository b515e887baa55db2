//go:build unix

package sim

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/gotile/gotile/tile"
)

// The asynchronous mixes sum the columns of rows of f32, which come by bulk copies through a pipeline, by cp.async through
// a ring.
const (
	streamRows, streamCols, streamStages = 256, 1024, 4
	streamBlocks                         = 4
)

type streamArgs struct {
	X tile.Global[tile.F32] `tile:"rows,1024"`
	Y tile.Global[tile.F32] `tile:"parts,1024"`
}

type streamSlot struct {
	tile.Slot
	X tile.Shared[tile.F32]
}

// streamed is a mix of a kernel: its tensors lie as the arguments do, of a block a part.
func streamed(t testing.TB, body func(k *tile.Builder, a streamArgs), opts ...tile.Option) mix {
	k, err := tile.Define("stream", body, append(opts, tile.WholeVectors())...)
	if err != nil {
		t.Fatal(err)
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	return mix{kernel: low, grid: streamBlocks, bytes: []int{4 * streamRows * streamCols, 4 * streamBlocks * streamCols},
		rest: []uint64{streamCols, streamCols, streamRows | streamBlocks<<32}, copied: 4 * streamRows * streamCols}
}

func pipelineMix(t testing.TB) mix {
	return streamed(t, func(k *tile.Builder, a streamArgs) {
		pipe := tile.NewPipeline(k, streamStages, streamSlot{X: tile.NewShared[tile.F32](k, streamCols)})
		work := k.Schedule(tile.Linear(a.X.Dim(0), streamRows/streamBlocks))
		k.Roles(tile.Producer(0, func(p tile.Warp) {
			for t := range work.Tiles(p) {
				for row := range tile.Range(p, t.Row, t.Row.AddInt(streamRows/streamBlocks), 1) {
					s := pipe.Acquire(p)
					tile.CopyAsync(s, s.X, a.X.Row(row))
				}
			}
		}), tile.ConsumerGroup(256, 0, func(c tile.Group) {
			for t := range work.Tiles(c) {
				sum := tile.NewVar(c, tile.Full(c, c.Striped(streamCols, 4), tile.F32(0)))
				for range tile.Range(c, 0, streamRows/streamBlocks, 1) {
					s := pipe.Wait(c)
					sum.Set(sum.Get().Add(tile.Load(c, s.X, c.Striped(streamCols, 4))))
					s.Release(c)
				}
				tile.Store(c, a.Y.Row(t.Item), sum.Get())
			}
		}))
	}, tile.Threads(288))
}

func ringMix(t testing.TB) mix {
	return streamed(t, func(k *tile.Builder, a streamArgs) {
		block, work := k.Block(), k.Schedule(tile.Linear(a.X.Dim(0), streamRows/streamBlocks))
		span := block.Striped(streamCols, 4)
		ring := tile.NewShared[tile.F32](k, streamStages, streamCols)
		for t := range work.Tiles(block) {
			sum := tile.NewVar(block, tile.Full(block, span, tile.F32(0)))
			for i := range streamStages - 1 {
				tile.CopyAsync(block, ring.At(i), a.X.Row(t.Row.AddInt(i)))
				tile.Commit(block)
			}
			for i := range tile.Range(block, 0, streamRows/streamBlocks, 1) {
				tile.WaitGroup(block, streamStages-2)
				next := i.AddInt(streamStages - 1)
				tile.If(block, next.LtInt(streamRows/streamBlocks), func() {
					tile.CopyAsync(block, ring.At(next.RemInt(streamStages)), a.X.Row(t.Row.Add(next)))
				})
				tile.Commit(block)
				sum.Set(sum.Get().Add(tile.Load(block, ring.At(i.RemInt(streamStages)), span)))
			}
			tile.WaitGroup(block, 0)
			tile.Store(block, a.Y.Row(t.Item), sum.Get())
		}
	}, tile.Threads(256))
}

// BenchmarkPipeline, BenchmarkRing report the time of a lane operation, copies and all, and of a byte copied.
func BenchmarkPipeline(b *testing.B) { bench(b, pipelineMix(b)) }
func BenchmarkRing(b *testing.B)     { bench(b, ringMix(b)) }

// The mixes compute what they should, whenever copies arrive: what is timed is no kernel that fails early.
func TestStreamedMixes(t *testing.T) {
	for name, x := range map[string]mix{"pipeline": pipelineMix(t), "ring": ringMix(t)} {
		p, err := Compile(x.kernel)
		if err != nil {
			t.Fatal(err)
		}
		for mode := Early; mode <= AtRandom; mode++ {
			m := NewMemory(false)
			in, data := output(t, m, x.bytes[0])
			out, sums := output(t, m, x.bytes[1])
			for i := range streamRows * streamCols {
				binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(1+i%streamCols)))
			}
			if _, err := p.Run(t.Context(), m, x.grid, words(append([]uint64{in, out}, x.rest...)...), Options{Copies: mode}); err != nil {
				t.Fatalf("%s, copies %v: %v", name, mode, err)
			}
			for i, got := range u32s(sums) {
				if want := math.Float32bits(float32((1 + i%streamCols) * streamRows / streamBlocks)); got != want {
					t.Fatalf("%s, copies %v: sum %d is %v", name, mode, i, math.Float32frombits(got))
				}
			}
		}
	}
}
