package fake

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
)

// What the driver refuses within a capture, the fake does; the capture is lost then. Other goroutines are free.
func TestCaptureIsStrict(t *testing.T) {
	ran := 0
	count := func(driver.LaunchConfig, unsafe.Pointer) driver.Result { ran++; return driver.Success }
	d := New(map[string]Kernel{"count": count}, H200)
	d.ArgBytes("count", 8)
	c := must(d.Retain(0))
	f := must(c.Function(must(c.LoadModule([]byte("\x7fELF"))), "count"))
	s, other, p := must(c.NewStream()), must(c.NewStream()), must(c.Alloc(16))
	elsewhere := func(do func() error) error {
		done := make(chan error)
		go func() { done <- do() }()
		return <-done
	}
	alloc := func() error { _, err := c.Alloc(8); return err }
	for name, e := range map[string]struct {
		do    func() error
		code  driver.Result // of the call
		nodes int           // of the graph; -1: the capture is lost
	}{
		"nothing":              {func() error { return nil }, driver.Success, 0},
		"fill, copy":           {func() error { return errors.Join(c.Set8Async(p, 1, 8, s), c.CopyAsync(p+8, p, 8, s)) }, driver.Success, 2},
		"allocation":           {alloc, driver.CaptureUnsupported, -1},
		"allocation elsewhere": {func() error { return elsewhere(alloc) }, driver.Success, 0},
		"wait":                 {func() error { return c.SyncStream(s) }, driver.CaptureUnsupported, -1},
		"wait elsewhere":       {func() error { return elsewhere(func() error { return c.SyncStream(s) }) }, driver.CaptureUnsupported, -1},
		"wait for another":     {func() error { return c.SyncStream(other) }, driver.Success, 0},
		"question":             {func() error { _, err := c.QueryStream(s); return err }, driver.CaptureUnsupported, -1},
		"host memory":          {func() error { return c.CopyInAsync(p, make([]byte, 8), s) }, driver.CaptureUnsupported, -1},
		"module":               {func() error { _, err := c.LoadModule([]byte("\x7fELF")); return err }, driver.CaptureUnsupported, -1},
	} {
		if err := c.BeginCapture(s); err != nil {
			t.Fatal(err)
		}
		if err := e.do(); driver.CodeOf(err) != e.code {
			t.Errorf("%s: %v, want %v", name, err, e.code)
		}
		if err := elsewhere(func() error { _, err := c.EndCapture(s); return err }); !errors.Is(err, driver.CaptureWrongThread) {
			t.Errorf("%s: ended elsewhere: %v", name, err)
		}
		g, err := c.EndCapture(s)
		if e.nodes < 0 {
			if !errors.Is(err, driver.CaptureInvalidated) {
				t.Errorf("%s: the capture is not lost: %v", name, err)
			}
			continue
		}
		if n := must(c.GraphNodes(g)); n != e.nodes {
			t.Errorf("%s: %d nodes, want %d", name, n, e.nodes)
		}
		must(struct{}{}, c.DestroyGraph(g))
	}
	must(struct{}{}, c.BeginCapture(s))
	args := new([8]byte)
	must(struct{}{}, c.Launch(f, driver.LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}, unsafe.Pointer(args)))
	g := must(c.EndCapture(s))
	e := must(c.Instantiate(g))
	if ran != 0 {
		t.Error("a launch that is captured ran")
	}
	must(struct{}{}, errors.Join(c.DestroyGraph(g), c.LaunchGraph(e, s), c.LaunchGraph(e, other), c.DestroyGraphExec(e)))
	if ran != 2 {
		t.Errorf("two replays ran the kernel %d times", ran)
	}
	if err := c.LaunchGraph(e, s); !errors.Is(err, driver.InvalidValue) {
		t.Errorf("after it was destroyed: %v", err)
	}
}
