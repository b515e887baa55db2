//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// stub opens testdata/stub.c, compiled.
func stub(t *testing.T) *library {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc) to build testdata/stub.c with")
	}
	so := filepath.Join(t.TempDir(), "libcuda-stub.so")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-O1", "-o", so, filepath.Join("testdata", "stub.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l, err := openLibrary(so)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestQueries(t *testing.T) {
	l := stub(t)
	if v := must[int](t)(l.Version()); v != 13000 {
		t.Errorf("version %d", v)
	}
	if n := must[int](t)(l.DeviceCount()); n != 2 {
		t.Errorf("%d devices", n)
	}
	if s := must[string](t)(l.DeviceName(1)); s != "Stub GPU 1" {
		t.Errorf("name %q", s)
	}
	if n := must[int64](t)(l.DeviceMemory(0)); n != 141<<30 {
		t.Errorf("memory %d", n)
	}
	if v := must[int](t)(l.DeviceAttribute(1, MultiprocessorCount)); v != 16041 {
		t.Errorf("attribute 16 of CUdevice 41: %d", v)
	}
	if _, err := l.DeviceName(2); !errors.Is(err, InvalidDevice) {
		t.Errorf("device 2: %v", err)
	}
}

func TestMemory(t *testing.T) {
	c := must[Context](t)(stub(t).Retain(0))
	s := must[Stream](t)(c.NewStream())
	p, q := must[Ptr](t)(c.Alloc(64)), must[Ptr](t)(c.Alloc(64))
	in, out := []byte("0123456789abcdef"), make([]byte, 16)
	copies := map[string]func(){
		"sync": func() { ok(t, c.CopyIn(p, in)); ok(t, c.Copy(q, p, 16)); ok(t, c.CopyOut(out, q)) },
		"async": func() {
			ok(t, c.CopyInAsync(p, in, s))
			ok(t, c.CopyAsync(q, p, 16, s))
			ok(t, c.CopyOutAsync(out, q, s))
		},
		"set8": func() {
			ok(t, c.Set8Async(p, 'x', 16, s))
			ok(t, c.CopyOut(out, p))
			if string(out) != strings.Repeat("x", 16) {
				t.Errorf("bytes set: %q", out)
			}
			ok(t, c.CopyIn(p, in))
			ok(t, c.CopyOut(out, p))
		},
		"set32": func() {
			ok(t, c.Set32Async(p, 0x33323130, 1, s))
			ok(t, c.CopyIn(p+4, in[4:]))
			ok(t, c.CopyOut(out, p))
		},
	}
	for name, do := range copies {
		clear(out)
		do()
		if !bytes.Equal(in, out) {
			t.Errorf("%s: %q", name, out)
		}
	}
	_, err := c.Alloc(2 << 30)
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, OutOfMemory) || e.Error() != "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)" {
		t.Errorf("too much memory: %v", err)
	}
	if _, err := c.AllocHost(2 << 30); !errors.Is(err, OutOfMemory) {
		t.Errorf("too much pinned memory: %v", err)
	}
	host := must[[]byte](t)(c.AllocHost(1000))
	if len(host) != 1000 {
		t.Errorf("%d bytes of pinned memory", len(host))
	}
	copy(host, "pinned")
	ok(t, c.CopyInAsync(p, host[:6], s))
	ok(t, c.CopyOutAsync(host[994:], p, s))
	if string(host[994:]) != "pinned" {
		t.Errorf("%q", host[994:])
	}
	ok(t, c.FreeHost(host))
	ok(t, c.Free(p))
	ok(t, c.Free(q))
	ok(t, c.DestroyStream(s))
	ok(t, c.Release())
}

func TestModulesAndEvents(t *testing.T) {
	c := must[Context](t)(stub(t).Retain(0))
	if _, err := c.LoadModule([]byte("PTX\x00")); !errors.Is(err, InvalidImage) {
		t.Errorf("no ELF file: %v", err)
	}
	m := must[Module](t)(c.LoadModule([]byte("\x7fELF scale\x00")))
	f := must[Function](t)(c.Function(m, "scale"))
	if _, err := c.Function(m, "missing"); !errors.Is(err, NotFound) {
		t.Errorf("missing function: %v", err)
	}
	ok(t, c.SetFunctionAttribute(f, MaxDynamicShared, 227<<10))
	if v := must[int](t)(c.FunctionAttribute(f, MaxDynamicShared)); v != 227<<10 {
		t.Errorf("shared memory %d", v)
	}
	if v := must[int](t)(c.FunctionAttribute(f, FunctionRegisters)); v != 104 {
		t.Errorf("registers %d", v)
	}
	if n := must[int](t)(c.MaxActiveBlocks(f, 256, 3<<10)); n != 8+3 {
		t.Errorf("blocks %d", n)
	}

	shape := LaunchConfig{Grid: [3]uint32{4, 1, 1}, Block: [3]uint32{256, 1, 1}, Shared: 3 << 10, Cluster: [3]uint32{4, 1, 1}}
	if n := must[int](t)(c.MaxActiveClusters(f, shape)); n != 4000+400+8+3 {
		t.Errorf("clusters %d", n)
	}

	s, a, b := must[Stream](t)(c.NewStream()), must[Event](t)(c.NewEvent()), must[Event](t)(c.NewEvent())
	if must[bool](t)(c.QueryEvent(a)) {
		t.Error("an event that was not recorded has happened")
	}
	ok(t, c.RecordEvent(a, s))
	ok(t, c.RecordEvent(b, s))
	ok(t, c.WaitEvent(s, a))
	ok(t, c.SyncEvent(b))
	if !must[bool](t)(c.QueryEvent(b)) {
		t.Error("a recorded event has not happened")
	}
	if ms := must[float32](t)(c.Elapsed(a, b)); ms != 1.5 {
		t.Errorf("%v ms", ms)
	}
	ok(t, c.DestroyEvent(a))
	ok(t, c.UnloadModule(m))
}

// launchArgs is what the stub's launch reads.
type launchArgs struct {
	report Ptr
	number uint32
	_      uint32
}

func TestLaunch(t *testing.T) {
	c := must[Context](t)(stub(t).Retain(1))
	s, p := must[Stream](t)(c.NewStream()), must[Ptr](t)(c.Alloc(52))
	f := must[Function](t)(c.Function(must[Module](t)(c.LoadModule([]byte("\x7fELF scale\x00"))), "scale"))
	for _, cluster := range [][3]uint32{{}, {4, 1, 1}} {
		config := LaunchConfig{Grid: [3]uint32{11, 12, 13}, Block: [3]uint32{128, 2, 1}, Shared: 99 << 10, Cluster: cluster, Stream: s}
		ok(t, c.Launch(f, config, unsafe.Pointer(&launchArgs{report: p, number: 7})))
		if must[bool](t)(c.QueryStream(s)) {
			t.Error("the stream is idle after a launch")
		}
		ok(t, c.SyncStream(s))
		if !must[bool](t)(c.QueryStream(s)) {
			t.Error("the stream is busy after waiting")
		}
		raw := make([]byte, 52)
		ok(t, c.CopyOut(raw, p))
		got := make([]uint32, 13)
		for i := range got {
			got[i] = binary.LittleEndian.Uint32(raw[4*i:])
		}
		want := []uint32{11, 12, 13, 128, 2, 1, 99 << 10, 0, 0, 0, 0, 0, 7}
		if cluster != [3]uint32{} {
			copy(want[7:], []uint32{1, attrCluster, 4, 1, 1})
		}
		if !slices.Equal(got, want) {
			t.Errorf("cluster %v: the kernel saw %v, want %v", cluster, got, want)
		}
	}
	err := c.Launch(f, LaunchConfig{Grid: [3]uint32{1, 1, 1}, Stream: s}, unsafe.Pointer(&launchArgs{number: 99}))
	if err == nil || err.Error() != "cuLaunchKernelEx: CUresult(4242)" {
		t.Errorf("a code that nobody knows: %v", err)
	}
}

func TestGraph(t *testing.T) {
	c := must[Context](t)(stub(t).Retain(0))
	s, p := must[Stream](t)(c.NewStream()), must[Ptr](t)(c.Alloc(52))
	f := must[Function](t)(c.Function(must[Module](t)(c.LoadModule([]byte("\x7fELF scale\x00"))), "scale"))
	config := LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}
	ok(t, c.BeginCapture(s))
	for range 3 {
		ok(t, c.Launch(f, config, unsafe.Pointer(&launchArgs{report: p})))
	}
	if !must[bool](t)(c.QueryStream(s)) {
		t.Error("a launch that is captured runs")
	}
	g := must[Graph](t)(c.EndCapture(s))
	if _, err := c.EndCapture(s); !errors.Is(err, CaptureInvalidated) {
		t.Errorf("ended twice: %v", err)
	}
	if n := must[int](t)(c.GraphNodes(g)); n != 3 {
		t.Errorf("%d nodes", n)
	}
	e := must[GraphExec](t)(c.Instantiate(g))
	ok(t, c.DestroyGraph(g))
	ok(t, c.LaunchGraph(e, s))
	if must[bool](t)(c.QueryStream(s)) {
		t.Error("the stream is idle after a graph was launched")
	}
	if n := testing.AllocsPerRun(100, func() { c.LaunchGraph(e, s) }); n != 0 && !raceEnabled {
		t.Errorf("%v allocations a launch of a graph", n)
	}
	ok(t, c.DestroyGraphExec(e))
}

func TestLaunchAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("testing.AllocsPerRun is wrong under -race")
	}
	c := must[Context](t)(stub(t).Retain(0))
	s, p := must[Stream](t)(c.NewStream()), must[Ptr](t)(c.Alloc(52))
	f := must[Function](t)(c.Function(must[Module](t)(c.LoadModule([]byte("\x7fELF scale\x00"))), "scale"))
	args := &launchArgs{report: p}
	config := LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}
	if n := testing.AllocsPerRun(1000, func() {
		if c.Launch(f, config, unsafe.Pointer(args)) != nil {
			t.Fatal("launch failed")
		}
	}); n != 0 {
		t.Errorf("%v allocations a launch", n)
	}
	if n := testing.AllocsPerRun(1000, func() { c.QueryStream(s) }); n != 0 {
		t.Errorf("%v allocations a query", n)
	}
}

// Goroutines use two contexts at once: with a call outside the locked section the stub finds the wrong one current.
func TestContextPerCall(t *testing.T) {
	l := stub(t)
	var wg sync.WaitGroup
	for dev := range 2 {
		c := must[Context](t)(l.Retain(dev))
		for range 8 {
			s := must[Stream](t)(c.NewStream())
			wg.Go(func() {
				for range 2000 {
					if err := c.SyncStream(s); err != nil {
						t.Errorf("device %d: %v", dev, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestNoLibrary(t *testing.T) {
	_, err := openLibrary("libcuda-which-is-not-there.so.1")
	if !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), "libcuda-which-is-not-there.so.1") {
		t.Errorf("%v", err)
	}
}

// dlerror's text is of the thread that failed; a goroutine that changed threads in between would find none. More
// goroutines than processors make it change often.
func TestReasonIsNeverEmpty(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for range 500 {
				for file, want := range map[string]string{"libcuda-which-is-not-there.so.1": "libcuda-which-is-not-there.so.1: ", "libc.so.6": "undefined symbol"} {
					if _, err := openLibrary(file); err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: the reason in %v lacks %q", file, err, want)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestOldLibrary(t *testing.T) {
	_, err := openLibrary("libc.so.6")
	if err == nil || !strings.Contains(err.Error(), "lacks cuInit") || !strings.Contains(err.Error(), "11.8") {
		t.Errorf("a library without the functions: %v", err)
	}
}
