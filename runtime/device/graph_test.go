package device

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// A graph does when it is replayed what was queued, on what memory holds then, and launches are counted then.
func TestGraph(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		s, k := d.Stream(), scaleKernel()
		x, y, z := must(NewTensor(d, dtype.F32, 4)), must(NewTensor(d, dtype.F32, 4)), must(NewTensor(d, dtype.F32, 4))
		ok(t, UploadFloats(s, x, []float64{1, 2, 3, 4}))
		ok(t, UploadFloats(s, y, []float64{9, 9, 9, 9}))
		g := must(s.Capture(func() error {
			f, err := d.Load(k) // within the capture
			if err != nil {
				return err
			}
			a := scaleArgs{x.Addr(), y.Addr(), 2, 4}
			err = errors.Join(s.Launch(f, 1, unsafe.Pointer(&a)), s.Fill(z.Buffer(), 0, 16, 0), s.Copy(z.Buffer(), 0, y.Buffer(), 0, 12))
			a = scaleArgs{z.Addr(), z.Addr(), 10, 4}
			err = errors.Join(err, s.Launch(f, 1, unsafe.Pointer(&a)))
			a = scaleArgs{}
			return err
		}))
		if got := must(DownloadFloats(s, y)); got[0] != 9 || len(d.Launches()) != 0 {
			t.Errorf("the capture ran: y = %v, launches %v", got, d.Launches())
		}
		if g.Nodes() != 4 || !maps.Equal(g.Kernels(), map[string]int{"scale": 2}) || g.String() != "a graph of 4 nodes (2 scale)" {
			t.Errorf("%s: %d nodes, kernels %v", g, g.Nodes(), g.Kernels())
		}
		for i := 1; i <= 3; i++ {
			v := float64(i)
			ok(t, UploadFloats(s, x, []float64{v, v, v, v}))
			ok(t, g.Launch(s))
			if got := must(DownloadFloats(s, z)); !slices.Equal(got, []float64{20 * v, 20 * v, 20 * v, 0}) {
				t.Errorf("replay %d: z = %v", i, got)
			}
			if n := d.Launches()["scale"]; n != 2*i {
				t.Errorf("replay %d: %d launches", i, n)
			}
		}
		// Another stream replays as well, and the stream is as it was.
		s2 := must(d.NewStream())
		ok(t, g.Launch(s2))
		ok(t, s2.Sync(background))
		ok(t, s.Sync(background))
		ok(t, g.Close())
		ok(t, g.Close())
		is(t, g.Launch(s), ErrClosed, "graph")
		ok(t, s2.Close())
	})
}

// What no graph can hold is refused, by name, and the capture fails even where the error is dropped.
func TestCaptureRefuses(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		s, other := d.Stream(), must(d.NewStream())
		f, x := must(d.Load(scaleKernel())), must(NewTensor(d, dtype.F32, 4))
		e := must(s.Record())
		g := must(s.Capture(func() error { return nil }))
		if g.Nodes() != 0 {
			t.Errorf("nothing was captured, yet %s", g)
		}
		ok(t, g.Launch(s))
		b, host := x.Buffer(), make([]byte, 16)
		for call, do := range map[string]func() error{
			"Alloc":        func() error { _, err := d.Alloc(8); return err },
			"Buffer.Close": b.Close,
			"NewStream":    func() error { _, err := d.NewStream(); return err },
			"Stream.Close": other.Close,
			"Record":       func() error { _, err := other.Record(); return err },
			"Wait":         func() error { return s.Wait(e) },
			"Sync":         func() error { return s.Sync(background) },
			"Event.Sync":   func() error { return e.Sync(background) },
			"Event.Since":  func() error { _, err := e.Since(e); return err },
			"Event.Close":  e.Close,
			"CopyIn":       func() error { return s.CopyIn(b, 0, host) },
			"CopyOut":      func() error { return other.CopyOut(host, b, 0) },
			"Upload":       func() error { return UploadFloats(s, x, make([]float64, 4)) },
			"Download":     func() error { _, err := DownloadFloats(s, x); return err },
			"Capture":      func() error { _, err := other.Capture(func() error { return nil }); return err },
			"Graph.Launch": func() error { return g.Launch(s) },
			// On another stream: it would run now, and not with the graph.
			"Launch":      func() error { return other.Launch(f, 1, unsafe.Pointer(&scaleArgs{})) },
			"Fill":        func() error { return other.Fill(b, 0, 8, 0) },
			"Copy":        func() error { return other.Copy(b, 0, b, 8, 8) },
			"Graph.Close": g.Close,
			"Close":       d.Close,
		} {
			var refused error
			_, err := s.Capture(func() error {
				refused = do()
				return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{}))
			})
			is(t, refused, ErrCapture, call+": ", d.Name())
			if call != "Close" {
				is(t, err, ErrCapture, call+": ")
			}
		}
		if n := d.Drain(); n != 0 || len(d.Launches()) != 0 {
			t.Errorf("%d handles, launches %v", n, d.Launches())
		}
		// All is as it was.
		ok(t, s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 1, 4})))
		ok(t, errors.Join(s.Sync(background), b.Close(), e.Close(), other.Close(), g.Close()))
	})
}

// queue's error and a failed launch end the capture; a panic does, too.
func TestCaptureFails(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		s, f := d.Stream(), must(d.Load(scaleKernel()))
		failure := errors.New("no")
		if _, err := s.Capture(func() error { return failure }); err != failure {
			t.Errorf("error %v", err)
		}
		func() {
			defer func() {
				if recover() != "stop" {
					t.Error("the panic is gone")
				}
			}()
			s.Capture(func() error { panic("stop") })
		}()
		g := must(s.Capture(func() error { return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{})) }))
		ok(t, g.Launch(s))
		ok(t, g.Close())
		is(t, g.Launch(s), ErrClosed)
		is(t, must(opened(t, "sim").Stream().Capture(func() error { return nil })).Launch(s), ErrWrongDevice)
	})
}

// A kernel that fails within a graph is named.
func TestGraphErrors(t *testing.T) {
	d := opened(t, "sim")
	s, f, x := d.Stream(), must(d.Load(scaleKernel())), must(NewTensor(d, dtype.F32, 4))
	g := must(s.Capture(func() error { return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 1, 5})) }))
	var e *Error
	if err := g.Launch(s); !errors.As(err, &e) || !strings.Contains(err.Error(), "launch of scale (grid 1): replay of a graph of 1 nodes (1 scale): helpers_test.go") ||
		e.Kernel != "scale" || e.Grid != 1 || len(e.Args) != 24 {
		t.Errorf("%v", err)
	}
	if n := len(d.Launches()); n != 0 {
		t.Errorf("a replay that failed is counted: %v", d.Launches())
	}
	ok(t, g.Close())
	drv := newFake(fake.H200)
	d = openFake(t, drv)
	s = d.Stream()
	f = must(d.Load(scaleKernel()))
	g = must(s.Capture(func() error { return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{})) }))
	drv.Fail("cuGraphLaunch", 1, driver.OutOfMemory)
	is(t, g.Launch(s), ErrOutOfMemory, "device: cuda:0: replay of a graph of 1 nodes (1 scale): cuGraphLaunch: CUDA_ERROR_OUT_OF_MEMORY")
	ok(t, errors.Join(g.Launch(s), g.Close()))
	if n := d.Launches()["scale"]; n != 1 {
		t.Errorf("%d launches", n)
	}
}

// Another goroutine works on the device as ever while one captures.
func TestCaptureIsOfOneGoroutine(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		f := must(d.Load(scaleKernel()))
		other := must(d.NewStream())
		g := must(d.Stream().Capture(func() error {
			failed := make(chan error)
			go func() {
				x, err := NewTensor(d, dtype.F32, 1)
				if err == nil {
					err = errors.Join(UploadFloats(other, x, []float64{3}), other.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 2, 1})))
				}
				got, err2 := DownloadFloats(other, x)
				if err2 == nil && got[0] != 6 {
					err2 = errors.New("wrong result")
				}
				failed <- errors.Join(err, err2, x.Close())
			}()
			return <-failed
		}))
		if g.Nodes() != 0 || d.Launches()["scale"] != 1 {
			t.Errorf("%s, launches %v", g, d.Launches())
		}
		ok(t, g.Close())
	})
}

// Memory that a graph was captured with outlives its buffer, until the last graph is closed.
func TestGraphHoldsMemory(t *testing.T) {
	d := openFake(t, newFake(fake.H200))
	s, f := d.Stream(), must(d.Load(scaleKernel()))
	x, y, z := must(NewTensor(d, dtype.F32, 4)), must(NewTensor(d, dtype.F32, 4)), must(NewTensor(d, dtype.F32, 4))
	capture := func(from, to Tensor) *Graph {
		a := scaleArgs{from.Addr(), to.Addr(), 2, 4}
		return must(s.Capture(func() error { return s.Launch(f, 1, unsafe.Pointer(&a)) }))
	}
	fill := must(s.Capture(func() error { return s.Fill(x.Buffer(), 0, 16, 0) }))
	one, two := capture(x, y), capture(y, z)
	for _, v := range []Tensor{x, y, z} {
		ok(t, v.Close())
		ok(t, v.Close())
		is(t, s.Fill(v.Buffer(), 0, 16, 0), ErrClosed)
	}
	ok(t, errors.Join(fill.Launch(s), one.Launch(s), two.Launch(s), s.Sync(background)))
	for i, step := range []struct {
		close *Graph
		left  int64 // buffers
	}{{one, 3}, {fill, 2}, {two, 0}} {
		ok(t, step.close.Close())
		if n := d.Memory().InUse / 256; n != step.left {
			t.Errorf("step %d: %d buffers in use, want %d", i, n, step.left)
		}
	}
	// A launch that begins within a buffer holds it.
	whole := must(d.Alloc(64))
	inner := must(View(whole, 4, dtype.F32, []int{4}, nil))
	part := capture(inner, inner)
	ok(t, whole.Close())
	if m := d.Memory(); m.InUse != 256 {
		t.Errorf("a graph holds %+v, not the buffer that it works within", m)
	}
	ok(t, errors.Join(part.Launch(s), s.Sync(background), part.Close()))
	// A graph that is dropped lets go of its memory as well, and so does a capture that fails.
	b := must(d.Alloc(8))
	failure := errors.New("no")
	if _, err := s.Capture(func() error { return errors.Join(s.Fill(b, 0, 8, 0), failure) }); !errors.Is(err, failure) {
		t.Error(err)
	}
	ok(t, b.Close())
	if m := d.Memory(); m.InUse != 0 {
		t.Errorf("%+v", m)
	}
}

// Memory of one stream that a graph used on another one is not given out while that is at work.
func TestGraphOfAnotherStream(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	s, other := d.Stream(), must(d.NewStream())
	b := must(s.Alloc(8))
	addr := b.Addr()
	g := must(s.Capture(func() error { return s.Fill(b, 0, 8, 0) }))
	ok(t, g.Launch(other))
	drv.Hold(true)
	ok(t, errors.Join(b.Close(), g.Close()))
	if b = must(s.Alloc(8)); b.Addr() == addr {
		t.Error("memory in use was given out")
	}
	drv.Hold(false)
	if c := must(s.Alloc(8)); c.Addr() != addr {
		t.Error("memory out of use was not given out")
	}
}

// A graph needs neither the stream that it was captured from nor, to be closed, its device.
func TestGraphOutlivesItsStream(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		s, f, x := must(d.NewStream()), must(d.Load(scaleKernel())), must(NewTensor(d, dtype.F32, 2))
		ok(t, UploadFloats(s, x, []float64{1, 3}))
		g := must(s.Capture(func() error { return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 2, 2})) }))
		ok(t, g.Launch(s))
		ok(t, s.Close())
		is(t, g.Launch(s), ErrClosed)
		ok(t, d.Stream().Sync(background))
		ok(t, g.Launch(d.Stream()))
		if got := must(DownloadFloats(d.Stream(), x)); !slices.Equal(got, []float64{4, 12}) {
			t.Errorf("x = %v", got)
		}
		ok(t, d.Close())
		is(t, g.Launch(d.Stream()), ErrClosed)
		ok(t, errors.Join(g.Close(), x.Close(), d.Close()))
		if g.Nodes() != 1 {
			t.Errorf("%s", g)
		}
	})
}

func TestPhases(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		s, f := d.Stream(), must(d.Load(scaleKernel()))
		launch := func() error { return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{})) }
		ok(t, launch())
		s.SetPhase("forward")
		ok(t, launch())
		g := must(s.Capture(func() error {
			err := launch()
			s.SetPhase("backward")
			return errors.Join(err, launch(), launch())
		}))
		s.SetPhase("")
		ok(t, errors.Join(g.Launch(s), g.Launch(s)))
		if s.Phase() != "" {
			t.Errorf("phase %q", s.Phase())
		}
		want := map[LaunchKey]int{{"scale", ""}: 1, {"scale", "forward"}: 3, {"scale", "backward"}: 4}
		if got := d.LaunchesBy(); !maps.Equal(got, want) {
			t.Errorf("launches %v, want %v", got, want)
		}
		if got := d.Launches(); !maps.Equal(got, map[string]int{"scale": 8}) {
			t.Errorf("launches %v", got)
		}
		ok(t, g.Close())
	})
}
