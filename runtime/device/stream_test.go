package device

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

func TestStreamsAndEvents(t *testing.T) {
	other := opened(t, "sim")
	each(t, func(t *testing.T, d *Device) {
		s, f := must(d.NewStream()), must(d.Load(scaleKernel()))
		x := must(NewTensor(d, dtype.F32, scaleThreads))
		ok(t, UploadFloats(s, x, make([]float64, scaleThreads)))
		start := must(s.Record())
		ok(t, s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 1, scaleThreads})))
		end := must(s.Record())
		ok(t, d.Stream().Wait(end))
		ok(t, d.Stream().Sync(background))
		ok(t, end.Sync(background))
		if dt, err := end.Since(start); err != nil || dt < 0 || dt > time.Minute {
			t.Errorf("between two events: %v, %v", dt, err)
		}
		foreign := must(other.Stream().Record())
		is(t, s.Wait(foreign), ErrWrongDevice)
		_, err := end.Since(foreign)
		is(t, err, ErrWrongDevice)
		ok(t, start.Close())
		ok(t, start.Close())
		_, err = end.Since(start)
		is(t, err, ErrClosed)
		is(t, start.Sync(background), ErrClosed)
		is(t, s.Wait(start), ErrClosed)
		ok(t, end.Close())
		ok(t, s.Close())
		ok(t, s.Close())
		is(t, s.Sync(background), ErrClosed, "Sync on a stream")
		if err := d.Stream().Close(); err == nil {
			t.Error("the default stream can be closed")
		}
		ok(t, d.Stream().Sync(background))
	})
}

// While one goroutine waits, the stream is taken: everything else on it is refused, not queued.
func TestStreamIsForOneGoroutine(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	f, b, s := must(d.Load(scaleKernel())), must(d.Alloc(8)), must(d.NewStream())
	drv.Hold(true)
	ctx, cancel := context.WithCancel(background)
	waiting := make(chan error)
	go func() { waiting <- s.Sync(ctx) }()
	for drv.Count("cuStreamQuery") == 0 {
		runtime.Gosched()
	}
	var a scaleArgs
	_, record := s.Record()
	for _, err := range []error{
		s.Launch(f, 1, unsafe.Pointer(&a)), s.Sync(background), s.Fill(b, 0, 8, 0), s.CopyIn(b, 0, make([]byte, 8)), record, s.Close(),
		UploadFloats(s, must(View(b, 0, dtype.F32, []int{2}, nil)), make([]float64, 2)),
	} {
		is(t, err, ErrConcurrent, "NewStream")
	}
	cancel()
	is(t, <-waiting, context.Canceled, "wait abandoned")
	drv.Hold(false)
	ok(t, s.Sync(background)) // the stream is free again and the work was not lost
}

func TestSyncAbandons(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	e := must(d.Stream().Record())
	drv.Hold(true)
	ctx, cancel := context.WithTimeout(background, 5*time.Millisecond)
	defer cancel()
	is(t, d.Stream().Sync(ctx), context.DeadlineExceeded)
	is(t, e.Sync(ctx), context.DeadlineExceeded)
	if n := drv.Count("cuStreamSynchronize"); n != 0 {
		t.Errorf("a wait that can be cancelled called cuStreamSynchronize %d times", n)
	}
	go func() {
		time.Sleep(3 * time.Millisecond)
		drv.Hold(false)
	}()
	live, stop := context.WithCancel(background)
	defer stop()
	ok(t, d.Stream().Sync(live))
	ok(t, e.Close())
}

// Goroutines with streams of their own share a device; a kernel is compiled once for all.
func TestConcurrentUse(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		k := scaleKernel()
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 20 {
					s := must(d.NewStream())
					x := must(NewTensor(d, dtype.F32, 3))
					ok(t, UploadFloats(s, x, []float64{1, float64(g), float64(i)}))
					ok(t, s.Launch(must(d.Load(k)), 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 2, 3})))
					if y := must(DownloadFloats(s, x)); y[0] != 2 || y[1] != float64(2*g) || y[2] != float64(2*i) {
						t.Errorf("goroutine %d: %v", g, y)
					}
					ok(t, x.Close())
					ok(t, s.Close())
				}
			})
		}
		wg.Wait()
		if n := d.Launches()["scale"]; n != 160 {
			t.Errorf("%d launches", n)
		}
	})
}

// Close may meet streams at work: it waits for the call under way, later ones are refused.
func TestCloseDuringUse(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	f := must(d.Load(scaleKernel()))
	var wg sync.WaitGroup
	var refused atomic.Int64
	for range 4 {
		s := must(d.NewStream())
		wg.Go(func() {
			for {
				x, err := NewTensor(d, dtype.F32, 1)
				if err == nil {
					if err = s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 1, 0})); err == nil {
						err = s.Sync(background)
					}
					x.Close()
				}
				if err != nil {
					if errors.Is(err, ErrClosed) {
						refused.Add(1)
					} else {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	time.Sleep(2 * time.Millisecond)
	ok(t, d.Close())
	wg.Wait()
	if live := drv.Live(); len(live) != 0 || refused.Load() != 4 {
		t.Errorf("not given back: %v; %d of 4 goroutines refused", live, refused.Load())
	}
}

func TestSimulatedLaunchEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(background)
	d := opened(t, "sim", WithContext(ctx))
	f := must(d.Load(scaleKernel()))
	cancel()
	err := d.Stream().Launch(f, 1<<20, unsafe.Pointer(&scaleArgs{}))
	is(t, err, context.Canceled, "scale", "grid 1048576")
	if len(d.Launches()) != 0 {
		t.Error("the launch is counted")
	}
}

func TestSimulatorReportsThroughLaunch(t *testing.T) {
	d := opened(t, "sim")
	x := must(NewTensor(d, dtype.F32, 4))
	err := d.Stream().Launch(must(d.Load(scaleKernel())), 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 1, 5}))
	var e *Error
	if !errors.As(err, &e) || e.Kernel != "scale" || e.Grid != 1 || len(e.Args) != 24 || e.Async || e.Code != driver.Success {
		t.Fatalf("%#v", err)
	}
	is(t, err, e, "launch of scale (grid 1): helpers_test.go", "out of bounds")
	ok(t, d.Stream().Sync(background)) // a report does not make the device unusable
}
