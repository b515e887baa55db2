//go:build !gotilegen

package axpy

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }

func tensor(t *testing.T, d *device.Device, shape ...int) device.Tensor {
	t.Helper()
	x, err := device.NewTensor(d, dtype.F32, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A wrapper refuses what the kernels cannot take, by the names of its own parameters, and launches nothing.
func TestLaunchRefuses(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x := tensor(t, d, 2, 8)
	for _, c := range []struct {
		p    axpyParams
		want string
	}{
		{axpyParams{X: x, B: tensor(t, d, 8)}, "launchAxpy: Y: the tensor is not set"},
		{axpyParams{X: x, B: tensor(t, d, 9), Y: x}, "launchAxpy: B: n (dimension 0) is 9, but X has n = 8"},
		{axpyParams{X: tensor(t, d, 1, 1001), B: tensor(t, d, 1001), Y: tensor(t, d, 1, 1001)},
			"launchAxpy: X: n is 1001; the largest kernel for these types, axpy_f32_c1000, holds 1000"},
	} {
		if err := launchAxpy(d.Stream(), c.p); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if n := len(d.Launches()); n != 0 {
		t.Errorf("%d kernels were launched", n)
	}
}

// The wrapper allocates nothing: what a launch allocates is the simulator's own, as a bare launch of the loaded kernel
// shows.
func TestLaunchAllocatesNothing(t *testing.T) {
	if race() {
		t.Skip("the race detector's allocations would be counted")
	}
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p := axpyParams{X: tensor(t, d, 1, 8), B: tensor(t, d, 8), Y: tensor(t, d, 1, 8), Alpha: 2}
	wrapped := testing.AllocsPerRun(100, func() {
		if err := launchAxpy(d.Stream(), p); err != nil {
			t.Fatal(err)
		}
	})
	fn, err := d.Load(axpyFamily.Configs[0].Kernel)
	if err != nil {
		t.Fatal(err)
	}
	a := axpyLayout{x: p.X.Addr(), b: p.B.Addr(), y: p.Y.Addr(), x_stride0: 8, y_stride0: 8, alpha: 2, rows: 1, n: 8}
	bare := testing.AllocsPerRun(100, func() {
		if err := d.Stream().Launch(fn, 1, unsafe.Pointer(&a)); err != nil {
			t.Fatal(err)
		}
	})
	if wrapped > bare {
		t.Errorf("%v allocations, %v of them in the launch itself", wrapped, bare)
	}
}

func race() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
