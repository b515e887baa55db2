package device

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/env"
)

const stickyChild = "DEVICE_TEST_STICKY"

// A wild write on a real GPU, in a process of its own, since it loses the device.
func TestStickyOnGPU(t *testing.T) {
	d := gpu(t)
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
