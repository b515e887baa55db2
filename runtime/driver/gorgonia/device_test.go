//go:build gorgonia && cgo && !nocuda && linux && (amd64 || arm64)

package gorgonia_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/gorgonia"
	"gorgonia.org/cu"
)

type scaleArgs struct {
	x, y uint64
	a    float32
	n    int32
}

const scaleSource = `
struct scale_args { const float *x; float *y; float a; int n; };
extern "C" __global__ void scale(const __grid_constant__ scale_args p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.y[i] = p.a * p.x[i];
}
`

// In this build package device uses gorgonia.org/cu, for its own context too.
func TestDeviceOfThisBuild(t *testing.T) {
	d := must(device.Open("cuda:0"))
	defer func() { ok(t, d.Close()) }()
	if d.Info().Binding != "gorgonia" {
		t.Errorf("binding %q", d.Info().Binding)
	}
	ctx := must(gorgonia.ContextOf(must(d.Context())))
	if primary := must(must(cu.GetDevice(0)).RetainPrimaryCtx()); ctx != primary {
		t.Errorf("context %v, want the primary one, %v", ctx, primary)
	}
	ok(t, must(cu.GetDevice(0)).ReleasePrimaryCtx())
}

// A kernel runs in a context, on a stream and on memory of gorgonia.org/cu, all of which outlive the device.
func TestAdoptedDevice(t *testing.T) {
	ctx := must(must(cu.GetDevice(0)).MakeContext(cu.SchedAuto))
	ok(t, ctx.Lock())
	stream := must(cu.MakeStream(cu.NonBlocking))
	in := [4]float32{1, 2, 3, 4}
	ptr := must(cu.MemAlloc(16))
	ok(t, cu.MemcpyHtoD(ptr, unsafe.Pointer(&in), 16))

	name, drv, err := gorgonia.Adopt(ctx)
	ok(t, err)
	d := must(device.Open(name, device.WithDriver(drv)))
	if own := must(gorgonia.ContextOf(must(d.Context()))); own != ctx {
		t.Errorf("the device is in context %v, want %v", own, ctx)
	}
	f, err := d.Load(&device.Kernel{Name: "scale", Source: scaleSource, Threads: 64, ArgBytes: int(unsafe.Sizeof(scaleArgs{}))})
	if errors.Is(err, nvrtc.ErrNotFound) {
		t.Skip(err)
	}
	ok(t, err)
	b := must(d.AdoptBuffer(driver.Ptr(ptr), 16))
	for _, raw := range []cu.Stream{stream, cu.NoStream} {
		s := must(d.AdoptStream(gorgonia.Stream(raw)))
		y := must(s.NewTensor(dtype.F32, 4))
		ok(t, s.Launch(f, 1, unsafe.Pointer(&scaleArgs{b.Addr(), y.Addr(), 10, 4})))
		var out [4]float32
		ok(t, raw.Synchronize(), cu.MemcpyDtoH(unsafe.Pointer(&out), cu.DevicePtr(y.Addr()), 16))
		if out != [4]float32{10, 20, 30, 40} {
			t.Errorf("%v", out)
		}
		ok(t, y.Close(), s.Close())
	}
	s := must(d.AdoptStream(gorgonia.Stream(stream)))
	g := must(s.Capture(func() error {
		return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{b.Addr(), b.Addr(), 2, 4}))
	}))
	ok(t, g.Launch(s), g.Launch(s), s.Sync(context.Background()), g.Close())
	ok(t, d.Close())

	var out [4]float32
	ok(t, stream.Synchronize(), cu.MemcpyDtoH(unsafe.Pointer(&out), ptr, 16))
	if out != [4]float32{4, 8, 12, 16} {
		t.Errorf("%v", out)
	}
	ok(t, stream.Destroy(), cu.MemFree(ptr), ctx.Unlock(), ctx.Destroy())
}

// A program's context, stream and memory, used by a device.
func ExampleAdopt() {
	ctx := must(must(cu.GetDevice(0)).MakeContext(cu.SchedAuto))
	defer ctx.Destroy()
	check(ctx.Lock())
	defer ctx.Unlock()
	stream, ptr := must(cu.MakeStream(cu.NonBlocking)), must(cu.MemAlloc(4))

	name, drv, err := gorgonia.Adopt(ctx)
	check(err)
	d := must(device.Open(name, device.WithDriver(drv)))
	defer d.Close()
	s, b := must(d.AdoptStream(gorgonia.Stream(stream))), must(d.AdoptBuffer(driver.Ptr(ptr), 4))
	check(s.Fill(b, 0, 4, 7))

	var out [4]byte
	check(cu.MemcpyDtoHAsync(unsafe.Pointer(&out), ptr, 4, stream)) // after the fill: it is one stream
	check(stream.Synchronize())
	fmt.Println(out)
	// Output: [7 7 7 7]
}

// A device's own stream, handed to gorgonia.org/cu. Open gives the driver itself, over the primary contexts.
func ExampleStreamOf() {
	drv := must(gorgonia.Open())
	d := must(device.Open("cuda:0", device.WithDriver(drv)))
	defer d.Close()
	x := must(device.NewTensor(d, dtype.F32, 2))
	ctx := must(must(cu.GetDevice(0)).RetainPrimaryCtx())
	check(ctx.Lock()) // gorgonia.org/cu calls in the thread's current context
	defer ctx.Unlock()
	raw := gorgonia.StreamOf(must(d.Stream().Handle()))
	check(cu.MemcpyHtoDAsync(cu.DevicePtr(x.Addr()), unsafe.Pointer(&[2]float32{1, 2}), 8, raw))
	fmt.Println(device.DownloadFloats(d.Stream(), x)) // after the copy: it is one stream
	// Output: [1 2] <nil>
}

func check(err error) {
	if err != nil {
		panic(err)
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
