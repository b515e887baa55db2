package device

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// scenario uses every call of the driver that this package makes, and gives everything back.
func scenario(drv *fake.Driver, comp *fakeCompiler) (err error) {
	d, err := Open("cuda:0", withFake(drv, comp))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	k := scaleKernel()
	k.Shared = 64 << 10
	f, err := d.Load(k)
	if err != nil {
		return err
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	x, err := NewTensor(d, dtype.F32, 4)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := s.Fill(x.Buffer(), 0, 16, 0); err != nil {
		return err
	}
	if err := s.Copy(x.Buffer(), 0, x.Buffer(), 8, 8); err != nil {
		return err
	}
	if err := UploadFloats(s, x, []float64{1, 2, 3, 4}); err != nil {
		return err
	}
	start, err := s.Record()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, start.Close()) }()
	if err := s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 2, 4})); err != nil {
		return err
	}
	if err := s.Wait(start); err != nil {
		return err
	}
	if err := start.Sync(background); err != nil {
		return err
	}
	if _, err := start.Since(start); err != nil {
		return err
	}
	if err := s.Sync(background); err != nil {
		return err
	}
	_, err = DownloadFloats(s, x)
	return err
}

// Each call of the driver in turn fails: the error names call and code, and nothing else goes wrong.
func TestEveryCallCanFail(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	comp := &fakeCompiler{}
	clean := newFake(fake.H200)
	ok(t, scenario(clean, comp))
	calls := clean.Count("")
	if calls < 30 {
		t.Fatalf("the scenario makes %d calls", calls)
	}
	for _, code := range []driver.Result{driver.OutOfMemory, driver.LaunchFailed} {
		for n := 1; n <= calls; n++ {
			drv := newFake(fake.H200)
			drv.Fail("", n, code)
			err := scenario(drv, comp)
			var e *driver.Error
			if !errors.As(err, &e) || e.Code != code || e.Call == "" {
				t.Errorf("call %d fails with %v: error %v", n, code, err)
				continue
			}
			if !strings.Contains(err.Error(), "cuda:0") || !strings.Contains(err.Error(), e.Call+": "+code.String()) {
				t.Errorf("call %d: %q does not name the device, the call and the code", n, err)
			}
			if after := drv.Live(); code == driver.OutOfMemory && sum(after) > 1 { // what the failed call was to give back
				t.Errorf("%s fails: not given back: %v", e.Call, after)
			}
		}
	}
}

func sum(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

func TestLaunchError(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	f := must(d.Load(scaleKernel()))
	drv.Fail("cuLaunchKernelEx", 1, driver.OutOfResources)
	err := d.Stream().Launch(f, 7, unsafe.Pointer(&scaleArgs{x: 0x1122334455667788, n: 3}))
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%T %v", err, err)
	}
	if e.Kernel != "scale" || e.Grid != 7 || len(e.Args) != 24 || e.Code != driver.OutOfResources || e.Call != "cuLaunchKernelEx" || e.Async {
		t.Errorf("%#v", e)
	}
	want := "device: cuda:0: launch of scale (grid 7): cuLaunchKernelEx: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (injected or found by the fake)"
	if e.Error() != want {
		t.Errorf("%q\nwant %q", e, want)
	}
	if long := fmt.Sprintf("%+v", e); !strings.HasPrefix(long, want) || !strings.Contains(long, "argument bytes 0..7: 0x1122334455667788") {
		t.Errorf("%%+v: %s", long)
	}
	if errors.Is(err, ErrSticky) || errors.Is(err, ErrOutOfMemory) {
		t.Errorf("%v is sticky or out of memory", err)
	}
	if len(d.Launches()) != 0 {
		t.Error("a launch that failed is counted")
	}
	ok(t, d.Stream().Launch(f, 1, unsafe.Pointer(&scaleArgs{})))
}

// A kernel that runs wild shows at the next wait; the device is lost, and every later call says since when.
func TestSticky(t *testing.T) {
	drv := newFake(fake.H200)
	d := openFake(t, drv)
	f, x := must(d.Load(scaleKernel())), must(NewTensor(d, dtype.F32, 4))
	s := d.Stream()
	ok(t, s.Launch(f, 3, unsafe.Pointer(&scaleArgs{x: x.Addr(), y: 8, n: 4})))
	first := s.Sync(background)
	is(t, first, ErrSticky, "work up to the launch of scale (grid 3)", "CUDA_ERROR_ILLEGAL_ADDRESS", "lost")
	var e *Error
	if !errors.As(first, &e) || !e.Async || e.Kernel != "scale" {
		t.Errorf("%#v", first)
	}
	before := drv.Count("")
	_, alloc := d.Alloc(8)
	_, stream := d.NewStream()
	_, record := s.Record()
	_, load := d.Load(scaleKernel())
	for i, err := range []error{alloc, stream, record, load, s.Launch(f, 1, unsafe.Pointer(&scaleArgs{})), s.Sync(background), s.Fill(x.Buffer(), 0, 4, 0)} {
		if err != first {
			t.Errorf("call %d after the device is lost: %v", i, err)
		}
	}
	if n := drv.Count(""); n != before {
		t.Errorf("%d calls of the driver after the device is lost", n-before)
	}
	ok(t, x.Close())
	ok(t, d.Close())
}
