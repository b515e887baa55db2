//go:build !gotilegen

package optest

import (
	"bytes"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

func TestCases(t *testing.T) { tiletest.RunCases(t, Cases()) }

// Every row of both tables has a case, and no two cases have one name.
func TestEveryOpHasACase(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if seen[c.Name] {
			t.Errorf("two cases are named %s", c.Name)
		}
		seen[c.Name] = true
	}
	for op := ir.Op(1); op < ir.NumOps; op++ {
		if len(OpCases(op)) == 0 {
			t.Errorf("op %s has no case op/%s/...", op, op)
		}
	}
	for f := thr.Fn(1); f < thr.NumFns; f++ {
		if FnCase(f).Run == nil && f != thr.FenceLoads { // TestLoadsAreOverBeforeTheRelease
			t.Errorf("built-in %s has no case", f)
		}
	}
}

// A mutant reaches every kernel that a generated file launches.
func TestFamiliesAreComplete(t *testing.T) {
	var have []string
	for _, f := range families {
		for _, c := range f.Configs {
			have = append(have, c.Kernel.Name)
		}
	}
	want := Kernels().Names()
	slices.Sort(have)
	slices.Sort(want)
	have = slices.Compact(have) // a kernel has a configuration a lowering
	if !slices.Equal(have, want) {
		t.Errorf("families hold %v\nthe package has %v", have, want)
	}
}

// A launch with tensor maps allocates no more than the launch itself: the maps of tensors that it has seen are kept.
func TestTensorLaunchAllocatesNothing(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector's allocations would be counted")
	}
	d, err := device.Open("sim", device.WithSim(device.SimConfig{Workers: 1}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x, err := device.NewTensor(d, dtype.F32, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	y, err := device.NewTensor(d, dtype.F32, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	p := tensor2Params{X: x, Y: y}
	wrapped := testing.AllocsPerRun(20, func() {
		if err := launchTensor2(d.Stream(), p); err != nil {
			t.Fatal(err)
		}
	})
	config := slices.IndexFunc(tensor2Family.Configs, func(c bind.Config) bool { return d.Launches()[c.Kernel.Name] > 0 })
	fn, err := d.Load(tensor2Family.Configs[config].Kernel)
	if err != nil {
		t.Fatal(err)
	}
	a := tensor2Layout{x: x.Addr(), y: y.Addr(), x_stride0: 64, y_stride0: 64, rows: 16, n: 64}
	if err := tensor2Family.TensorMaps(fn, []device.Tensor{x, y}, &a.x_map, &a.y_map); err != nil {
		t.Fatal(err)
	}
	grid, err := gridTensor2(d.Stream(), p)
	if err != nil {
		t.Fatal(err)
	}
	bare := testing.AllocsPerRun(20, func() {
		if err := d.Stream().Launch(fn, grid, unsafe.Pointer(&a)); err != nil {
			t.Fatal(err)
		}
	})
	if wrapped > bare {
		t.Errorf("%v allocations, %v of them in the launch itself", wrapped, bare)
	}
}

// A slot that warps load for mma.sync goes back when the loads are over. No case shows it: simulated loads are over at once,
// and on hardware it takes other warps' stores in the queue ahead of them.
func TestLoadsAreOverBeforeTheRelease(t *testing.T) {
	text, err := os.ReadFile("cuda/op_wgmma_pipe_bulk.cu")
	if err != nil {
		t.Fatal(err)
	}
	release := regexp.MustCompile(`\n( *)fence_loads\(\);\n *__syncwarp\(\);\n *if \(.*\) mbarrier_arrive\(`)
	loads, last := bytes.LastIndex(text, []byte("ldmatrix_x4")), release.FindAllIndex(text, -1)
	if len(last) != 1 || loads < 0 || last[0][0] < loads {
		t.Errorf("%d releases behind fence_loads, the last load at %d: %v", len(last), loads, last)
	}
}
