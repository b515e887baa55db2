package device

import (
	"errors"
	"fmt"
	"io"
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

func TestLaunch(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		s, f := d.Stream(), must(d.Load(scaleKernel()))
		for _, n := range []int{1, 63, 64, 65, 1000} {
			x, y := must(NewTensor(d, dtype.F32, n)), must(NewTensor(d, dtype.F32, n))
			in := make([]float64, n)
			for i := range in {
				in[i] = float64(i)
			}
			ok(t, UploadFloats(s, x, in))
			a := scaleArgs{x.Addr(), y.Addr(), -0.5, int32(n)}
			ok(t, s.Launch(f, (n+scaleThreads-1)/scaleThreads, unsafe.Pointer(&a)))
			a = scaleArgs{} // Launch has copied it
			ok(t, s.Sync(background))
			for i, v := range must(DownloadFloats(s, y)) {
				if v != -0.5*float64(i) {
					t.Fatalf("n = %d: y[%d] = %v", n, i, v)
				}
			}
			ok(t, x.Close())
			ok(t, y.Close())
		}
		if got := d.Launches(); len(got) != 1 || got["scale"] != 5 {
			t.Errorf("launches %v, want 5 of scale", got)
		}
		if f.Blocks() < d.Info().SMs || f.Blocks()%d.Info().SMs != 0 {
			t.Errorf("%d blocks on %d SMs", f.Blocks(), d.Info().SMs)
		}
	})
}

// What is nil is an error that says so, or means nothing: it is no panic.
func TestNil(t *testing.T) {
	each(t, func(t *testing.T, d *Device) {
		s := d.Stream()
		g, e := must(s.Capture(func() error { return nil })), must(s.Record())
		for word, do := range map[string]func() error{
			"Capture without a function":        func() error { _, err := s.Capture(nil); return err },
			"launch of a graph on a nil stream": func() error { return g.Launch(nil) },
			"Wait for a nil event":              func() error { return s.Wait(nil) },
			"Since a nil event":                 func() error { _, err := e.Since(nil); return err },
			"nil buffer":                        func() error { return s.Fill(nil, 0, 1, 0) },
			"nil pinned buffer":                 func() error { return s.CopyInAsync(must(d.Alloc(8)), 0, nil, 0, 8) },
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), d.Name()) || !strings.Contains(err.Error(), word) {
				t.Errorf("%v, want %q", err, word)
			}
		}
		ok(t, errors.Join(s.Sync(background), g.Close(), e.Close())) // the stream is as it was
	})
	for _, c := range []io.Closer{(*Device)(nil), (*Stream)(nil), (*Buffer)(nil), (*HostBuffer)(nil), (*Event)(nil), (*Graph)(nil), Tensor{}} {
		ok(t, c.Close()) // deferred ahead of the check of an error, which a panic would hide
	}
	if _, err := Open("cuda:0", WithDriver(nil)); err == nil || !strings.Contains(err.Error(), "WithDriver") {
		t.Errorf("no driver: %v", err)
	}
	d := openFake(t, newFake(fake.H200), WithLogger(nil))
	drop(d) // is logged
	for deadline := time.Now().Add(10 * time.Second); d.Drain() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no leak is found")
		}
		runtime.GC()
	}
}

func TestLaunchRefuses(t *testing.T) {
	other := opened(t, "sim")
	each(t, func(t *testing.T, d *Device) {
		s, f := d.Stream(), must(d.Load(scaleKernel()))
		a := scaleArgs{}
		args := unsafe.Pointer(&a)
		ok(t, s.Launch(f, 0, args))
		is(t, s.Launch(f, -1, args), ErrShape, "scale", "-1 blocks")
		is(t, s.Launch(f, 1<<31, args), ErrShape, "2147483648 blocks")
		is(t, s.Launch(must(other.Load(scaleKernel())), 1, args), ErrWrongDevice, "scale")
		if err := s.Launch(f, 1, nil); err == nil || !strings.Contains(err.Error(), "24 bytes of arguments") {
			t.Errorf("no arguments: %v", err)
		}
		if err := s.Launch(nil, 1, args); err == nil {
			t.Error("a nil Func is accepted")
		}
		if got := d.Launches(); len(got) != 0 {
			t.Errorf("launches %v are counted", got)
		}
	})
}

func TestLaunchAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("testing.AllocsPerRun is wrong under -race")
	}
	d := openFake(t, newFake(fake.H200))
	k := scaleKernel()
	x := must(NewTensor(d, dtype.F32, scaleThreads))
	ok(t, UploadFloats(d.Stream(), x, make([]float64, scaleThreads)))
	s := d.Stream()
	launch := func() error {
		f, err := d.Load(k)
		if err != nil {
			return err
		}
		a := scaleArgs{x: x.Addr(), y: x.Addr(), a: 2, n: scaleThreads}
		return s.Launch(f, 1, unsafe.Pointer(&a))
	}
	forward, backward := must(s.Capture(launch)), must(s.Capture(launch))
	if n := testing.AllocsPerRun(1000, func() {
		s.SetPhase("forward")
		err := launch()
		if err == nil {
			err = forward.Launch(s)
		}
		s.SetPhase("backward")
		if err == nil {
			err = launch()
		}
		if err == nil {
			err = backward.Launch(s)
		}
		if err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for two launches and two graphs", n)
	}
}

func TestInfo(t *testing.T) {
	d := openFake(t, newFake(fake.H200))
	got := d.Info()
	got.Driver = "" // of the machine that the test runs on
	want := Info{Name: "NVIDIA H200", GPU: "h200", Major: 9, SMs: 132, Memory: fake.H200.Memory, L2: 60 << 20, SharedPerBlock: 227 << 10, CUDA: "13.0", NVRTC: "13.0"}
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if d.Target().Name != "sm_90a" || d.Kind() != CUDA || d.Name() != "cuda:0" {
		t.Errorf("%s %s %s", d.Target().Name, d.Kind(), d.Name())
	}
	s := opened(t, "sim", WithTarget("sm_120a"), WithSim(SimConfig{SMs: 3, BlocksPerSM: 5}))
	if i := s.Info(); i.GPU != "sim" || i.Major != 12 || i.SMs != 3 || i.SharedPerBlock != 99<<10 || s.Kind() != Sim {
		t.Errorf("sim: %+v", i)
	}
	if n := must(s.Load(scaleKernel())).Blocks(); n != 15 {
		t.Errorf("%d blocks on the simulator, want 3*5", n)
	}
}

func TestOpenRefuses(t *testing.T) {
	noLibrary := func(c *config) {
		c.driver = func() (driver.Driver, error) { return nil, fmt.Errorf("x: %w", driver.ErrNoLibrary) }
	}
	broken := func(c *config) {
		c.driver = func() (driver.Driver, error) {
			return nil, &driver.Error{Call: "cuInit", Code: 803, Name: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}
		}
	}
	old := fake.H200
	old.Major, old.Minor = 7, 5
	for _, c := range []struct {
		name   string
		opt    Option
		target error
		words  string
	}{
		{"cuda:0", noLibrary, ErrNoDevice, "no NVIDIA driver"},
		{"cuda:1", withFake(newFake(fake.H200), nil), ErrNoDevice, "shows 1 GPUs"},
		{"cuda:0", withFake(newFake(), nil), ErrNoDevice, "shows 0 GPUs"},
		{"cuda:0", withFake(newFake(old), nil), ErrTarget, "7.5"},
		{"cuda:0", broken, driver.Result(803), "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
	} {
		_, err := Open(c.name, c.opt)
		is(t, err, c.target, c.words)
	}
	for name, want := range map[string]string{"cuda": "cuda:N", "gpu": "cuda:N", "": "cuda:N", "cuda:": "number", "cuda:-1": "number", "cuda:01": "number"} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q): %v", name, err)
		}
	}
	if _, err := Open("sim", WithTarget("sm_91")); err == nil || !strings.Contains(err.Error(), "sm_90a") {
		t.Errorf("unknown target: %v", err)
	}
	_, err := Open("cuda:0", withFake(newFake(fake.H200), nil), WithTarget("sm_120a"))
	is(t, err, ErrTarget, "sm_120a", "9.0")
	if _, err := Open("sim", WithSim(SimConfig{SMs: -1})); !errors.Is(err, ErrShape) {
		t.Errorf("-1 SMs: %v", err)
	}
}

func TestDefaultAndList(t *testing.T) {
	t.Setenv(env.Cache, "off")
	t.Setenv(env.Device, "")
	kind := func(opts ...Option) string {
		d, err := Default(opts...)
		if err != nil {
			return err.Error()
		}
		defer d.Close()
		return d.Name()
	}
	gpu, none := withFake(newFake(fake.H200, fake.H200), &fakeCompiler{}), withFake(newFake(), nil)
	if got := kind(gpu); got != "cuda:0" {
		t.Errorf("with a GPU: %s", got)
	}
	if got := kind(none); got != "sim" {
		t.Errorf("without a GPU: %s", got)
	}
	t.Setenv(env.Device, "cuda:1")
	if got := kind(gpu); got != "cuda:1" {
		t.Errorf("with %s=cuda:1: %s", env.Device, got)
	}
	if got := kind(none); !strings.Contains(got, env.Device) {
		t.Errorf("with %s=cuda:1 and no GPU: %s", env.Device, got)
	}
	drv := newFake(fake.H200, fake.H200)
	if got := list(func() (driver.Driver, error) { return drv, nil }); !slices.Equal(got, []string{"cuda:0", "cuda:1", "sim"}) {
		t.Errorf("list %v", got)
	}
	// A GPU that is there but broken must not turn into a slow success.
	drv.Fail("cuDevicePrimaryCtxRetain", 1, driver.LaunchFailed)
	t.Setenv(env.Device, "")
	if got := kind(withFake(drv, nil)); !strings.Contains(got, "cuDevicePrimaryCtxRetain") {
		t.Errorf("with a broken GPU: %s", got)
	}
}

func TestClose(t *testing.T) {
	drv := newFake(fake.H200)
	t.Setenv(env.Cache, t.TempDir())
	d := must(Open("cuda:0", withFake(drv, &fakeCompiler{})))
	f, b, s := must(d.Load(scaleKernel())), must(d.Alloc(8)), must(d.NewStream())
	e := must(s.Record())
	ok(t, d.Close())
	ok(t, d.Close())
	if live := drv.Live(); len(live) != 0 {
		t.Errorf("not given back: %v", live)
	}
	var a scaleArgs
	_, err := d.Alloc(8)
	is(t, err, ErrClosed)
	_, err = d.NewStream()
	is(t, err, ErrClosed)
	_, err = d.Load(scaleKernel())
	is(t, err, ErrClosed)
	_, err = s.Record()
	is(t, err, ErrClosed)
	is(t, s.Launch(f, 1, unsafe.Pointer(&a)), ErrClosed)
	is(t, d.Stream().Sync(background), ErrClosed)
	is(t, e.Sync(background), ErrClosed)
	for _, err := range []error{b.Close(), s.Close(), e.Close()} {
		ok(t, err) // closing late is fine
	}
}
