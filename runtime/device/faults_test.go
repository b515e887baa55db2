package device

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// program uses every call of the driver that this package makes, between Open and Close, as a training step would:
// upload, launch, capture, replay, measure, download. What it made it closes, whatever happens.
func program(d *Device) (err error) {
	closing := func(c interface{ Close() error }) { err = errors.Join(err, c.Close()) }
	k := scaleKernel()
	k.Shared = 64 << 10
	f, err := d.Load(k)
	if err != nil {
		return err
	}
	clustered := scaleKernel()
	clustered.Cluster = 2
	if _, err := d.Load(clustered); err != nil {
		return err
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer closing(s)
	x, err := NewTensor(d, dtype.F32, 4)
	if err != nil {
		return err
	}
	defer closing(x)
	y, err := s.NewTensor(dtype.F32, 4)
	if err != nil {
		return err
	}
	defer closing(y)
	if err := UploadFloats(s, x, []float64{1, 2, 3, 4}); err != nil {
		return err
	}
	start, err := s.Record()
	if err != nil {
		return err
	}
	defer closing(start)
	s.SetPhase("forward")
	launch := func() error { return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), y.Addr(), 2, 4})) }
	if err := launch(); err != nil {
		return err
	}
	g, err := s.Capture(func() error {
		if err := launch(); err != nil {
			return err
		}
		if err := s.Fill(x.Buffer(), 0, 8, 0); err != nil {
			return err
		}
		return s.Copy(x.Buffer(), 8, y.Buffer(), 8, 8)
	})
	if err != nil {
		return err
	}
	defer closing(g)
	if err := g.Launch(s); err != nil {
		return err
	}
	if err := d.Stream().Wait(start); err != nil {
		return err
	}
	end, err := s.Record()
	if err != nil {
		return err
	}
	defer closing(end)
	live, cancel := context.WithCancel(background)
	defer cancel()
	if err := errors.Join(start.Sync(background), end.Sync(live)); err != nil {
		return err
	}
	if _, err := end.Since(start); err != nil {
		return err
	}
	h, err := d.Pinned(16)
	if err != nil {
		return err
	}
	defer closing(h)
	if err := errors.Join(s.CopyInAsync(x.Buffer(), 0, h, 0, 8), s.CopyOutAsync(h, 8, y.Buffer(), 0, 8), s.Sync(live)); err != nil {
		return err
	}
	old, err := d.Alloc(8 << 20)
	if err != nil {
		return err
	}
	if err := old.Close(); err != nil {
		return err
	}
	big, err := d.Alloc(12 << 20) // after what the pool has went back
	if err != nil {
		return err
	}
	defer closing(big)
	if _, err := d.Trim(); err != nil {
		return err
	}
	_, err = DownloadFloats(s, y)
	return err
}

// smallDevice has 16 MB, so that the program runs into the end of its memory.
func smallDevice() fake.Device {
	d := fake.H200
	d.Memory = 16 << 20
	return d
}

// run is the program on a device of its own, and the probe where the program fails.
func run(drv *fake.Driver, comp *fakeCompiler) (err, after error) {
	d, err := Open("cuda:0", withFake(drv, comp))
	if err != nil {
		return err, nil
	}
	if err = program(d); err != nil {
		after = probe(d)
	}
	err = errors.Join(err, d.Close())
	if n := len(d.live); n != 0 {
		after = errors.Join(after, fmt.Errorf("%d handles that nobody will give back", n))
	}
	return err, after
}

// probe uses a device on which something failed.
func probe(d *Device) error {
	x, err := NewTensor(d, dtype.F32, 4)
	if err != nil {
		return err
	}
	f, err := d.Load(scaleKernel())
	if err != nil {
		return err
	}
	s := d.Stream()
	err = errors.Join(
		UploadFloats(s, x, []float64{1, 2, 3, 4}), s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 3, 4})), s.Sync(background))
	if err != nil {
		return err
	}
	y, err := DownloadFloats(s, x)
	if err == nil && !slices.Equal(y, []float64{3, 6, 9, 12}) {
		err = fmt.Errorf("wrong result %v", y)
	}
	return errors.Join(err, x.Close())
}

// givesBack are the calls that, failing, leave the one thing that they were to give back.
var givesBack = regexp.MustCompile(`Free|Destroy|Unload|Release`)

// abouts are what errors of calls that are for a kernel, but no launch of it, name.
var abouts = map[string]string{
	"cuModuleLoadData": "kernel scale", "cuModuleGetFunction": "kernel scale", "cuFuncSetAttribute": "kernel scale",
	"cuOccupancyMaxActiveBlocksPerMultiprocessor": "kernel scale", "cuOccupancyMaxActiveClusters": "kernel scale",
	"cuGraphLaunch": "replay of a graph of 3 nodes (1 scale)",
}

// sentinels are what callers ask for, by the driver's result.
var sentinels = map[driver.Result]error{
	driver.OutOfMemory: ErrOutOfMemory, driver.LaunchFailed: ErrSticky, driver.IllegalAddress: ErrSticky, contextDestroyed: ErrSticky,
}

const contextDestroyed driver.Result = 709

// Every call of the driver in turn fails in every way: the error names device, call, code and, for a launch, kernel,
// grid and arguments; nothing hangs; nothing leaks; the device works on or is lost and says so.
func TestEveryCallCanFail(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	comp := &fakeCompiler{}
	clean := newFake(smallDevice())
	err, after := run(clean, comp)
	ok(t, errors.Join(err, after))
	calls := clean.Count("")
	if calls < 70 || len(clean.Live()) != 0 {
		t.Fatalf("the program makes %d calls and leaves %v", calls, clean.Live())
	}
	for _, call := range []string{"cuMemHostAlloc", "cuMemFreeHost", "cuMemFree", "cuGraphLaunch", "cuGraphExecDestroy", "cuOccupancyMaxActiveClusters",
		"cuStreamQuery", "cuEventQuery", "cuStreamWaitEvent", "cuFuncSetAttribute", "cuModuleUnload", "cuDevicePrimaryCtxRelease"} {
		if clean.Count(call) == 0 {
			t.Errorf("the program does not call %s", call)
		}
	}
	goroutines := runtime.NumGoroutine()
	for _, code := range []driver.Result{
		driver.OutOfMemory, driver.OutOfResources, driver.InvalidImage, driver.NotReady, driver.LaunchFailed, driver.IllegalAddress, contextDestroyed,
	} {
		for n := 1; n <= calls; n++ {
			drv := newFake(smallDevice())
			drv.Fail("", n, code)
			var err, after error
			done := make(chan struct{})
			go func() {
				defer close(done)
				err, after = run(drv, comp)
			}()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatalf("call %d fails with %v: the program hangs", n, code)
			}
			checkFault(t, fmt.Sprintf("call %d fails with %v", n, code), drv, code, err, after)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines stay", runtime.NumGoroutine()-goroutines)
		}
	}
}

// checkFault judges what came of one fault.
func checkFault(t *testing.T, what string, drv *fake.Driver, code driver.Result, err, after error) {
	t.Helper()
	failed := drv.Failed()
	if len(failed) != 1 {
		t.Errorf("%s: calls that failed: %v", what, failed)
		return
	}
	call := failed[0]
	what += " (" + call + ")"
	switch {
	case code == driver.NotReady && strings.HasSuffix(call, "Query"):
		if err != nil {
			t.Errorf("%s: an answer became the error %v", what, err)
		}
		return
	case code == driver.OutOfMemory && call == "cuMemAlloc" && err == nil:
		return // the pool gave back what it had, and tried again
	}
	var e *Error
	var d *driver.Error
	if !errors.As(err, &e) || !errors.As(err, &d) || d.Code != code || d.Call != call || e.Code != code || e.Call != call || e.Device != "cuda:0" {
		t.Errorf("%s: error %v", what, err)
		return
	}
	if text := err.Error(); !strings.Contains(text, "cuda:0") || !strings.Contains(text, call+": "+code.String()) {
		t.Errorf("%s: %q does not name the device, the call and the code", what, text)
	}
	if call == "cuLaunchKernelEx" {
		if e.Kernel != "scale" || e.Grid != 1 || len(e.Args) != 24 || !strings.Contains(err.Error(), "launch of scale (grid 1)") ||
			!strings.Contains(fmt.Sprintf("%+v", e), "argument bytes 0..7: 0x") {
			t.Errorf("%s: %+v", what, e)
		}
	}
	if about, ok := abouts[call]; ok && !strings.Contains(err.Error(), about) {
		t.Errorf("%s: %v does not name %s", what, err, about)
	}
	for _, s := range []error{ErrOutOfMemory, ErrSticky} {
		if errors.Is(err, s) != (sentinels[code] == s) {
			t.Errorf("%s: errors.Is %q is %v", what, s, errors.Is(err, s))
		}
	}
	if code.Sticky() {
		if after != nil && !errors.Is(after, ErrSticky) {
			t.Errorf("%s: then %v", what, after)
		}
		return // all that the context held is lost with it
	}
	if after != nil {
		t.Errorf("%s: the device does not work on: %v", what, after)
	}
	left := drv.Live()
	if givesBack.MatchString(call) {
		if sum(left) > 1 {
			t.Errorf("%s: not given back: %v", what, left)
		}
	} else if len(left) != 0 {
		t.Errorf("%s: not given back: %v", what, left)
	}
}

func sum(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

// A failure that shows only when waiting names the launch before it, with its arguments; also through an event, and
// after a graph.
func TestLateFailuresNameTheLaunch(t *testing.T) {
	wild := func(d *Device) (*Func, *scaleArgs) { return must(d.Load(scaleKernel())), &scaleArgs{x: 16, y: 8, n: 4} }
	for name, fails := range map[string]func(d *Device) error{
		"stream": func(d *Device) error {
			f, a := wild(d)
			ok(t, d.Stream().Launch(f, 3, unsafe.Pointer(a)))
			return d.Stream().Sync(background)
		},
		"event": func(d *Device) error {
			f, a := wild(d)
			s := must(d.NewStream())
			ok(t, s.Launch(f, 3, unsafe.Pointer(&scaleArgs{x: 16, y: 8, n: 0})))
			s.last.args[0] = 16
			e := must(s.Record())
			ok(t, s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x: 99}))) // in the stream's buffer of arguments
			ok(t, d.Stream().Launch(f, 3, unsafe.Pointer(a)))
			return e.Sync(background)
		},
		"graph": func(d *Device) error {
			f, a := wild(d)
			g := must(d.Stream().Capture(func() error { return d.Stream().Launch(f, 3, unsafe.Pointer(a)) }))
			ok(t, g.Launch(d.Stream()))
			return d.Stream().Sync(background)
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := fails(openFake(t, newFake(fake.H200)))
			is(t, err, ErrSticky, "work up to the launch of scale (grid 3)", "CUDA_ERROR_ILLEGAL_ADDRESS")
			var e *Error
			if !errors.As(err, &e) || !e.Async || e.Kernel != "scale" || e.Grid != 3 || len(e.Args) != 24 || e.Args[0] != 16 {
				t.Errorf("%#v", err)
			}
		})
	}
}

// The arguments of another launch are not shown for those of the last.
func TestLateFailureAfterACapture(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	s, f := d.Stream(), must(d.Load(scaleKernel()))
	ok(t, s.Launch(f, 3, unsafe.Pointer(&scaleArgs{x: 16})))
	g := must(s.Capture(func() error { return s.Launch(f, 4, unsafe.Pointer(&scaleArgs{x: 17})) }))
	drv.Fail("cuStreamSynchronize", 1, driver.OutOfResources)
	err := s.Sync(background)
	var e *Error
	if !errors.As(err, &e) || e.Grid != 3 || e.Args != nil {
		t.Errorf("%#v", err)
	}
	ok(t, g.Close())
}

// A capture that the driver fails to end lets go of its buffers.
func TestCaptureThatCannotEnd(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	s, b := d.Stream(), must(d.Alloc(8))
	for _, call := range []string{"cuStreamEndCapture", "cuGraphInstantiate"} {
		drv.Fail(call, 1, driver.OutOfMemory)
		_, err := s.Capture(func() error { return s.Fill(b, 0, 8, 0) })
		is(t, err, ErrOutOfMemory, call)
	}
	ok(t, b.Close())
	if m := d.Memory(); m.InUse != 0 {
		t.Errorf("%+v", m)
	}
}
