package device

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

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
	s, other := d.Stream(), must(d.NewStream())
	e0, g := must(s.Record()), must(s.Capture(func() error { return nil }))
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
	ok(t, errors.Join(x.Close(), e0.Close(), other.Close(), g.Close()))
	if n := drv.Count(""); n != before {
		t.Errorf("%d calls of the driver to give back what is lost", n-before)
	}
	ok(t, d.Close())
}
