//go:build !gotilegen

package host

import (
	"bytes"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/codegen/nvrtc"
	"github.com/gotile/gotile/internal/image"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// run measures on the simulator.
func run(t *testing.T, s bench.Suite, of string) map[string]bench.Case {
	t.Helper()
	dir := t.TempDir()
	o := bench.Options{Device: "sim", Case: of, Plan: bench.Plan{Rounds: 1, Replays: 1}, Out: dir}
	if err := bench.Run(t.Context(), s, o, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	r, err := bench.Read(filepath.Join(dir, "sim", "host.json"))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]bench.Case{}
	for _, c := range r.Cases {
		cases[c.Name] = c
	}
	return cases
}

// TestSuite times all that the simulator has: everything but the driver's own launches.
func TestSuite(t *testing.T) {
	cases := run(t, Suite(), "launch|apply")
	if len(cases) != 2 {
		t.Errorf("%d cases", len(cases))
	}
	for _, c := range cases {
		for name, a := range c.Arms {
			if driver := name == armDriver || name == armC; driver != (a.Error != "") || driver != (a.Median == 0) {
				t.Errorf("%s: %s: %+v", c.Name, name, a)
			}
		}
		if c.Goal == nil || c.Goal.Above[armC] <= 0 {
			t.Errorf("%s: goal %+v", c.Name, c.Goal)
		}
	}
	if a := cases["host/apply/256/f32"].Arms["apply"]; a.Figures["allocs"] <= 0 {
		t.Errorf("applying an op allocates %v objects: its node is one", a.Figures)
	}
	if _, err := benchmarks(bench.Selection{Shapes: []string{"1x1"}}); err == nil {
		t.Error("-shapes is taken")
	}
}

// A step of training is the same launch by launch and as a graph, and of as many launches as it says.
func TestStep(t *testing.T) {
	p := problem{blocks: 2, rows: 2, n: 32, repeats: 1}
	s := bench.Suite{Name: "host", Benchmarks: func(bench.Selection) ([]bench.Benchmark, error) {
		return []bench.Benchmark{{Name: "host/step", Setup: p.setup}}, nil
	}}
	launches := func(blocks int) int { return 8*blocks + 5 }
	arms := run(t, s, "")["host/step"].Arms
	for _, name := range []string{"eager", "graph"} {
		f := arms[name].Figures
		if f["launches"] != float64(launches(p.blocks)) || f["nodes"] < f["launches"] || f["host_us"] <= 0 || f["gpu_us"] <= 0 || f["gpu_busy"] <= 0 {
			t.Errorf("%s: %v %s", name, f, arms[name].Error)
		}
	}
	if n := launches(published.blocks); n != 405 {
		t.Errorf("the published step has %d launches", n)
	}
}

// By the driver, a batch is as many calls of cuLaunchKernelEx with the same arguments, which allocate nothing.
func TestLaunches(t *testing.T) {
	calls := 0
	drv := fake.New(map[string]fake.Kernel{"empty": func(c driver.LaunchConfig, args unsafe.Pointer) driver.Result {
		if c.Grid[0] != 1 || c.Block[0] != emptyThreads || *(*words)(args) != (words{1, 2, 3, 4}) {
			t.Errorf("launch of %v with %v", c, *(*words)(args))
		}
		calls++
		return driver.Success
	}}, fake.H200)
	d, err := device.Open("cuda:0", device.WithDriver(drv))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k, err := emptyKernel(d)
	if err != nil {
		t.Fatal(err)
	}
	origin := image.Origin{Source: k.Source, Options: nvrtc.Options{}.Text(), Arch: d.Target().Arch}
	k.Embedded = []string{string(image.Seal(origin, "13.0", []byte("\x7fELF")))}
	f, err := d.Load(k)
	if err != nil {
		t.Fatal(err)
	}
	list := launches(d.Stream(), f)
	if len(list) != 3 || list[0].Name != "launch" || list[1].Name != armDriver || list[2].Name != armC {
		t.Fatalf("contenders %v", list)
	}
	for _, c := range list[:2] { // the third calls libcuda, which does not know the fake's handles
		calls = 0
		us, err := c.Time(t.Context(), 3)
		if err != nil || us <= 0 || calls != 3*batch {
			t.Errorf("%s: %d launches in %v µs, %v", c.Name, calls, us, err)
		}
	}
}
