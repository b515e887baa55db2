package device

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	printer "github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/internal/waitfor"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
	"github.com/gotile/gotile/tile"
)

type stallArgs struct {
	Y tile.Global[tile.F32] `tile:"128"`
}

// stallLines are those of the kernel's waits and of its arrival.
type stallLines struct{ made, wait, named, arrive int }

// stallKernel is a kernel in which warp 0 waits for an arrival that comes from warp 1 after a named barrier, to which warp
// 0 has yet to come. Warps 2 and 3 do nothing.
func stallKernel(t *testing.T) (k *Kernel, at stallLines) {
	t.Helper()
	line := func() int {
		_, _, n, _ := runtime.Caller(1)
		return n
	}
	built, err := tile.Define("stall", func(k *tile.Builder, a stallArgs) {
		warp, block := k.Warp(), k.Block()
		at.made = line() + 1
		bars := tile.NewMBarriers(k, 2, 3) // with a barrier, site 1
		both := tile.NewNamedBarrier(k, 64)
		tile.If(warp, warp.Index().EqInt(0), func() {
			at.wait = line() + 1
			bars.At(1).Wait(warp, 0)
			both.Sync(warp)
		}, func() {
			tile.If(warp, warp.Index().EqInt(1), func() {
				at.named = line() + 1
				both.Sync(warp)
				at.arrive = line() + 1
				bars.At(1).ArriveOnce(warp)
			}, func() {})
		})
		tile.Store(block, a.Y, tile.Full(block, block.Striped(128, 1), tile.F32(1)))
	}, tile.Threads(128))
	if err != nil {
		t.Fatalf("%+v", err)
	}
	low := must(built.Lower("sm_90a"))
	return &Kernel{Name: "stall", Source: must(printer.Print(low, printer.Options{Targets: []string{"sm_90a"}})), Threads: low.Threads, Shared: low.SharedBytes,
		ArgBytes: low.ArgBytes, Build: func() (Program, error) { return built, nil }}, at
}

// The test's own account of what a kernel with a watchdog writes.
const (
	reportBytes = 792
	recordsAt   = 24
	smemAt      = 0x800 // shared memory of the kernel
	comeAt      = 0x408 // counts of the watchdog's
)

func record(b []byte, warp int, site, bar uint32, want, state uint64) {
	at := b[recordsAt+24*warp:]
	binary.LittleEndian.PutUint32(at, site)
	binary.LittleEndian.PutUint32(at[4:], bar)
	binary.LittleEndian.PutUint64(at[8:], want)
	binary.LittleEndian.PutUint64(at[16:], state)
}

// stall writes the report of a block in which the kernel stalls.
func stall(b []byte, block int) {
	clear(b[:reportBytes])
	for i, v := range []uint32{uint32(block), 1, smemAt, comeAt} {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	binary.LittleEndian.PutUint64(b[16:], uint64(2100*time.Millisecond))
	record(b, 0, 2, smemAt+8, 0, (1<<20-2)<<43|(1<<20-3)<<1) // 2 of 3 arrivals pending
	record(b, 1, 4, comeAt+8, 2, 1)
	record(b, 2, 1, comeAt, 4, 2)
	record(b, 3, 0xffffffff, 0, 0, 0)
}

// stallFake is a driver whose kernel writes the reports of blocks and traps.
func stallFake(t *testing.T, blocks ...int) *fake.Driver {
	var drv *fake.Driver
	drv = fake.New(map[string]fake.Kernel{"stall": func(driver.LaunchConfig, unsafe.Pointer) driver.Result {
		set := drv.Values("watchdog_limits")
		if len(set) != 1 {
			return driver.IllegalAddress
		}
		var limits [4]uint64
		for i := range limits {
			limits[i] = binary.LittleEndian.Uint64(set[0][8*i:])
		}
		if limits[1] != uint64(2*time.Second) || limits[2] != uint64(500*time.Millisecond) || limits[3] != 64 {
			t.Errorf("the module has %v", limits)
		}
		host := drv.Host(limits[0], 64*reportBytes)
		for i, n := range blocks {
			stall(host[i*reportBytes:], n)
		}
		return driver.LaunchFailed
	}}, fake.H200)
	drv.Variable("watchdog_limits", 32)
	return drv
}

// The error of a kernel that stalls has the table of who waits where, with the lines of Go.
func TestWatchdogTable(t *testing.T) {
	k, at := stallKernel(t)
	d := openFake(t, stallFake(t, 7, 3), WithWatchdog(2*time.Second))
	f := must(d.Load(k))
	s := d.Stream()
	ok(t, s.Launch(f, 9, unsafe.Pointer(&struct{ y uint64 }{1})))
	err := s.Sync(background)
	want := fmt.Sprintf(`device: cuda:0: work up to the launch of stall (grid 9): deadlock in kernel stall: a warp has waited for 2.1s
  blocks 3, 7:
    warp 0 waits at watchdog_test.go:%[1]d for the phase of parity 0 of bar0[1]
      bar0[1] is in a phase of parity 0: 2 of 3 arrivals pending
      who arrives does so at watchdog_test.go:%[3]d
    warp 1 waits at watchdog_test.go:%[2]d at named barrier 1: 1 warp of 2 warps have yet to come
    warp 2 waits at the barrier of watchdog_test.go:%[4]d
    warp 3 has left the kernel
cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED (injected or found by the fake); the device is lost to this process`, at.wait, at.named, at.arrive, at.made)
	if err == nil || err.Error() != want {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
	is(t, err, ErrDeadlock)
	is(t, err, ErrSticky)
	var e *Error
	var de *driver.Error
	if !errors.As(err, &e) || e.Code != driver.LaunchFailed || e.Call != "cuStreamSynchronize" || !errors.As(err, &de) {
		t.Errorf("%#v", err)
	}
	if _, again := d.Alloc(8); again != err {
		t.Errorf("after the device is lost: %v", again)
	}
}

// A failure without a report stays what it is.
func TestWatchdogWithoutReport(t *testing.T) {
	k, _ := stallKernel(t)
	d := openFake(t, stallFake(t), WithWatchdog(2*time.Second))
	ok(t, d.Stream().Launch(must(d.Load(k)), 1, unsafe.Pointer(&struct{ y uint64 }{1})))
	if err := d.Stream().Sync(background); errors.Is(err, ErrDeadlock) || !errors.Is(err, ErrSticky) {
		t.Errorf("%v", err)
	}
}

// The option and the variable compile the printing with bounds, which the cache keeps apart from the clean one; the bound
// is no part of it.
func TestWithWatchdog(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	k, _ := stallKernel(t)
	embedded := "\x7fELF embedded"
	k.Embedded = []string{sealed(k.Source, nvrtc.Options{}.Text(), "sm_90a", []byte(embedded))}
	comp := &fakeCompiler{}
	image := func(opts ...Option) string {
		drv := stallFake(t)
		d := opened(t, "cuda:0", append(opts, withFake(drv, comp))...)
		must(d.Load(k))
		return string(drv.Images()[0])
	}
	const mark = "watchdog_wait("
	if got := image(); got != embedded {
		t.Errorf("without the option:\n%s", got)
	}
	if clean := image(WithoutEmbedded()); strings.Contains(clean, "watchdog") {
		t.Errorf("compiled without the option:\n%s", clean)
	}
	if text := image(WithWatchdog(time.Second)); !strings.Contains(text, mark) || strings.Contains(text, "#line") {
		t.Errorf("no %q in\n%s", mark, text)
	}
	if text := image(WithWatchdog(time.Minute), WithLines()); !strings.Contains(text, mark) || !strings.Contains(text, "#line") {
		t.Errorf("with lines:\n%s", text)
	}
	t.Setenv(env.Watchdog, "1500ms")
	if text := image(); !strings.Contains(text, mark) {
		t.Errorf("no %q in\n%s", mark, text)
	}
	if n := comp.compiled.Load(); n != 3 {
		t.Errorf("compiled %d times, want once for each printing", n)
	}
	if got := image(WithWatchdog(0)); got != embedded {
		t.Errorf("the option does not go before the variable:\n%s", got)
	}
	t.Setenv(env.Watchdog, "0")
	if got := image(); got != embedded {
		t.Errorf("with the variable 0:\n%s", got)
	}
}

// What is no bound, and a kernel that cannot be watched, are refused with a way out.
func TestWatchdogRefuses(t *testing.T) {
	for _, bound := range []time.Duration{-1, time.Millisecond - 1} {
		for _, name := range []string{"sim", "cuda:0"} {
			if _, err := Open(name, WithWatchdog(bound), withFake(stallFake(t), &fakeCompiler{})); err == nil || !strings.Contains(err.Error(), "at least 1ms") {
				t.Errorf("%v on %s: %v", bound, name, err)
			}
		}
	}
	t.Setenv(env.Watchdog, "2")
	if _, err := Open("sim"); err == nil || !strings.Contains(err.Error(), `GOTILE_WATCHDOG is "2", which is no duration such as 2s`) {
		t.Errorf("%v", err)
	}
	opened(t, "sim", WithWatchdog(time.Second)) // it goes before the variable
	t.Setenv(env.Watchdog, "2s")

	d := openFake(t, stallFake(t))
	refused := func(what string, change func(k *Kernel), words ...string) {
		t.Helper()
		k, _ := stallKernel(t)
		change(k)
		_, err := d.Load(k)
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	refused("no Build", func(k *Kernel) { k.Build = nil }, "no Build function", "without WithWatchdog, and unset GOTILE_WATCHDOG")
	refused("stale", func(k *Kernel) { k.Source = strings.Replace(k.Source, "127", "128", 1) + " " }, "the generated file is stale")
	refused("too much shared memory", func(k *Kernel) {
		build := k.Build
		k.Build = func() (Program, error) {
			p, err := build()
			return largeProgram{p}, err
		}
	}, "784 bytes of shared memory beside the kernel's 232000, and sm_90a has 232448", "fewer stages")
}

// Each call of the driver that the watchdog makes in turn fails: the error names it, and nothing is left.
func TestWatchdogCallsCanFail(t *testing.T) {
	k, _ := stallKernel(t)
	for _, call := range []string{"cuModuleGetGlobal", "cuMemHostAlloc", "cuMemcpyHtoD"} {
		drv := stallFake(t)
		d := openFake(t, drv, WithWatchdog(2*time.Second))
		drv.Fail(call, 1, driver.OutOfMemory)
		_, err := d.Load(k)
		is(t, err, ErrOutOfMemory, call, "kernel stall")
		must(d.Load(k)) // the next time
		ok(t, d.Close())
		if n := len(drv.Live()); n != 0 {
			t.Errorf("%s: not given back: %v", call, drv.Live())
		}
	}
}

// A module without the variable is an error, not a watchdog that never barks.
func TestWatchdogWithoutVariable(t *testing.T) {
	k, _ := stallKernel(t)
	for _, bytes := range []int{0, 24} {
		drv := stallFake(t)
		drv.Variable(waitfor.Limits, bytes)
		d := openFake(t, drv, WithWatchdog(2*time.Second))
		if _, err := d.Load(k); err == nil {
			t.Errorf("a variable of %d bytes is taken", bytes)
		}
	}
}

// largeProgram takes almost all shared memory.
type largeProgram struct{ Program }

func (p largeProgram) Lower(target string) (*thr.Kernel, error) {
	k, err := p.Program.Lower(target)
	if err == nil {
		k.SharedBytes = 232000
	}
	return k, err
}
