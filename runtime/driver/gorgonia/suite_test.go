//go:build gorgonia && cgo && !nocuda && linux && (amd64 || arm64)

package gorgonia

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/drivertest"
	"gorgonia.org/cu"
)

// The tests of every driver, on the library that the process has loaded: the GPU's, or with LD_LIBRARY_PATH the stand-in
// that prepare.sh builds.
func TestSuite(t *testing.T) {
	d := must(Open())
	name := must(d.DeviceName(0))
	t.Logf("on %s, CUDA %d", name, must(d.Version()))
	drivertest.Run(t, drivertest.Machine{Driver: d, Image: drivertest.Image(d), Transparent: drivertest.IsLoopback(t, d)})
}

// The same over a context that gorgonia.org/cu made.
func TestSuiteAdopted(t *testing.T) {
	ctx := must(must(cu.GetDevice(0)).MakeContext(cu.SchedAuto))
	defer func() { ok(t, ctx.Destroy()) }()
	name, d, err := Adopt(ctx)
	ok(t, err)
	if name != "cuda:0" {
		t.Errorf("the device is %s", name)
	}
	if _, err := d.Retain(1); !errors.Is(err, driver.InvalidDevice) {
		t.Errorf("another device: %v", err)
	}
	own := must(ContextOf(must(d.Retain(0))))
	if own != ctx {
		t.Errorf("context %v, handed out as %v", ctx, own)
	}
	drivertest.Run(t, drivertest.Machine{Driver: one{d}, Image: drivertest.Image(d), Transparent: drivertest.IsLoopback(t, d)})
}

// one shows the first device alone.
type one struct{ driver.Driver }

func (one) DeviceCount() (int, error) { return 1, nil }

func (o one) DeviceName(dev int) (string, error) {
	if dev > 0 {
		return "", &driver.Error{Code: driver.InvalidDevice}
	}
	return o.Driver.DeviceName(dev)
}

// Calls leave current what the caller's thread had, and do not disturb gorgonia.org/cu's own.
func TestCurrentContextStays(t *testing.T) {
	theirs := must(must(cu.GetDevice(0)).MakeContext(cu.SchedAuto))
	ok(t, theirs.Lock())
	defer runtime.UnlockOSThread()
	c := must(must(Open()).Retain(0))
	s := must(c.NewStream())
	p := must(c.Alloc(16))
	var g driver.Graph
	for _, step := range []struct {
		name string
		call func() error
	}{
		{"a call of gorgonia.org/cu", func() error { return c.Set8Async(p, 1, 16, s) }},
		{"one of extra.go", func() error { return c.BeginCapture(s) }},
		{"one with a result", func() (err error) { g, err = c.EndCapture(s); return err }},
		{"a query", func() error { _, err := c.QueryStream(s); return err }},
		{"one that fails", func() error { _, err := c.Alloc(0); return is(err, driver.InvalidValue) }},
		{"giving back", func() error { return errors.Join(c.DestroyGraph(g), c.Free(p), c.DestroyStream(s), c.Release()) }},
	} {
		ok(t, step.call())
		if now := must(cu.CurrentContext()); now != theirs {
			t.Errorf("after %s context %v is current, want %v", step.name, now, theirs)
		}
	}
	q, err := cu.MemAlloc(16) // theirs goes on
	ok(t, err, cu.MemFree(q), theirs.Destroy())
}

// On a thread that has no context, a primary one may stay current, which saves a call; one that the program may destroy
// may not.
func TestNothingIsLeftCurrent(t *testing.T) {
	none := cu.CUContext{}
	ctx := must(must(cu.GetDevice(0)).MakeContext(cu.SchedAuto))
	_, d, err := Adopt(ctx)
	ok(t, err)
	adopted, own := must(d.Retain(0)), must(must(Open()).Retain(0))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for must(cu.CurrentContext()) != none {
		must(cu.PopCurrentCtx())
	}
	ok(t, adopted.Free(must(adopted.Alloc(16))))
	if now := must(cu.CurrentContext()); now != none {
		t.Errorf("after calls in an adopted context, %v is current", now)
	}
	ok(t, own.Free(must(own.Alloc(16))))
	if now := must(cu.CurrentContext()); now != must(ContextOf(own)) {
		t.Errorf("after calls in the primary context, %v is current", now)
	}
	ok(t, own.Release(), ctx.Destroy())
}

// Streams and memory go both ways.
func TestHandles(t *testing.T) {
	ctx := must(must(cu.GetDevice(0)).MakeContext(cu.SchedAuto))
	defer func() { ok(t, ctx.Destroy()) }()
	_, d, err := Adopt(ctx)
	ok(t, err, ctx.Lock())
	defer runtime.UnlockOSThread()
	c := must(d.Retain(0))
	s := must(cu.MakeStream(cu.NonBlocking))
	p := must(cu.MemAlloc(64))
	ours := must(c.NewStream())
	q := must(c.Alloc(64))
	if StreamOf(Stream(s)) != s || Stream(StreamOf(ours)) != ours {
		t.Error("a stream that went there and back is another")
	}
	for _, on := range []driver.Stream{Stream(s), Stream(cu.NoStream), ours} {
		ok(t, c.Set8Async(driver.Ptr(p), 3, 64, on), c.SyncStream(on))
		ok(t, cu.MemcpyDtoDAsync(cu.DevicePtr(q), p, 64, StreamOf(on)), StreamOf(on).Synchronize())
		out := make([]byte, 64)
		ok(t, c.CopyOut(out, q))
		if slices.Min(out) != 3 || slices.Max(out) != 3 {
			t.Errorf("read %v", out)
		}
		ok(t, c.Set8Async(driver.Ptr(p), 0, 64, on), c.SyncStream(on))
	}
	ok(t, s.Destroy(), cu.MemFree(p), c.DestroyStream(ours), c.Free(q))
}

func TestRefused(t *testing.T) {
	if _, _, err := Adopt(cu.CUContext{}); err == nil || !strings.Contains(err.Error(), "zero cu.CUContext") {
		t.Errorf("no context: %v", err)
	}
	var foreign driver.Context
	if _, err := ContextOf(foreign); err == nil || !strings.Contains(err.Error(), "-tags gorgonia") {
		t.Errorf("a context of another driver: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// is is nil where err is a failure with a code.
func is(err error, code driver.Result) error {
	if driver.CodeOf(err) == code {
		return nil
	}
	return errors.Join(err, errors.New("want "+code.String()))
}
