package worker

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/gotile/gotile/internal/progress"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// runner runs cases on a few devices, which are one GPU. A case has a device to itself: what it launched is known from
// the device's counts. Most of a case is work of the host (data, references, comparisons), which several cases do at the
// same time on as many cores.
type runner struct {
	devices []*device.Device
	mu      sync.Mutex          // held to take devices, so that who needs all gets them
	free    chan *device.Device // those without a case
	task    *progress.Task      // the cases, where somebody watches
}

// openRunner opens a GPU n times. The devices share their compiled kernels, and compile all of them: receipts name the
// compiler.
func openRunner(name, target string, n int) (*runner, error) {
	r := &runner{free: make(chan *device.Device, n)}
	images := &device.Images{}
	for range n {
		d, err := device.Open(name, device.WithTarget(target), device.WithImages(images), device.WithoutEmbedded())
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.devices = append(r.devices, d)
		r.free <- d
	}
	return r, nil
}

func (r *runner) close() error {
	var errs []error
	for _, d := range r.devices {
		errs = append(errs, d.Close())
	}
	return errors.Join(errs...)
}

// maxCompilers bounds the compilations at a time: each takes some 100 MB.
const maxCompilers = 16

// compile compiles kernels before cases launch them, at which each would be compiled by itself. One that does not
// compile is passed over: the cases that launch it fail, and say why.
func (r *runner) compile(ctx context.Context, kernels []*device.Kernel, task *progress.Task) {
	parallel(ctx, len(kernels), min(maxCompilers, cores()), func(i int) {
		task.Begin(kernels[i].Name)
		defer task.Done(kernels[i].Name)
		_ = r.devices[0].Compile(kernels[i])
	})
}

// take waits until a device is free, or all are.
func (r *runner) take(all bool) []*device.Device {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []*device.Device{<-r.free}
	for all && len(out) < len(r.devices) {
		out = append(out, <-r.free)
	}
	return out
}

func (r *runner) give(devices []*device.Device) {
	for _, d := range devices {
		r.free <- d
	}
}

// results are the results of the cases, in the order of the table and as of a run of one case after the other. It ends
// when ctx is done; when it has ended no case is running.
func (r *runner) results(ctx context.Context, cases []tiletest.Case, seed uint64) iter.Seq[tiletest.Result] {
	return func(yield func(tiletest.Result) bool) {
		ctx, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		done := make([]chan tiletest.Result, len(cases))
		for i := range done {
			done[i] = make(chan tiletest.Result, 1)
		}
		running.Go(func() {
			for i, c := range cases {
				devices := r.take(c.Alone)
				if ctx.Err() != nil {
					r.give(devices)
					return
				}
				running.Go(func() {
					defer close(done[i])
					r.task.Begin(c.Name)
					defer r.task.Done(c.Name)
					res, again := r.exec(ctx, c, devices, seed)
					if again {
						res, _ = r.exec(ctx, c, r.take(true), seed)
					}
					done[i] <- res
				})
			}
		})
		for i, c := range cases {
			var res tiletest.Result
			ok := false
			select {
			case res, ok = <-done[i]:
			case <-ctx.Done():
			}
			if ctx.Err() != nil { // the case may have been cut off
				return
			}
			if !ok {
				res = tiletest.Result{Case: c.Name, Err: errors.New("the case ended its goroutine (runtime.Goexit, testing's FailNow): return an error instead")}
			}
			if !yield(res) {
				return
			}
		}
	}
}

// exec runs a case on the first of the devices that it was given, and gives them back. One that has run out of memory
// beside others is to be run again, alone.
func (r *runner) exec(ctx context.Context, c tiletest.Case, devices []*device.Device, seed uint64) (res tiletest.Result, again bool) {
	defer r.give(devices)
	alone := len(devices) == len(r.devices)
	if alone && len(devices) > 1 {
		trim(devices)
		defer trim(devices[:1])
	}
	res = c.Exec(ctx, devices[0], seed)
	return res, !alone && errors.Is(res.Err, device.ErrOutOfMemory)
}

// trim gives the memory that idle devices keep back to the GPU, for another of them. A device that cannot is lost, as
// its next case will say.
func trim(devices []*device.Device) {
	for _, d := range devices {
		_, _ = d.Trim()
	}
}
