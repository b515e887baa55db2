package drivertest

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
)

func modules(t *tester) {
	_, err := t.c.LoadModule([]byte("no image\x00"))
	var e *driver.Error
	if !errors.As(err, &e) || e.Call != "cuModuleLoadData" {
		t.Errorf("no image: %v", err)
	}
	m := must[driver.Module](t.T)(t.c.LoadModule(t.Image(t.T, 0)))
	if f := must[driver.Function](t.T)(t.c.Function(m, ReportKernel)); f == 0 {
		t.Error("the function has no handle")
	}
	_, err = t.c.Function(m, "there is none of this name")
	is(t.T, err, "cuModuleGetFunction", driver.NotFound)
	p, n, err := t.c.Global(m, ReportVariable)
	if ok(t.T, err); n != 8 {
		t.Errorf("a variable of %d bytes, want 8", n)
	}
	got, want := make([]byte, 8), []byte("variable")
	ok(t.T, t.c.CopyOut(got, p))
	if !bytes.Equal(got, make([]byte, 8)) {
		t.Errorf("the variable begins as %v", got)
	}
	ok(t.T, t.c.CopyIn(p, want), t.c.CopyOut(got, p))
	if !bytes.Equal(got, want) {
		t.Errorf("the variable is %q, want %q", got, want)
	}
	_, _, err = t.c.Global(m, "there is none of this name")
	is(t.T, err, "cuModuleGetGlobal", driver.NotFound)
	ok(t.T, t.c.UnloadModule(m))
}

func functionAttributes(t *tester) {
	f := t.report()
	most := must[int](t.T)(t.Driver.DeviceAttribute(0, driver.MaxSharedPerBlockOptin))
	ok(t.T, t.c.SetFunctionAttribute(f, driver.MaxDynamicShared, most))
	if v := must[int](t.T)(t.c.FunctionAttribute(f, driver.MaxDynamicShared)); v != most {
		t.Errorf("%d bytes of dynamic shared memory, want %d", v, most)
	}
	is(t.T, t.c.SetFunctionAttribute(f, driver.MaxDynamicShared, most+1), "cuFuncSetAttribute", driver.InvalidValue)
	if v := must[int](t.T)(t.c.FunctionAttribute(f, driver.FunctionMaxThreads)); v != 1024 {
		t.Errorf("%d threads a block", v)
	}
	if v := must[int](t.T)(t.c.FunctionAttribute(f, driver.FunctionRegisters)); v < 1 || v > 255 {
		t.Errorf("%d registers", v)
	}
}

func occupancy(t *tester) {
	f := t.report()
	most := must[int](t.T)(t.Driver.DeviceAttribute(0, driver.MaxSharedPerBlockOptin))
	ok(t.T, t.c.SetFunctionAttribute(f, driver.MaxDynamicShared, most))
	few, many := must[int](t.T)(t.c.MaxActiveBlocks(f, 1024, 0)), must[int](t.T)(t.c.MaxActiveBlocks(f, 256, 0))
	if few < 1 || many <= few {
		t.Errorf("%d blocks of 1024 threads an SM, %d of 256", few, many)
	}
	if n := must[int](t.T)(t.c.MaxActiveBlocks(f, 32, most)); n != 1 {
		t.Errorf("%d blocks with all of the shared memory", n)
	}
	_, err := t.c.MaxActiveBlocks(f, 0, 0)
	is(t.T, err, "cuOccupancyMaxActiveBlocksPerMultiprocessor", driver.InvalidValue)
	if t.capability() < 90 {
		return
	}
	sms, last := must[int](t.T)(t.Driver.DeviceAttribute(0, driver.MultiprocessorCount)), 0
	for _, side := range []uint32{8, 4, 2} {
		c := driver.LaunchConfig{Grid: [3]uint32{side, 1, 1}, Block: [3]uint32{32, 1, 1}, Shared: uint32(most), Cluster: [3]uint32{side, 1, 1}}
		n := must[int](t.T)(t.c.MaxActiveClusters(f, c))
		if n <= last || n*int(side) > sms {
			t.Errorf("%d clusters of %d blocks, one block an SM of %d; %d of the next larger size", n, side, sms, last)
		}
		last = n
	}
}

// launch has the kernel say how it was launched.
func launch(t *tester) {
	f, s, p := t.report(), t.stream(), t.alloc(4*ReportWords, 0xff)
	ok(t.T, t.c.SetFunctionAttribute(f, driver.MaxDynamicShared, 99<<10))
	configs := []driver.LaunchConfig{
		{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}},
		{Grid: [3]uint32{11, 12, 13}, Block: [3]uint32{64, 2, 3}},
		{Grid: [3]uint32{1 << 20, 1, 1}, Block: [3]uint32{1, 1, 1}},
		{Grid: [3]uint32{4, 3, 2}, Block: [3]uint32{128, 1, 1}, Shared: 99 << 10},
	}
	if t.capability() >= 90 {
		configs = append(configs,
			driver.LaunchConfig{Grid: [3]uint32{16, 1, 1}, Block: [3]uint32{32, 1, 1}, Cluster: [3]uint32{8, 1, 1}},
			driver.LaunchConfig{Grid: [3]uint32{4, 4, 2}, Block: [3]uint32{128, 2, 1}, Shared: 99 << 10, Cluster: [3]uint32{2, 1, 2}},
			driver.LaunchConfig{Grid: [3]uint32{5, 1, 1}, Block: [3]uint32{32, 1, 1}, Dependent: true},
			driver.LaunchConfig{Grid: [3]uint32{8, 1, 1}, Block: [3]uint32{64, 1, 1}, Cluster: [3]uint32{4, 1, 1}, Dependent: true})
	}
	for i, c := range configs {
		c.Stream = s
		a := &ReportArgs{Out: p, Number: 1000 + uint32(i)}
		ok(t.T, t.launch(f, c, a))
		*a = ReportArgs{} // the driver has copied it
		cluster := c.Cluster
		if cluster == [3]uint32{} {
			cluster = [3]uint32{1, 1, 1}
		}
		want := [ReportWords]uint32{c.Grid[0], c.Grid[1], c.Grid[2], c.Block[0], c.Block[1], c.Block[2], cluster[0], cluster[1], cluster[2], c.Shared, 1000 + uint32(i)}
		if got := words(t.read(p, 4*ReportWords, s)); got != want {
			t.Errorf("the kernel saw %v, want %v", got, want)
		}
	}
	ok(t.T, t.c.Free(p), t.c.DestroyStream(s))
}

func launchRefused(t *tester) {
	f, s, p := t.report(), t.stream(), t.alloc(4*ReportWords, 0)
	good := driver.LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}
	for name, change := range map[string]func(c *driver.LaunchConfig){
		"no blocks":                             func(c *driver.LaunchConfig) { c.Grid[0] = 0 },
		"2048 threads":                          func(c *driver.LaunchConfig) { c.Block[0] = 2048 },
		"more shared memory than was asked for": func(c *driver.LaunchConfig) { c.Shared = 64 << 10 },
	} {
		c := good
		change(&c)
		err := t.launch(f, c, &ReportArgs{Out: p})
		var e *driver.Error
		if !errors.As(err, &e) || e.Call != "cuLaunchKernelEx" || e.Code.Sticky() {
			t.Errorf("%s: %v", name, err)
		}
	}
	ok(t.T, t.launch(f, good, &ReportArgs{Out: p, Number: 5}))
	if got := words(t.read(p, 4*ReportWords, s))[ReportWords-1]; got != 5 {
		t.Errorf("after launches that were refused: %d", got)
	}
	ok(t.T, t.c.Free(p), t.c.DestroyStream(s))
}

// allocations demands of launches, and of the question that a wait asks again and again, that they allocate nothing.
func allocations(t *tester) {
	if raceEnabled {
		t.Skip("testing.AllocsPerRun is wrong under -race")
	}
	f, s, p := t.report(), t.stream(), t.alloc(4*ReportWords, 0)
	c := driver.LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}
	args := unsafe.Pointer(&ReportArgs{Out: p})
	ok(t.T, t.c.BeginCapture(s), t.c.Launch(f, c, args))
	g := must[driver.Graph](t.T)(t.c.EndCapture(s))
	e := must[driver.GraphExec](t.T)(t.c.Instantiate(g))
	for name, call := range map[string]func() error{
		"launch":            func() error { return t.c.Launch(f, c, args) },
		"launch of a graph": func() error { return t.c.LaunchGraph(e, s) },
		"query":             func() error { _, err := t.c.QueryStream(s); return err },
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 && !t.Immediate { // the fake's calls allocate, but for launches
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	ok(t.T, t.c.SyncStream(s), t.c.DestroyGraphExec(e), t.c.DestroyGraph(g), t.c.Free(p), t.c.DestroyStream(s))
}
