package device

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unsafe"

	printer "github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/tile"
)

// hangArgs: Flag is never set.
type hangArgs struct {
	Flag tile.Global[tile.I32] `tile:"64"`
}

// hangs are kernels whose warps wait for ever, by what they wait for, with what a table of them says.
var hangs = []struct {
	name  string
	grid  int
	words []string
	opts  []tile.Option
	body  func(k *tile.Builder, a hangArgs)
}{
	{"mbarrier", 200, []string{"for the phase of parity 0 of bar0[1]", "bar0[1] is in a phase of parity 0: 1 of 2 arrivals pending", "warp 1 waits at the barrier of", "and 60 more:", "room for 64 reports"}, nil,
		func(k *tile.Builder, a hangArgs) {
			warp := k.Warp()
			bar := tile.NewMBarriers(k, 2, 2).At(1)
			tile.If(warp, warp.Index().EqInt(0), func() {
				bar.ArriveOnce(warp)
				bar.Wait(warp, 0)
			})
			k.Block().Sync()
		}},
	{"token", 1, []string{"for the phase of parity 0 of bar0[0]", "in a phase of parity 0: 32 of 64 arrivals pending", "warp 1 has left the kernel"}, nil,
		func(k *tile.Builder, a hangArgs) {
			warp := k.Warp()
			bar := tile.NewMBarriers(k, 1, 64).At(0)
			tile.If(warp, warp.Index().EqInt(0), func() { bar.ArriveAndWait(warp) })
		}},
	{"question", 1, []string{"warp 0 asks at", "for the phase of parity 1 of bar0[0]", "in a phase of parity 1: 1 of 1 arrival pending"}, nil,
		func(k *tile.Builder, a hangArgs) {
			warp := k.Warp()
			bar := tile.NewMBarriers(k, 1, 1).At(0)
			tile.If(warp, warp.Index().EqInt(0), func() {
				bar.ArriveOnce(warp)
				bar.Wait(warp, 0)
				tile.While(warp, func() tile.Reg[tile.Bool] { return bar.TestWait(warp, 1).Not() }, func() {})
			})
		}},
	{"named", 1, []string{"at named barrier 1: 1 warp of 2 warps have yet to come", "at named barrier 2: 1 warp of 2 warps have yet to come"}, nil,
		func(k *tile.Builder, a hangArgs) {
			warp := k.Warp()
			one, two := tile.NewNamedBarrier(k, 64), tile.NewNamedBarrier(k, 64)
			tile.If(warp, warp.Index().EqInt(0), func() {
				one.Sync(warp)
				two.Sync(warp)
			}, func() {
				two.Sync(warp)
				one.Sync(warp)
			})
		}},
	{"cluster", 4, []string{"for the phase of parity 0 of bar0[0]", "in a phase of parity 0: 1 of 1 arrival pending", "warp 1 waits at the barrier of the cluster of", "warp 0 waits at the barrier of the cluster of", "blocks 0, 2:", "blocks 1, 3:"}, []tile.Option{tile.ClusterSize(2)},
		func(k *tile.Builder, a hangArgs) {
			warp := k.Warp()
			bar := tile.NewMBarriers(k, 1, 1).At(0)
			tile.If(warp, k.Cluster().Rank().Add(warp.Index()).EqInt(0), func() { bar.Wait(warp, 0) })
			tile.If(warp, warp.Index().EqInt(2), func() { bar.ArriveOnce(warp) }) // there is none
			k.Cluster().Sync()
		}},
	{"flag", 1, []string{"warp 0 asks again and again at", "warp 1 waits at the barrier of"}, nil,
		func(k *tile.Builder, a hangArgs) {
			warp := k.Warp()
			tile.If(warp, warp.Index().EqInt(0), func() {
				tile.While(warp, func() tile.Reg[tile.Bool] { return tile.LoadScalar(warp, a.Flag.At(0), tile.Acquire).Eq(tile.I32(0)) }, func() {})
			})
			k.Block().Sync()
		}},
}

// hangKernel is one of them, with its source.
func hangKernel(i int) (*Kernel, error) {
	h := hangs[i]
	opts := append([]tile.Option{tile.Threads(64), tile.Targets("sm_90a", "sm_100a", "sm_103a", "sm_120a", "sm_121a")}, h.opts...)
	k, err := tile.Define(h.name, func(k *tile.Builder, a hangArgs) {
		h.body(k, a)
		tile.Store(k.Block(), a.Flag, tile.Full(k.Block(), k.Block().Striped(64, 1), tile.I32(1)))
	}, opts...)
	if err != nil {
		return nil, err
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		return nil, err
	}
	text, err := printer.Print(low, printer.Options{})
	return &Kernel{Name: h.name, Source: text, Threads: low.Threads, Shared: low.SharedBytes, Cluster: low.Cluster, ArgBytes: low.ArgBytes,
		Targets: k.IR().Targets, Build: func() (Program, error) { return k, nil }}, err
}

// hang launches one of them and gives the error.
func hang(d *Device, i int) error {
	k, err := hangKernel(i)
	if err != nil {
		return err
	}
	f, err := d.Load(k)
	if err != nil {
		return err
	}
	flag, err := NewTensor(d, dtype.I32, 64)
	if err != nil {
		return err
	}
	defer flag.Close()
	ctx, cancel := context.WithTimeout(background, 30*time.Second)
	defer cancel()
	return errors.Join(d.Stream().Fill(flag.Buffer(), 0, 256, 0), d.Stream().Launch(f, hangs[i].grid, unsafe.Pointer(&struct{ flag uint64 }{flag.Addr()})), d.Stream().Sync(ctx))
}

// The simulator finds that they hang, so what the GPU shows is theirs.
func TestHangsOnSim(t *testing.T) {
	for i, h := range hangs {
		if h.name == "flag" {
			continue // a loop like any other, which the simulator runs for minutes before it gives up
		}
		if err := hang(opened(t, "sim"), i); !errors.Is(err, ErrDeadlock) || !strings.Contains(err.Error(), "watchdog_gpu_test.go:") {
			t.Errorf("%s: %v", h.name, err)
		}
	}
}

// They compile with a watchdog.
func TestHangsCompile(t *testing.T) {
	lib, err := nvrtc.Open("")
	if err != nil && (os.Getenv("CI") != "" || !errors.Is(err, nvrtc.ErrNotFound)) {
		t.Fatal(err)
	} else if err != nil {
		t.Skipf("not compiled: %v", err)
	}
	for i := range hangs {
		k, err := hangKernel(i)
		ok(t, err)
		w, _, err := watch(k, must(target.Lookup("sm_90a")), true)
		ok(t, err)
		if _, err := lib.Compile(w.Source, k.Name+".cu", nvrtc.Options{Arch: "sm_90a", Lines: true}); err != nil {
			t.Errorf("%+v", err)
		}
	}
}

const hangChild = "DEVICE_TEST_HANG"

// On a GPU the watchdog ends each of them, with a table that says so; each in a process of its own, since it loses the
// device.
func TestHangsOnGPU(t *testing.T) {
	t.Setenv(env.Watchdog, "")
	if name := os.Getenv(hangChild); name != "" {
		for i, h := range hangs {
			if h.name != name {
				continue
			}
			d := must(Open("cuda:0", WithWatchdog(time.Second)))
			err := hang(d, i)
			t.Logf("%v", err)
			is(t, err, ErrDeadlock, append(h.words, "watchdog_gpu_test.go:")...)
			is(t, err, ErrSticky)
			ok(t, d.Close())
		}
		return
	}
	needsHardware(t, gpu(t))
	for _, h := range hangs {
		t.Run(h.name, func(t *testing.T) {
			exe, err := os.Executable()
			ok(t, err)
			ctx, cancel := context.WithTimeout(background, time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, exe, "-test.run=^TestHangsOnGPU$", "-test.v")
			cmd.Env = append(os.Environ(), hangChild+"="+h.name)
			out, err := cmd.CombinedOutput()
			if t.Logf("%s", out); err != nil || !strings.Contains(string(out), "PASS: TestHangsOnGPU") {
				t.Error(err)
			}
		})
	}
}
