package device

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/waitfor"
	"github.com/gotile/gotile/tile"
)

// needsHardware skips a test for which drivertest's library in the place of libcuda is not enough.
func needsHardware(t *testing.T, d *Device) {
	t.Helper()
	if strings.HasPrefix(d.Info().Name, "Loopback GPU") {
		t.Skip("no GPU: the library that stands in for libcuda does all work at once, on the host")
	}
}

const stickyChild = "DEVICE_TEST_STICKY"

// A wild write on a real GPU, in a process of its own, since it loses the device.
func TestStickyOnGPU(t *testing.T) {
	d := gpu(t)
	needsHardware(t, d)
	if os.Getenv(stickyChild) == "" {
		exe, err := os.Executable()
		ok(t, err)
		cmd := exec.Command(exe, "-test.run=^TestStickyOnGPU$", "-test.v")
		cmd.Env = append(os.Environ(), stickyChild+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestStickyOnGPU") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	s, f, x := d.Stream(), must(d.Load(scaleKernel())), must(NewTensor(d, dtype.F32, 4))
	ok(t, s.Launch(f, 3, unsafe.Pointer(&scaleArgs{x: x.Addr(), y: 8, n: 4})))
	first := s.Sync(background)
	is(t, first, ErrSticky, "work up to the launch of scale (grid 3)")
	if _, err := d.Alloc(8); err != first {
		t.Errorf("after the device is lost: %v", err)
	}
	ok(t, x.Close())
}

// The sizes of shared memory that need asking for, and a warm cache.
func TestLoadOnGPU(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	for range 2 {
		d := gpu(t)
		k := scaleKernel()
		k.Shared = d.Info().SharedPerBlock
		f := must(d.Load(k))
		if f.Blocks() != d.Info().SMs {
			t.Errorf("%d blocks with all shared memory on %d SMs", f.Blocks(), d.Info().SMs)
		}
		x := must(NewTensor(d, dtype.F32, 1))
		ok(t, UploadFloats(d.Stream(), x, []float64{3}))
		ok(t, d.Stream().Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 2, 1})))
		if y := must(DownloadFloats(d.Stream(), x)); y[0] != 6 {
			t.Errorf("2*3 = %v", y[0])
		}
		t.Logf("%+v, target %s", d.Info(), d.Target().Name)
	}
}

// keepBusy queues some tenths of a second of work that goes on after it returns: x becomes x.
func keepBusy(t *testing.T, s *Stream, x Tensor) {
	t.Helper()
	f := must(s.Device().Load(scaleKernel()))
	n := x.Elems()
	for range 2000 {
		ok(t, s.Launch(f, n/scaleThreads, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 1, int32(n)})))
	}
}

// busy reports whether a stream has work under way.
func busy(t *testing.T, s *Stream) bool {
	t.Helper()
	idle, err := s.d.back.idle(s.h.raw)
	ok(t, err)
	return !idle
}

const busyElems = 64 << 20

// The order of the pool while a GPU is at work: a stream gets its own memory back at once, others get other memory
// until the work is done.
func TestPoolOnGPU(t *testing.T) {
	d := gpu(t)
	needsHardware(t, d)
	s := d.Stream()
	x, y := must(s.NewTensor(dtype.F32, busyElems)), must(NewTensor(d, dtype.F32, busyElems))
	keepBusy(t, s, x)
	keepBusy(t, s, y)
	xa, ya := x.Addr(), y.Addr()
	ok(t, errors.Join(x.Close(), y.Close()))
	own := must(s.NewTensor(dtype.F32, busyElems))
	other := must(NewTensor(d, dtype.F32, busyElems))
	if !busy(t, s) {
		t.Error("the GPU was done before the memory was asked for; nothing is shown")
	}
	if own.Addr() != xa || other.Addr() == ya {
		t.Errorf("own memory %#x, was %#x; other memory %#x, in use is %#x", own.Addr(), xa, other.Addr(), ya)
	}
	ok(t, s.Sync(background))
	if again := must(NewTensor(d, dtype.F32, busyElems)); again.Addr() != ya {
		t.Errorf("memory out of use %#x was not given out, but %#x", ya, again.Addr())
	}
	// Half of the device's memory and more, in two sizes: the second needs what the first gave back.
	for _, part := range []int64{55, 60} {
		b := must(d.Alloc(int(d.Info().Memory / 100 * part)))
		ok(t, s.Fill(b, 0, b.Bytes(), 1))
		ok(t, b.Close())
	}
	n, err := d.Trim()
	ok(t, err)
	t.Logf("trimmed %d bytes (what the last fill uses stays); %+v", n, d.Memory())
	ok(t, s.Sync(background))
	if _, err := d.Trim(); err != nil || d.Memory().Reserved != d.Memory().InUse {
		t.Errorf("%v, %+v", err, d.Memory())
	}
}

// A graph of many launches, whose memory was closed and whose neighbours changed hands, still computes the same.
func TestGraphOnGPU(t *testing.T) {
	d := gpu(t)
	s := d.Stream()
	const n, launches = 1 << 16, 1000
	x, y, z := must(NewTensor(d, dtype.F32, n)), must(NewTensor(d, dtype.F32, n)), must(NewTensor(d, dtype.F32, n))
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	ok(t, UploadFloats(s, x, ones))
	g := must(s.Capture(func() error {
		f, err := d.Load(scaleKernel()) // compiles and loads within the capture
		if err != nil {
			return err
		}
		if err := s.Launch(f, n/scaleThreads, unsafe.Pointer(&scaleArgs{x.Addr(), y.Addr(), 2, n})); err != nil {
			return err
		}
		for range launches - 2 {
			if err := s.Launch(f, n/scaleThreads, unsafe.Pointer(&scaleArgs{y.Addr(), y.Addr(), 1, n})); err != nil {
				return err
			}
		}
		return s.Launch(f, n/scaleThreads, unsafe.Pointer(&scaleArgs{y.Addr(), z.Addr(), 3, n}))
	}))
	if g.Nodes() != launches || g.Kernels()["scale"] != launches {
		t.Errorf("%s", g)
	}
	ok(t, y.Close()) // the graph holds it
	for range 4 {
		b := must(s.NewTensor(dtype.F32, n))
		ok(t, s.Fill(b.Buffer(), 0, 4*n, 0xff))
		ok(t, b.Close())
	}
	ok(t, g.Launch(s))
	start := must(s.Record())
	ok(t, g.Launch(s))
	end := must(s.Record())
	for i, v := range must(DownloadFloats(s, z)) {
		if v != 6 {
			t.Fatalf("z[%d] = %v", i, v)
		}
	}
	t.Logf("%v a launch in %s", must(end.Since(start))/launches, g)
	if got := d.Launches()["scale"]; got != 2*launches {
		t.Errorf("%d launches", got)
	}
	ok(t, errors.Join(g.Close(), start.Close(), end.Close(), x.Close(), z.Close()))
	if m := d.Memory(); m.InUse != 0 {
		t.Errorf("%+v", m)
	}
}

// What is allocated, waited for and loaded by others while a stream captures does not break the capture.
func TestCaptureBesideWorkOnGPU(t *testing.T) {
	d := gpu(t)
	s, other := d.Stream(), must(d.NewStream())
	x := must(NewTensor(d, dtype.F32, scaleThreads))
	ok(t, UploadFloats(s, x, make([]float64, scaleThreads)))
	for i := range 20 {
		g := must(s.Capture(func() error {
			f, err := d.Load(scaleKernel())
			done := make(chan error)
			go func() {
				y, err := NewTensor(d, dtype.F32, 1<<20+i<<16) // new memory each time
				h, err2 := d.Pinned(1 << 16)
				err3 := other.CopyInAsync(y.Buffer(), 0, h, 0, 1<<16)
				_, err4 := d.Load(scaleKernel())
				done <- errors.Join(err, err2, err3, err4, other.Sync(background), y.Close(), h.Close())
			}()
			err = errors.Join(err, <-done)
			if err != nil {
				return err
			}
			return s.Launch(f, 1, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 2, scaleThreads}))
		}))
		ok(t, g.Launch(s))
		ok(t, g.Close())
	}
	ok(t, s.Sync(background))
}

// A copy to pinned memory is queued behind work, and the host goes on.
func TestPinnedOnGPU(t *testing.T) {
	d := gpu(t)
	needsHardware(t, d)
	s, x, h := d.Stream(), must(NewTensor(d, dtype.F32, busyElems)), must(d.Pinned(4*busyElems))
	ok(t, s.Fill(x.Buffer(), 0, 4*busyElems, 0))
	keepBusy(t, s, x)
	ok(t, s.Fill(x.Buffer(), 0, 4*busyElems, 0x41))
	clear(h.Bytes())
	ok(t, s.CopyOutAsync(h, 0, x.Buffer(), 0, 4*busyElems))
	if !busy(t, s) {
		t.Error("the copy was waited for")
	}
	start := must(s.Record())
	ok(t, s.Sync(background))
	for i, b := range h.Bytes() {
		if b != 0x41 {
			t.Fatalf("byte %d is %#x", i, b)
		}
	}
	ok(t, s.CopyInAsync(x.Buffer(), 0, h, 0, 4*busyElems))
	end := must(s.Record())
	ok(t, s.Sync(background))
	t.Logf("%d bytes to the device in %v", len(h.Bytes()), must(end.Since(start)))
	ok(t, errors.Join(h.Close(), x.Close()))
}

// The driver runs clusters, and says how many it holds.
func TestClustersOnGPU(t *testing.T) {
	d := gpu(t)
	needsHardware(t, d)
	const scaled = "  if (i < p.n) p.y[i] = p.a * p.x[i];\n"
	// Each block scales by its number in the cluster, after all blocks of the cluster have come.
	ranked := "  unsigned rank;\n  asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\" ::: \"memory\");\n" +
		"  asm(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(rank));\n  if (i < p.n) p.y[i] = (float)rank * p.a * p.x[i];\n"
	for n := 2; n <= d.Target().Cluster; n *= 2 {
		k := scaleKernel()
		k.Cluster, k.Source = n, strings.Replace(scaleClustered(n), scaled, ranked, 1)
		f := must(d.Load(k))
		blocks := f.Blocks()
		t.Logf("clusters of %d: %d blocks at once", n, blocks)
		if blocks < n || blocks%n != 0 {
			t.Errorf("%d blocks", blocks)
		}
		x := must(NewTensor(d, dtype.F32, blocks*scaleThreads))
		ones := make([]float64, x.Elems())
		for i := range ones {
			ones[i] = 1
		}
		ok(t, UploadFloats(d.Stream(), x, ones))
		ok(t, d.Stream().Launch(f, blocks, unsafe.Pointer(&scaleArgs{x.Addr(), x.Addr(), 1, int32(x.Elems())})))
		for i, v := range must(DownloadFloats(d.Stream(), x)) {
			if want := float64(i / scaleThreads % n); v != want {
				t.Fatalf("clusters of %d: element %d is %v, want %v", n, i, v, want)
			}
		}
		ok(t, x.Close())
	}
}

// BenchmarkGraphLaunch is the host's time for a replay of a graph of 10 launches, waiting every 64.
func BenchmarkGraphLaunch(b *testing.B) {
	d := gpu(b)
	s, f := d.Stream(), must(d.Load(scaleKernel()))
	g := must(s.Capture(func() error {
		var err error
		for range 10 {
			err = errors.Join(err, s.Launch(f, 1, unsafe.Pointer(&scaleArgs{})))
		}
		return err
	}))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := g.Launch(s); err != nil {
			b.Fatal(err)
		}
		if i%64 == 63 {
			if err := s.Sync(background); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkAlloc is the time to get memory and give it back: from the pool, and from the driver.
func BenchmarkAlloc(b *testing.B) {
	d := gpu(b)
	const bytes = 64 << 20
	b.Run("pool", func(b *testing.B) {
		for b.Loop() {
			if err := must(d.Stream().Alloc(bytes)).Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("driver", func(b *testing.B) {
		for b.Loop() {
			addr := must(d.back.alloc(bytes))
			if err := d.back.free(addr); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLaunch is the host's time for a launch of an empty kernel, waiting every 512 launches.
func BenchmarkLaunch(b *testing.B) {
	d := gpu(b)
	k := scaleKernel()
	a := scaleArgs{}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f, err := d.Load(k)
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Stream().Launch(f, 1, unsafe.Pointer(&a)); err != nil {
			b.Fatal(err)
		}
		if i%512 == 511 {
			if err := d.Stream().Sync(background); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// wordSource writes the 64 bits of an mbarrier after each of some operations. It shows them when it is invalid, and no
// sooner, so that each number of operations is done with a barrier of its own.
const wordSource = `
typedef unsigned long long u64;
struct words_args { u64 *out; };
extern "C" __global__ void words(const __grid_constant__ words_args a) {
  __shared__ u64 bars[8];
  if (threadIdx.x >= 8) return;
  unsigned at = (unsigned)__cvta_generic_to_shared(&bars[threadIdx.x]), last = threadIdx.x, i = 0;
#define DO(text) if (i++ <= last) asm volatile(text :: "r"(at) : "memory");
  DO("mbarrier.init.shared.b64 [%0], 5;")
  DO("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0], 2; }")
  DO("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], 1000;")
  DO("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], 300;")
  DO("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0], 3; }")
  DO("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], 700;")
  DO("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], 16;")
  DO("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], 48;")
  asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(at) : "memory");
  asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(a.out[threadIdx.x]) : "r"(at));
}
`

// Where an mbarrier keeps its counts.
func TestMBarrierWordOnGPU(t *testing.T) {
	d := gpu(t)
	needsHardware(t, d)
	if d.Target().CC < 90 {
		t.Skip("mbarriers of this GPU count no bytes")
	}
	var want []waitfor.Word
	for _, w := range [][4]int{{0, 5, 5, 0}, {0, 3, 5, 0}, {0, 3, 5, 1000}, {0, 3, 5, 700}, {0, 0, 5, 700}, {1, 5, 5, 0}, {1, 5, 5, 16},
		{1, 5, 5, -32}} {
		want = append(want, waitfor.Word{Parity: w[0], Pending: w[1], Count: w[2], Bytes: w[3]})
	}
	y := must(NewTensor(d, dtype.I64, len(want)))
	f := must(d.Load(&Kernel{Name: "words", Source: wordSource, Threads: 32, ArgBytes: 8}))
	ok(t, d.Stream().Launch(f, 1, unsafe.Pointer(&struct{ out uint64 }{y.Addr()})))
	got := make([]tile.I64, len(want))
	ok(t, Download(d.Stream(), got, y))
	for i, w := range got {
		t.Logf("%2d: %#016x %+v", i, uint64(w), waitfor.WordOf(d.Target().Name, uint64(w)))
		if have := waitfor.WordOf(d.Target().Name, uint64(w)); have != want[i] {
			t.Errorf("after operation %d it is %#016x, read as %+v, want %+v", i, uint64(w), have, want[i])
		}
	}
	ok(t, y.Close())
}
