package device

import (
	"errors"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// A program that holds a context, a stream and memory of its own uses them with a device, and keeps them.
func TestAdopt(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	ctx := must(d.Context())
	raw, p := must(ctx.NewStream()), must(ctx.Alloc(64))
	ok(t, ctx.CopyIn(p, make([]byte, 64)))

	s, b := must(d.AdoptStream(raw)), must(d.AdoptBuffer(p, 64))
	if must(s.Handle()) != raw || b.Addr() != uint64(p) || b.Bytes() != 64 {
		t.Errorf("stream %v, buffer of %d bytes at %#x", must(s.Handle()), b.Bytes(), b.Addr())
	}
	x := must(View(b, 0, dtype.F32, []int{4}, nil))
	ok(t, UploadFloats(s, x, []float64{1, 2, 3, 4}))
	f := must(d.Load(scaleKernel()))
	ok(t, s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 10, 4})))
	if y := must(DownloadFloats(s, x)); y[3] != 40 {
		t.Errorf("%v", y)
	}
	g := must(s.Capture(func() error { return s.Fill(b, 0, 64, 7) }))
	ok(t, b.Close()) // the graph uses it further
	ok(t, errors.Join(g.Launch(s), s.Sync(background), g.Close()))
	out := make([]byte, 64)
	ok(t, ctx.CopyOut(out, p))
	if out[63] != 7 {
		t.Errorf("%v", out)
	}
	if m := d.Memory(); m.InUse != 0 {
		t.Errorf("adopted memory is counted: %+v", m)
	}
	is(t, s.Fill(b, 0, 1, 0), ErrClosed)
	ok(t, s.Close())
	ok(t, s.Close())
	if _, err := s.Handle(); !errors.Is(err, ErrClosed) {
		t.Errorf("the handle of a closed stream: %v", err)
	}
	// What was adopted and closed is still there, for its owner to give back.
	ok(t, errors.Join(ctx.SyncStream(raw), ctx.DestroyStream(raw), ctx.Free(p)))
}

// A device gives back its own, and leaves what is adopted.
func TestCloseLeavesAdopted(t *testing.T) {
	drv := newFake(fake.H200)
	d := must(Open("cuda:0", withFake(drv, &fakeCompiler{})))
	ctx := must(d.Context())
	raw, p := must(ctx.NewStream()), must(ctx.Alloc(64))
	s, b := must(d.AdoptStream(raw)), must(d.AdoptBuffer(p, 64))
	ok(t, s.Fill(b, 0, 64, 1))
	ok(t, d.Close())
	if live := drv.Live(); live["stream"] != 1 || live["memory"] != 1 || drv.Count("cuStreamDestroy") != 1 {
		t.Errorf("alive: %v; %d streams destroyed, want 1", live, drv.Count("cuStreamDestroy"))
	}
	if _, err := d.Context(); !errors.Is(err, ErrClosed) {
		t.Errorf("the context of a closed device: %v", err)
	}
	if _, err := d.AdoptStream(raw); !errors.Is(err, ErrClosed) {
		t.Errorf("AdoptStream on a closed device: %v", err)
	}
}

// An adopted buffer need not be closed, and is then no leak.
func TestAdoptedBufferIsDropped(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	p := must(must(d.Context()).Alloc(64))
	handles := func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.live)
	}
	before := handles()
	for range 100 {
		must(d.AdoptBuffer(p, 64))
	}
	for end := time.Now().Add(10 * time.Second); handles() > before && time.Now().Before(end); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if n := handles(); n > before || d.Drain() != 0 || drv.Count("cuMemFree") != 0 {
		t.Errorf("%d handles of dropped buffers stay; %d frees", n-before, drv.Count("cuMemFree"))
	}
}

func TestAdoptRefuses(t *testing.T) {
	d := openFake(t, newFake(fake.H200))
	for _, c := range []struct {
		p     driver.Ptr
		bytes int
	}{{0x1000, -1}, {0, 8}, {1<<64 - 8, 16}} {
		_, err := d.AdoptBuffer(c.p, c.bytes)
		is(t, err, ErrShape, "AdoptBuffer", "no such range")
	}
	must(d.AdoptBuffer(0, 0))
	sim := opened(t, "sim")
	for call, err := range map[string]error{
		"AdoptStream":   second(sim.AdoptStream(1)),
		"AdoptBuffer":   second(sim.AdoptBuffer(1, 1)),
		"Context":       second(sim.Context()),
		"Stream.Handle": second(sim.Stream().Handle()),
	} {
		is(t, err, errors.ErrUnsupported, call, "the simulator has no handles")
	}
	s := d.Stream()
	_, err := s.Capture(func() error { return second(d.AdoptStream(0)) })
	is(t, err, ErrCapture, "AdoptStream")
}

func second[T any](_ T, err error) error { return err }

// bound is a driver with a name.
type bound struct{ driver.Driver }

func (bound) Binding() string { return "other" }

// A device over a driver of the caller's.
func TestWithDriver(t *testing.T) {
	drv := newFake(fake.H200)
	d := opened(t, "cuda:0", WithDriver(drv))
	if drv.Count("cuDevicePrimaryCtxRetain") != 1 || d.Info().Binding != "" {
		t.Errorf("%d contexts; binding %q", drv.Count("cuDevicePrimaryCtxRetain"), d.Info().Binding)
	}
	if i := d.Info(); i.Label() != "h200" {
		t.Errorf("label %q", i.Label())
	}
	if i := opened(t, "cuda:0", WithDriver(bound{drv})).Info(); i.Binding != "other" || i.Label() != "h200-other" {
		t.Errorf("binding %q, label %q", i.Binding, i.Label())
	}
}
