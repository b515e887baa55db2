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
	for name, open := range map[string]func(t *testing.T) *Device{
		"sim":  func(t *testing.T) *Device { return opened(t, "sim") },
		"fake": func(t *testing.T) *Device { return openFake(t, newFake(fake.H200)) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 30 {
				closeInUse(t, open(t))
			}
		})
	}
}

// closeInUse closes a device while goroutines use it without a pause, until they are refused.
func closeInUse(t *testing.T, d *Device) {
	t.Helper()
	f := must(d.Load(scaleKernel()))
	var wg sync.WaitGroup
	started := make(chan struct{}, 4)
	loop := func(do func() error) {
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
	a, b, s := must(d.NewStream()), must(d.NewStream()), must(d.NewStream())
	e := must(a.Record())
	launch := func() error { return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{})) }
	g := must(s.Capture(launch))
	loop(func() error {
		x, err := a.NewTensor(dtype.F32, 4)
		return errors.Join(err, x.Close())
	})
	loop(func() error { return b.Wait(e) })
	loop(func() error { return e.Sync(background) })
	loop(func() error { return errors.Join(unless(ErrClosed, g.Launch(s)), launch()) })
	for range cap(started) {
		<-started
	}
	wg.Go(func() { ok(t, g.Close()) })
	within(20*time.Second, func() {
		ok(t, d.Close())
		wg.Wait()
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
