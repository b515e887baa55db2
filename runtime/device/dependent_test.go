package device

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// A kernel may begin before the one ahead of it is over where that one lets it, and nothing was queued between the two;
// in a capture as well.
func TestDependentLaunches(t *testing.T) {
	var seen []bool
	drv := fake.New(map[string]fake.Kernel{"scale": func(c driver.LaunchConfig, _ unsafe.Pointer) driver.Result {
		seen = append(seen, c.Dependent)
		return driver.Success
	}}, fake.H200)
	drv.ArgBytes("scale", int(unsafe.Sizeof(scaleArgs{})))
	d := openFake(t, drv)
	kernel := func(waits, triggers bool) *Func {
		k := scaleKernel()
		k.Waits, k.Triggers = waits, triggers
		return must(d.Load(k))
	}
	plain, trigger, wait, both := kernel(false, false), kernel(false, true), kernel(true, false), kernel(true, true)
	x := must(NewTensor(d, dtype.F32, 4))
	s := d.Stream()
	launch := func(f *Func) {
		a := scaleArgs{x.Addr(), x.Addr(), 1, 4}
		ok(t, s.Launch(f, 1, unsafe.Pointer(&a)))
	}
	queue := func() {
		for _, f := range []*Func{wait, trigger, plain, trigger, wait, wait, trigger, both, both, plain, wait} {
			launch(f)
		}
		launch(trigger)
		ok(t, s.Fill(x.Buffer(), 0, 16, 0))
		launch(wait)
	}
	want := []bool{false, false, false, false, true, false, false, true, true, false, false, false, false}
	queue()
	ok(t, s.Sync(t.Context()))
	if !slices.Equal(seen, want) {
		t.Errorf("launches that may begin early: %v, want %v", seen, want)
	}
	launch(trigger)
	seen = nil
	g := must(s.Capture(func() error { queue(); return nil }))
	launch(wait) // follows the capture, not the launch before it
	ok(t, g.Launch(s))
	ok(t, s.Sync(t.Context()))
	if !slices.Equal(seen, append([]bool{false}, want...)) {
		t.Errorf("of a graph: %v, want %v", seen, want)
	}
	ok(t, g.Close())
}

// Where there is no programmatic dependent launch, none is asked for.
func TestDependentLaunchesOfOlderDevices(t *testing.T) {
	old := fake.H200
	old.Major, old.Minor = 8, 9
	var seen []bool
	drv := fake.New(map[string]fake.Kernel{"scale": func(c driver.LaunchConfig, _ unsafe.Pointer) driver.Result {
		seen = append(seen, c.Dependent)
		return driver.Success
	}}, old)
	drv.ArgBytes("scale", int(unsafe.Sizeof(scaleArgs{})))
	d := openFake(t, drv)
	k := scaleKernel()
	k.Waits, k.Triggers = true, true
	f := must(d.Load(k))
	x := must(NewTensor(d, dtype.F32, 4))
	s := d.Stream()
	for range 2 {
		a := scaleArgs{x.Addr(), x.Addr(), 1, 4}
		ok(t, s.Launch(f, 1, unsafe.Pointer(&a)))
	}
	ok(t, s.Sync(t.Context()))
	if !slices.Equal(seen, []bool{false, false}) {
		t.Errorf("launches that may begin early: %v, want none", seen)
	}
}
