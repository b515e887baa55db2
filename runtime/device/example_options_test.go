package device_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
	"github.com/gotile/gotile/tile"
)

// With lines, GPU kernels are printed anew, so that compute-sanitizer and ncu name lines of Go; GOTILE_LINES=1 does the
// same. WithoutEmbedded compiles a kernel's source although it carries code for the GPU, which has no lines. The program
// stays the same, on the simulator too, which reads IR.
func ExampleWithLines() {
	d, err := device.Open("sim", device.WithLines(), device.WithoutEmbedded(), device.WithTarget("sm_80"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	f, err := d.Load(triple)
	fmt.Println(f.Kernel().Name, d.Target().Name, err)
	// Output: triple sm_80 <nil>
}

// A program that has a context, streams and memory of its own shares them with a device; what was adopted stays the
// program's.
func ExampleDevice_AdoptBuffer() {
	drv := fake.New(nil, fake.H200)
	d, err := device.Open("cuda:0", device.WithDriver(drv))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	ctx, err := d.Context() // which the program's libraries use, too
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, _ := ctx.NewStream()
	p, _ := ctx.Alloc(16)

	s, _ := d.AdoptStream(raw)
	b, _ := d.AdoptBuffer(p, 16)
	x, _ := device.View(b, 0, dtype.F32, []int{4}, nil)
	device.UploadFloats(s, x, []float64{1, 2, 3, 4})
	fmt.Println(device.DownloadFloats(s, x))
	s.Close()
	b.Close()
	fmt.Println("still the program's:", ctx.Free(p), ctx.DestroyStream(raw))

	sim, _ := device.Open("sim")
	defer sim.Close()
	_, err = sim.AdoptStream(driver.Stream(0))
	fmt.Println(errors.Is(err, errors.ErrUnsupported))
	// Output:
	// [1 2 3 4] <nil>
	// still the program's: <nil> <nil>
	// true
}

// Launches are counted by what they are part of.
func ExampleStream_SetPhase() {
	d, _ := device.Open("sim")
	defer d.Close()
	s := d.Stream()
	x, _ := device.NewTensor(d, dtype.I32, 3)
	f, err := d.Load(triple)
	if err != nil {
		fmt.Println(err)
		return
	}
	args := struct {
		x uint64
		n int32
		_ int32
	}{x.Addr(), 3, 0}
	for _, phase := range []string{"forward", "backward", "forward"} {
		s.SetPhase(phase)
		s.Launch(f, 1, unsafe.Pointer(&args))
	}
	by := d.LaunchesBy()
	fmt.Println(by[device.LaunchKey{Kernel: "triple", Phase: "forward"}], by[device.LaunchKey{Kernel: "triple", Phase: "backward"}], s.Launches())
	// Output: 2 1 3
}

// Events time what is between them, on the simulator's clock, too.
func ExampleStream_Record() {
	d, _ := device.Open("sim")
	defer d.Close()
	s := d.Stream()
	x, _ := d.Alloc(1 << 10)
	before, _ := s.Record()
	defer before.Close()
	s.Fill(x, 0, 1<<10, 1)
	after, _ := s.Record()
	defer after.Close()
	fmt.Println(after.Sync(context.Background()))
	took, err := after.Since(before)
	fmt.Println(took >= 0, err)
	// Output:
	// <nil>
	// true <nil>
}

// Memory that was closed stays with the device for the next tensors, until Trim gives it back.
func ExampleDevice_Memory() {
	drv := fake.New(nil, fake.H200)
	d, err := device.Open("cuda:0", device.WithDriver(drv))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F32, 1<<10)
	x.Close()
	fmt.Printf("%+v\n", d.Memory())
	d.Trim()
	fmt.Printf("%+v\n", d.Memory())
	// Output:
	// {InUse:0 Reserved:4096 Peak:4096}
	// {InUse:0 Reserved:0 Peak:4096}
}

// A graph's launches, by kernel and phase, count whenever it is launched.
func ExampleGraph() {
	d, _ := device.Open("sim")
	defer d.Close()
	s := d.Stream()
	x, _ := device.NewTensor(d, dtype.I32, 1)
	device.UploadFloats(s, x, []float64{1})
	f, err := d.Load(triple)
	if err != nil {
		fmt.Println(err)
		return
	}
	args := struct {
		x uint64
		n int32
		_ int32
	}{x.Addr(), 1, 0}
	g, err := s.Capture(func() error {
		fmt.Println("capturing:", s.Capturing())
		return s.Launch(f, 1, unsafe.Pointer(&args))
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	for range 4 {
		g.Launch(s)
	}
	out, _ := device.DownloadFloats(s, x)
	fmt.Println(out, g.Nodes(), g.Kernels(), d.Launches())
	// Output:
	// capturing: true
	// [81] 1 map[triple:1] map[triple:4]
}

// The elements of a contiguous tensor in another shape, in the same memory.
func ExampleTensor_Reshape() {
	d, _ := device.Open("sim")
	defer d.Close()
	x, _ := device.NewTensor(d, dtype.F32, 2, 3)
	y, err := x.Reshape(6)
	fmt.Println(y, err, y.Buffer() == x.Buffer(), y.SameShape(x), y.Offset())
	_, err = x.Reshape(5)
	fmt.Println(errors.Is(err, device.ErrShape))
	// Output:
	// f32[6] <nil> true false 0
	// true
}

// A device prints nothing: what is no error, such as memory that nobody closed, goes to a logger, here to none. A context
// ends simulated launches.
func ExampleWithLogger() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stdout, nil))
	all := device.List() // GPUs first
	d, err := device.Open(all[len(all)-1], device.WithLogger(log), device.WithContext(ctx))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Name())
	fmt.Println(d.Close())
	// Output:
	// sim
	// <nil>
}

// What Open uses for a GPU. List names the GPUs that it has, and the simulator.
func ExampleOpenDriver() {
	gpus := 0
	if drv, err := device.OpenDriver(); err == nil { // else it says why there is none
		gpus, _ = drv.DeviceCount()
	}
	fmt.Println(gpus == len(device.List())-1)
	// Output: true
}

// A kernel that waits for ever ends with the table of who waits for what: on the simulator always, on a GPU where a
// watchdog says how long is too long. GOTILE_WATCHDOG=2s does the same for a whole program.
func ExampleWithWatchdog() {
	d, err := device.Open("sim", device.WithWatchdog(2*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	k, err := tile.Define("stuck", func(k *tile.Builder, a struct {
		Y tile.Global[tile.F32] `tile:"32"`
	}) {
		full := tile.NewMBarriers(k, 1, 1).At(0)
		full.Wait(k.Warp(), 0) // for the arrival that comes behind it
		full.ArriveOnce(k.Warp())
		tile.Store(k, a.Y, tile.Full(k.Block(), k.Block().Striped(32, 1), tile.F32(1)))
	}, tile.Threads(32))
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := d.Load(&device.Kernel{Name: "stuck", Threads: 32, Shared: 16, ArgBytes: 8, Build: func() (device.Program, error) { return k, nil }})
	if err != nil {
		fmt.Println(err)
		return
	}
	y, _ := device.NewTensor(d, dtype.F32, 32)
	defer y.Close()
	err = d.Stream().Launch(f, 1, unsafe.Pointer(&struct{ y uint64 }{y.Addr()}))
	fmt.Println(errors.Is(err, device.ErrDeadlock), strings.Contains(err.Error(), "1 of 1 arrival pending"))
	// Output: true true
}
