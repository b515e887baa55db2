package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gotile/gotile/internal/progen"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/runtime/device"
)

// verification runs programs.
type verification struct {
	first, count, parallel int
	verbose                bool
	commit                 string
	stdout                 io.Writer
}

// standsFor lists a target and those that it executes by proxy.
func standsFor(own *target.Target) []string {
	out := []string{own.Name}
	for _, name := range target.Names() {
		if t, err := target.Lookup(name); err == nil && t.Proxy != "" && t.Arch == own.Arch && name != own.Name {
			out = append(out, name)
		}
	}
	return out
}

// lane is a device of each kind, on which one program runs at a time.
type lane struct{ gpu, sim *device.Device }

func openLane(name, target string, images *device.Images) (*lane, error) {
	gpu, err := device.Open(name, device.WithTarget(target), device.WithImages(images))
	if err != nil {
		return nil, err
	}
	sim, err := device.Open("sim", device.WithTarget(target), device.WithSim(device.SimConfig{Workers: 1, TrackUninitialised: true}))
	if err != nil {
		return nil, errors.Join(err, gpu.Close())
	}
	return &lane{gpu, sim}, nil
}

func (l *lane) close() error { return errors.Join(l.gpu.Close(), l.sim.Close()) }

// target runs the programs that are for a target. The error is errFailed if any differs.
func (v *verification) target(ctx context.Context, name, target string) (ran ran, err error) {
	start := time.Now()
	numbers := make(chan int)
	go func() {
		defer close(numbers)
		for i := range v.count {
			select {
			case numbers <- v.first + i:
			case <-ctx.Done():
				return
			}
		}
	}()
	var (
		images  device.Images
		running sync.WaitGroup
		mu      sync.Mutex
		failed  int
		skipped int
		broken  error
	)
	for range min(v.parallel, v.count) {
		l, err := openLane(name, target, &images)
		if err != nil {
			broken = errors.Join(broken, err)
			break
		}
		running.Go(func() {
			for i := range numbers {
				err := l.program(ctx, i)
				mu.Lock()
				switch {
				case errors.Is(err, errSkipped):
					skipped++
				case err != nil:
					failed++
					fmt.Fprintf(v.stdout, "FAIL program %d on %s: %+v\n%v\n", i, target, err, progen.Fixed(i))
				case v.verbose:
					fmt.Fprintf(v.stdout, "program %d on %s: %v\n", i, target, progen.Fixed(i))
				}
				mu.Unlock()
			}
			mu.Lock()
			defer mu.Unlock()
			broken = errors.Join(broken, l.close())
		})
	}
	running.Wait()
	if err := errors.Join(broken, ctx.Err()); err != nil {
		return ran, err
	}
	fmt.Fprintf(v.stdout, "%s: %d programs, %d not for it, %d differ\n", target, v.count, skipped, failed)
	if failed > 0 {
		return ran, errFailed
	}
	if ran, err = current(target, v.first, v.count); err != nil {
		return ran, err
	}
	ran.Seconds = time.Since(start).Round(time.Millisecond).Seconds()
	return ran, nil
}

var errSkipped = errors.New("not for this target")

// program runs one program on both devices and by the oracle.
func (l *lane) program(ctx context.Context, number int) error {
	p := progen.Fixed(number)
	if !p.Claims(l.gpu.Target()) {
		return errSkipped
	}
	k, err := p.Kernel()
	if err != nil {
		return err
	}
	means, err := p.Mean(k)
	if err != nil {
		return err
	}
	sim, gpu := p.Launch(k), p.Launch(k)
	if err := p.Run(ctx, l.sim, k, sim); err != nil {
		return fmt.Errorf("the simulator: %w", err)
	}
	if where := progen.Differ(sim, means, true); where != "" {
		return fmt.Errorf("the simulator differs from the oracle: %s", where)
	}
	if err := p.Run(ctx, l.gpu, k, gpu); err != nil {
		return fmt.Errorf("the GPU: %w", err)
	}
	if where := progen.Differ(gpu, sim, false); where != "" {
		return fmt.Errorf("the GPU differs from the simulator: %s", where)
	}
	return nil
}
