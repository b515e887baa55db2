//go:build !gotilegen

package host

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/data"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/driver"
)

// batch is how many launches are timed at a time. The driver makes the host wait when some thousand are queued; between
// batches the queue is emptied, outside of the time.
const batch = 256

// timed is what a batch of is timed, by the host's clock.
type timed struct {
	s      *device.Stream
	before func() error // a batch, outside of the time; nil: nothing
	each   func() error
	after  func() error
	pinned bool // on one thread
}

// contender times the mean of a batch, n times.
func (b timed) contender(name string) bench.Contender {
	return bench.Contender{Name: name, Time: b.time, Figures: b.figures}
}

func (b timed) time(ctx context.Context, n int) (float64, error) {
	var all time.Duration
	for range n {
		t, _, err := b.batch(ctx)
		if err != nil {
			return 0, err
		}
		all += t
	}
	return float64(all) / float64(time.Microsecond) / batch, nil
}

// batch is the time of one, and how many objects it allocates.
func (b timed) batch(ctx context.Context) (took time.Duration, allocs uint64, err error) {
	if b.pinned {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	if b.before != nil {
		if err := b.before(); err != nil {
			return 0, 0, err
		}
	}
	if err := b.s.Sync(ctx); err != nil {
		return 0, 0, err
	}
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	start := time.Now()
	for range batch {
		if err = b.each(); err != nil {
			break
		}
	}
	took = time.Since(start)
	runtime.ReadMemStats(&is)
	if b.after != nil {
		err = errors.Join(err, b.after())
	}
	return took, is.Mallocs - was.Mallocs, errors.Join(err, b.s.Sync(ctx))
}

// figures are the objects that one of a batch allocates: the least of some batches, as other goroutines may allocate
// meanwhile, and without fractions, as testing.AllocsPerRun has it.
func (b timed) figures(ctx context.Context, _ float64) (map[string]float64, error) {
	const batches = 5
	var least uint64
	for i := range batches {
		_, allocs, err := b.batch(ctx)
		if err != nil {
			return nil, err
		}
		if i == 0 || allocs < least {
			least = allocs
		}
	}
	return map[string]float64{"allocs": float64(least / batch)}, nil
}

func setupLaunch(s *bench.Setup) ([]bench.Contender, error) {
	f, err := loadEmpty(s.Stream)
	if err != nil {
		return nil, err
	}
	wrapper, err := wrapped(s)
	return append(launches(s.Stream, f), wrapper), err
}

// wrapped is a contender that launches by a function of a package of kernels: a generated one, which checks the tensors
// and chooses the kernel, behind one that is written by hand.
func wrapped(s *bench.Setup) (bench.Contender, error) {
	const rows, n = 4, 64
	var in rmsnorm.Inputs
	var out rmsnorm.Outputs
	for i, x := range []*device.Tensor{&in.X, &in.W, &out.Y, &out.Rstd} {
		var err error
		if *x, err = data.Input(s, dtype.F32, i, 0, [][]int{{rows, n}, {n}, {rows, n}, {rows}}[i]...); err != nil {
			return bench.Contender{}, err
		}
	}
	in.Eps = 1e-6
	return timed{s: s.Stream, each: func() error { return rmsnorm.Forward(s.Stream, in, out) }}.contender("wrapper"), nil
}

// launches are the contenders that launch a kernel of the empty one's arguments.
func launches(s *device.Stream, f *device.Func) []bench.Contender {
	args := &words{1, 2, 3, 4}
	launch := timed{s: s, each: func() error { return s.Launch(f, 1, unsafe.Pointer(args)) }}
	return append([]bench.Contender{launch.contender("launch")}, driverLaunches(s, f)...)
}

func loadEmpty(s *device.Stream) (*device.Func, error) {
	k, err := emptyKernel(s.Device())
	if err != nil {
		return nil, err
	}
	return s.Device().Load(k)
}

// driverLaunches are the contenders that launch the empty kernel without runtime/device.
func driverLaunches(s *device.Stream, f *device.Func) []bench.Contender {
	unable := func(err error) []bench.Contender {
		return []bench.Contender{{Name: armDriver, Err: err}, {Name: armC, Err: err}}
	}
	ctx, err := s.Device().Context()
	if err != nil {
		return unable(err)
	}
	fn, err := f.Handle()
	if err != nil {
		return unable(err)
	}
	handle, err := s.Handle()
	if err != nil {
		return unable(err)
	}
	args := &words{1, 2, 3, 4}
	config := driver.LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{emptyThreads, 1, 1}, Stream: handle}
	direct := timed{s: s, each: func() error { return ctx.Launch(fn, config, unsafe.Pointer(args)) }}
	list := []bench.Contender{direct.contender(armDriver)}
	call, err := rawLaunch(fn, config, unsafe.Pointer(args))
	if err != nil {
		return append(list, bench.Contender{Name: armC, Err: err})
	}
	raw := timed{s: s, pinned: true, each: call, before: func() error {
		_, err := ctx.QueryStream(handle) // makes the context current on this thread, where it stays
		return err
	}}
	return append(list, raw.contender(armC))
}

// resultError is what libcuda's function returned.
func resultError(r uintptr) error {
	if r != 0 {
		return fmt.Errorf("cuLaunchKernel: %w", driver.Result(r))
	}
	return nil
}
