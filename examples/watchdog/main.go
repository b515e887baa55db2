// Command watchdog launches a kernel whose warps wait for one another for ever, if it is asked to, and shows what tells
// why: on the simulator, which finds a deadlock by itself, and on a GPU, where device.WithWatchdog does. The kernel is a
// ring of stages between a producer and two consumers, with mbarriers written by hand; a tile.Pipeline cannot be wrong in
// this way. docs/debugging.md shows the tables.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"structs"
	"time"
	"unsafe"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile"
)

func main() {
	err := run(context.Background(), os.Stdout, os.Args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintf(os.Stderr, "watchdog: %v\n", err)
	if errors.Is(err, device.ErrDeadlock) {
		os.Exit(2)
	}
	os.Exit(1)
}

type args struct {
	X, Y tile.Global[tile.F32] `tile:"rows,n"`
}

const (
	stages = 3
	chunk  = 256 // columns of a stage
	half   = chunk / 2
)

// The mistakes, by name.
const (
	copies  = "copy"    // the last fill expects the bytes of a copy that is not made
	arrives = "arrive"  // the last fill is copied, and nobody says so
	release = "release" // the consumers do not say that they have read the first fill
)

// ring is y = 2 x, where mistake is empty.
func ring(mistake string) (*tile.Kernel, error) {
	return tile.Define("ring", func(k *tile.Builder, a args) {
		n := a.X.Dim(1)
		x := tile.NewShared[tile.F32](k, stages, chunk).Manual()
		full, empty := tile.NewMBarriers(k, stages, 1), tile.NewMBarriers(k, stages, 2)
		work := k.Schedule(tile.Linear(a.X.Dim(0), 1))
		k.Roles(tile.Producer(0, func(p tile.Warp) {
			fills := tile.NewVar(p, tile.I32(0))
			for t := range work.Tiles(p) {
				for col := range tile.Range(p, 0, n, chunk) {
					i := tile.AsIndex(fills.Get())
					stage, parity := i.RemInt(stages), i.DivInt(stages).AddInt(1).RemInt(2)
					empty.At(stage).Wait(p, parity) // the first ones pass
					last := col.AddInt(chunk).Ge(n)
					fill := func() tile.Index { return tile.CopyBulk(p, x.At(stage), a.X.At(t.Row, col), full.At(stage)) }
					arrive := func() { full.At(stage).ArriveExpect(p, fill()) }
					switch mistake {
					case copies:
						tile.If(p, last, func() { full.At(stage).ArriveExpect(p, 4*chunk) }, arrive)
					case arrives:
						tile.If(p, last, func() { full.At(stage).Expect(p, fill()) }, arrive)
					default:
						arrive()
					}
					fills.Set(fills.Get().Add(tile.I32(1)))
				}
			}
		}), tile.ConsumerWarps(2, 0, func(c tile.Warp) {
			mine := c.Index().Scale(half)
			fills := tile.NewVar(c, tile.I32(0))
			for t := range work.Tiles(c) {
				for col := range tile.Range(c, 0, n, chunk) {
					i := tile.AsIndex(fills.Get())
					stage, parity := i.RemInt(stages), i.DivInt(stages).RemInt(2)
					full.At(stage).Wait(c, parity)
					y := tile.Load(c, x.At(stage, mine), c.Striped(half, 4))
					done := func() { empty.At(stage).ArriveOnce(c) }
					if mistake == release {
						tile.If(c, i.GtInt(0), done)
					} else {
						done()
					}
					tile.Store(c, a.Y.At(t.Row, col.Add(mine)), y.Add(y))
					fills.Set(fills.Get().Add(tile.I32(1)))
				}
			}
		}))
	}, tile.Threads(96), tile.WholeVectors(), tile.Targets("sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a"))
}

func run(ctx context.Context, stdout io.Writer, flags []string) error {
	fs := flag.NewFlagSet("watchdog", flag.ContinueOnError)
	fs.SetOutput(stdout)
	name := fs.String("device", "sim", "`device`: sim, cuda:0, ...")
	mistake := fs.String("mistake", "", "what is wrong: copy, arrive or release; empty: nothing, and the kernel is timed")
	bound := fs.Duration("bound", time.Second, "longest that a warp may wait")
	rows := fs.Int("rows", 8, "rows of the tensor")
	if err := fs.Parse(flags); err != nil {
		return err
	}
	if !slices.Contains([]string{"", copies, arrives, release}, *mistake) {
		return fmt.Errorf("-mistake %s: there are %s, %s and %s", *mistake, copies, arrives, release)
	}
	if *mistake == "" { // the same kernel without a watchdog, for its time
		if err := launch(ctx, stdout, *name, "", *rows, 0); err != nil {
			return err
		}
	}
	return launch(ctx, stdout, *name, *mistake, *rows, *bound)
}

const n = 8 * chunk

// launch runs the kernel on a device of its own, with a watchdog where bound is not 0, checks the result and times it.
func launch(ctx context.Context, stdout io.Writer, name, mistake string, rows int, bound time.Duration) (err error) {
	k, err := ring(mistake)
	if err != nil {
		return err
	}
	d, err := device.Open(name, device.WithWatchdog(bound))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	f, err := load(d, k)
	if err != nil {
		return err
	}
	x, err := device.NewTensor(d, dtype.F32, rows, n)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := device.NewTensor(d, dtype.F32, rows, n)
	if err != nil {
		return err
	}
	defer y.Close()
	values := make([]tile.F32, rows*n)
	for i := range values {
		values[i] = tile.F32(i)
	}
	s := d.Stream()
	if err := device.Upload(s, x, values); err != nil {
		return err
	}
	a := arguments{x: x.Addr(), y: y.Addr(), xStride: n, yStride: n, rows: int32(rows), n: n}
	once := func() error { return s.Launch(f, min(rows, f.Blocks()), unsafe.Pointer(&a)) }
	if err := errors.Join(once(), s.Sync(ctx)); err != nil {
		return err
	}
	got := make([]tile.F32, rows*n)
	if err := device.Download(s, got, y); err != nil {
		return err
	}
	for i, v := range got {
		if v != 2*values[i] {
			return fmt.Errorf("y[%d] is %v, want %v", i, v, 2*values[i])
		}
	}
	took, err := timed(ctx, s, once)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s, watchdog %v: %d rows of %d are right; %v a launch\n", d.Info().Name, bound, rows, n, took)
	return nil
}

// timed is the shortest of several launches, each timed alone.
func timed(ctx context.Context, s *device.Stream, once func() error) (time.Duration, error) {
	shortest := time.Duration(0)
	for range 10 {
		from, err := s.Record()
		if err != nil {
			return 0, err
		}
		if err := once(); err != nil {
			return 0, err
		}
		to, err := s.Record()
		if err != nil {
			return 0, err
		}
		if err := to.Sync(ctx); err != nil {
			return 0, err
		}
		took, err := to.Since(from)
		if err := errors.Join(err, from.Close(), to.Close()); err != nil {
			return 0, err
		}
		if shortest == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest, nil
}

// arguments is the kernel's argument struct, in the order that the printed CUDA shows: pointers, strides, sizes.
type arguments struct {
	_                structs.HostLayout
	x, y             uint64
	xStride, yStride int64
	rows, n          int32
}

// load makes a kernel ready that has no generated file: a program that has one calls its launch function instead.
func load(d *device.Device, k *tile.Kernel) (*device.Func, error) {
	low, err := k.Lower(d.Target().Name)
	if err != nil {
		return nil, err
	}
	text, err := cuda.Print(low, cuda.Options{})
	if err != nil {
		return nil, err
	}
	return d.Load(&device.Kernel{Name: k.Name(), Source: text, Threads: low.Threads, Shared: low.SharedBytes, ArgBytes: low.ArgBytes,
		Build: func() (device.Program, error) { return k, nil }})
}
