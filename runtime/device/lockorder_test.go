package device

import (
	"errors"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// within ends a test whose goroutines wait for each other: cleanups would wait as well.
func within(limit time.Duration, do func()) {
	late := time.AfterFunc(limit, func() { panic("goroutines wait for each other") })
	defer late.Stop()
	do()
}

// Whatever the goroutines of a device do when it is closed, nobody waits for somebody who waits for him: streams that
// allocate, wait for events and launch graphs, and graphs that are closed.
func TestCloseWaitsForNobodyWhoWaits(t *testing.T) {
	each(t, func(t *testing.T, first *Device) {
		k := scaleKernel()
		for range 30 {
			d := first
			if d.Kind() == CUDA {
				d = openFake(t, newFake(fake.H200))
			} else {
				d = opened(t, "sim")
			}
			f := must(d.Load(k))
			var wg sync.WaitGroup
			started := make(chan struct{}, 4)
			loop := func(s *Stream, do func() error) {
				wg.Go(func() {
					started <- struct{}{}
					for {
						if err := do(); err != nil {
							is(t, err, ErrClosed)
							return
						}
					}
				})
			}
			a, b := must(d.NewStream()), must(d.NewStream())
			e := must(a.Record())
			launch := func(s *Stream) error { return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{})) }
			loop(a, func() error {
				x, err := a.NewTensor(dtype.F32, 4)
				return errors.Join(err, x.Close())
			})
			loop(b, func() error { return b.Wait(e) })
			loop(nil, func() error { return e.Sync(background) })
			s := must(d.NewStream())
			g := must(s.Capture(func() error { return launch(s) }))
			replays := must(d.NewStream())
			loop(replays, func() error {
				if err := g.Launch(replays); err != nil && !errors.Is(err, ErrClosed) {
					return err
				}
				return launch(replays)
			})
			for range cap(started) {
				<-started
			}
			wg.Go(func() { ok(t, g.Close()) })
			within(20*time.Second, func() {
				ok(t, d.Close())
				wg.Wait()
			})
		}
	})
}

// An event that is closed during a call on it is destroyed after the call.
func TestEventClosedInUse(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	drv.Hold(true)
	for _, call := range []func(e *Event) error{
		func(e *Event) error { return e.Sync(t.Context()) },
		func(e *Event) error {
			s := must(d.NewStream())
			return errors.Join(s.Wait(e), s.Close(), e.Sync(t.Context()))
		},
	} {
		e := must(d.Stream().Record())
		before := drv.Count("cuEventQuery")
		done := make(chan error)
		go func() { done <- call(e) }()
		for drv.Count("cuEventQuery") == before {
			time.Sleep(time.Millisecond)
		}
		ok(t, e.Close())
		is(t, d.Stream().Wait(e), ErrClosed)
		if n := drv.Live()["event"]; n != 1 {
			t.Errorf("%d events while one is waited for", n)
		}
		drv.Hold(false)
		ok(t, <-done)
		if n := drv.Live()["event"]; n != 0 {
			t.Errorf("%d events stay", n)
		}
		drv.Hold(true)
	}
	drv.Hold(false)
}
