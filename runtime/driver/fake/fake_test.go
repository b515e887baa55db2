package fake

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
)

// The fake refuses what libcuda refuses, or tests over it would prove nothing.
func TestStrict(t *testing.T) {
	noop := func(driver.LaunchConfig, unsafe.Pointer) driver.Result { return driver.Success }
	d := New(map[string]Kernel{"noop": noop}, H200)
	c, err := d.Retain(0)
	if err != nil {
		t.Fatal(err)
	}
	_, image := c.LoadModule([]byte("no cubin"))
	m, _ := c.LoadModule([]byte("\x7fELF"))
	f, _ := c.Function(m, "noop")
	_, missing := c.Function(m, "other")
	p, _ := c.Alloc(16)
	q, _ := c.Alloc(16)
	s, _ := c.NewStream()
	_, huge := c.Alloc(1 << 40)
	_, empty := c.Alloc(0)
	ok := driver.LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}
	launch := func(change func(l *driver.LaunchConfig)) error {
		l := ok
		change(&l)
		var args [8]byte
		return c.Launch(f, l, unsafe.Pointer(&args))
	}
	if err := launch(func(*driver.LaunchConfig) {}); err != nil {
		t.Fatal(err)
	}
	free, again := c.Free(q), c.Free(q)
	for what, e := range map[string]struct {
		err  error
		code driver.Result
	}{
		"image":               {image, driver.InvalidImage},
		"missing function":    {missing, driver.NotFound},
		"too much":            {huge, driver.OutOfMemory},
		"no bytes":            {empty, driver.InvalidValue},
		"past the end":        {c.CopyIn(p, make([]byte, 17)), driver.InvalidValue},
		"between allocations": {c.CopyOut(make([]byte, 1), p+16), driver.InvalidValue},
		"free":                {free, driver.Success},
		"freed twice":         {again, driver.InvalidValue},
		"after free":          {c.Copy(p, q, 1), driver.InvalidValue},
		"no blocks":           {launch(func(l *driver.LaunchConfig) { l.Grid[0] = 0 }), driver.InvalidValue},
		"1056 threads":        {launch(func(l *driver.LaunchConfig) { l.Block[0] = 1056 }), driver.InvalidValue},
		"shared, not asked":   {launch(func(l *driver.LaunchConfig) { l.Shared = 49 << 10 }), driver.InvalidValue},
		"no stream":           {launch(func(l *driver.LaunchConfig) { l.Stream = 0 }), driver.InvalidHandle},
		"too much shared":     {c.SetFunctionAttribute(f, driver.MaxDynamicShared, 228<<10), driver.InvalidValue},
		"an event as stream":  {c.SyncStream(driver.Stream(must(c.NewEvent()))), driver.InvalidHandle},
	} {
		if driver.CodeOf(e.err) != e.code || (e.err == nil) != (e.code == driver.Success) {
			t.Errorf("%s: %v, want %v", what, e.err, e.code)
		}
	}
	if err := c.SetFunctionAttribute(f, driver.MaxDynamicShared, 227<<10); err != nil {
		t.Error(err)
	}
	if err := launch(func(l *driver.LaunchConfig) { l.Shared = 227 << 10 }); err != nil {
		t.Errorf("shared memory that was asked for: %v", err)
	}
	d.Fail("cuMemAlloc", 2, driver.IllegalAddress)
	if _, err := c.Alloc(1); err != nil {
		t.Error(err)
	}
	if _, err := c.Alloc(1); !errors.Is(err, driver.IllegalAddress) {
		t.Errorf("the second allocation: %v", err)
	}
	if err := c.SyncStream(s); !errors.Is(err, driver.IllegalAddress) {
		t.Errorf("a sticky error does not stay: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
