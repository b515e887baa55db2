// Package drivertest holds the tests that every driver.Driver passes: the one that opens libcuda, the one on
// gorgonia.org/cu, the fake. On a machine with a GPU they run on it. On one without, a C library that stands in for
// libcuda shows that the calls and their arguments arrive (Loopback).
package drivertest

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/runtime/driver"
)

// Machine is a driver under test.
type Machine struct {
	Driver driver.Driver
	// Image gives a module for a device with the kernel ReportKernel, as Context.LoadModule takes it.
	Image func(t *testing.T, dev int) []byte
	// Immediate says that work is done when the call that queues it returns.
	Immediate bool
	// Transparent says that tensor maps hold what they were made of, as Loopback's and the fake's do.
	Transparent bool
}

// Run runs all tests on a machine.
func Run(t *testing.T, m Machine) {
	n, err := m.Driver.DeviceCount()
	if err != nil || n == 0 {
		t.Fatalf("%d devices, %v", n, err)
	}
	for _, test := range []struct {
		name string
		run  func(*tester)
	}{
		{"queries", queries},
		{"memory", memory},
		{"stream-ordered memory", streamOrdered},
		{"pinned memory", pinned},
		{"out of memory", outOfMemory},
		{"modules", modules},
		{"function attributes", functionAttributes},
		{"occupancy", occupancy},
		{"launch", launch},
		{"launch refused", launchRefused},
		{"allocations", allocations},
		{"streams and events", streamsAndEvents},
		{"graph", graph},
		{"broken capture", brokenCapture},
		{"tensor maps", tensorMaps},
		{"tensor map refused", tensorMapRefused},
		{"threads", threads},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := must[driver.Context](t)(m.Driver.Retain(0))
			defer func() { ok(t, c.Release()) }() // also of a test that is skipped
			test.run(&tester{T: t, Machine: m, c: c})
		})
	}
}

// tester is one test on device 0.
type tester struct {
	*testing.T
	Machine
	c driver.Context
}

// must is for calls whose failure ends the test.
func must[V any](t *testing.T) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// is demands a failure of a C function with a code.
func is(t *testing.T, err error, call string, code driver.Result) {
	t.Helper()
	var e *driver.Error
	if !errors.As(err, &e) || e.Call != call || e.Code != code {
		t.Errorf("%v, want %s of %s", err, code, call)
	}
}

// stream is a new stream.
func (t *tester) stream() driver.Stream {
	t.Helper()
	return must[driver.Stream](t.T)(t.c.NewStream())
}

// alloc is memory whose bytes are all v.
func (t *tester) alloc(n int, v byte) driver.Ptr {
	t.Helper()
	p := must[driver.Ptr](t.T)(t.c.Alloc(n))
	b := make([]byte, n)
	for i := range b {
		b[i] = v
	}
	ok(t.T, t.c.CopyIn(p, b))
	return p
}

// read is what memory holds after all work of a stream.
func (t *tester) read(p driver.Ptr, n int, s driver.Stream) []byte {
	t.Helper()
	b := make([]byte, n)
	ok(t.T, t.c.SyncStream(s), t.c.CopyOut(b, p))
	return b
}

// capability is the compute capability of device 0: 90.
func (t *tester) capability() int {
	t.Helper()
	major := must[int](t.T)(t.Driver.DeviceAttribute(0, driver.ComputeCapabilityMajor))
	return 10*major + must[int](t.T)(t.Driver.DeviceAttribute(0, driver.ComputeCapabilityMinor))
}

func queries(t *tester) {
	d := t.Driver
	if v := must[int](t.T)(d.Version()); v < 11080 || v%10 != 0 {
		t.Errorf("version %d", v)
	}
	n := must[int](t.T)(d.DeviceCount())
	for dev := range n {
		name := must[string](t.T)(d.DeviceName(dev))
		if name == "" || strings.ContainsRune(name, 0) {
			t.Errorf("device %d: name %q", dev, name)
		}
		if v := must[int64](t.T)(d.DeviceMemory(dev)); v < 1<<26 {
			t.Errorf("device %d: %d bytes", dev, v)
		}
		for a, least := range map[driver.DeviceAttribute]int{
			driver.MaxThreadsPerBlock: 1024, driver.MultiprocessorCount: 1, driver.L2CacheSize: 1 << 16, driver.MaxThreadsPerSM: 1024,
			driver.ComputeCapabilityMajor: 7, driver.ComputeCapabilityMinor: 0, driver.MaxSharedPerBlockOptin: 48 << 10,
		} {
			if v := must[int](t.T)(d.DeviceAttribute(dev, a)); v < least {
				t.Errorf("device %d: attribute %d is %d", dev, a, v)
			}
		}
	}
	if _, err := d.DeviceName(n); !errors.Is(err, driver.InvalidDevice) {
		t.Errorf("name of device %d of %d: %v", n, n, err)
	}
	if _, err := d.Retain(-1); !errors.Is(err, driver.InvalidDevice) {
		t.Errorf("device -1: %v", err)
	}
}
