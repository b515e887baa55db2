package device

import (
	"bytes"
	"log/slog"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gotile/gotile/runtime/driver/fake"
)

// logBuffer is a log that goroutines may write to.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// drop makes one of each and forgets them.
//
//go:noinline
func drop(d *Device) {
	b := must(d.Alloc(100))
	must(must(d.NewStream()).Record())
	must(d.Stream().Capture(func() error { return d.Stream().Fill(b, 0, 8, 0) }))
	must(d.Pinned(1000))
}

// What is dropped is logged with the line that made it, and given back by the owner's next call; the cleanup itself
// calls no driver.
func TestLeaks(t *testing.T) {
	drv := newFake(fake.H200)
	var log logBuffer
	d := openFake(t, drv, WithLogger(log.logger()))
	drop(d)
	kept := must(d.Alloc(8))
	calls := drv.Count("")
	for deadline := time.Now().Add(10 * time.Second); strings.Count(log.String(), "dropped") < 5; {
		if time.Now().After(deadline) {
			t.Fatalf("no report of the leaks: %s", &log)
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if n := drv.Count(""); n != calls {
		t.Errorf("cleanups made %d calls of the driver", n-calls)
	}
	if live, m := drv.Live(), d.Memory(); m.InUse != 512 || live["stream"] != 2 || live["event"] != 1 || live["exec"] != 1 || live["host memory"] != 1 {
		t.Errorf("before draining: %v, %+v", live, m)
	}
	for _, want := range []string{`buffer dropped without Close.*bytes=100 made=leak_test\.go:\d+`, `stream dropped.*made=leak_test\.go`, `event dropped.*made=leak_test\.go`,
		`graph dropped.*made=leak_test\.go`, `pinned buffer dropped.*bytes=1000 made=leak_test\.go`} {
		if !regexp.MustCompile(want).MatchString(log.String()) {
			t.Errorf("the log lacks %s:\n%s", want, &log)
		}
	}
	must(d.Alloc(0))
	// Slices of pinned memory may be in use without their buffer: it stays.
	if live, m := drv.Live(), d.Memory(); m.InUse != 256 || live["stream"] != 1 || live["event"] != 0 || live["exec"] != 0 || live["host memory"] != 1 {
		t.Errorf("after draining: %v, %+v", live, m)
	}
	if n := d.Drain(); n != 0 {
		t.Errorf("%d handles left in the queue", n)
	}
	ok(t, kept.Close())
	ok(t, d.Close())
	if live := drv.Live(); len(live) != 0 {
		t.Errorf("after closing the device: %v", live)
	}
}

// What is found to be dropped while a graph is captured is given back afterwards: the driver's calls for that would break
// the capture.
func TestDrainWaitsForCapture(t *testing.T) {
	var log logBuffer
	d := openFake(t, newFake(fake.H200), WithLogger(log.logger()))
	b := must(d.Alloc(100))
	ok(t, d.Stream().Fill(b, 0, 8, 0))
	g := must(d.Stream().Capture(func() error {
		b = nil
		for deadline := time.Now().Add(10 * time.Second); !strings.Contains(log.String(), "dropped"); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Error("no report of the leak")
				return nil
			}
			runtime.GC()
		}
		if n := d.Drain(); n != 0 {
			t.Errorf("%d handles are given back within a capture", n)
		}
		return nil
	}))
	if n := d.Drain(); n != 1 {
		t.Errorf("%d handles are given back after the capture, want 1", n)
	}
	ok(t, g.Close())
}

// What was closed is no leak.
func TestClosedIsNoLeak(t *testing.T) {
	var log logBuffer
	d := openFake(t, newFake(fake.H200), WithLogger(log.logger()))
	func() {
		b, s := must(d.Alloc(8)), must(d.NewStream())
		e := must(s.Record())
		g := must(s.Capture(func() error { return s.Fill(b, 0, 8, 0) }))
		ok(t, must(d.Pinned(8)).Close())
		ok(t, g.Close())
		ok(t, e.Close())
		ok(t, s.Close())
		ok(t, b.Close())
	}()
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if d.Drain() != 0 || log.String() != "" {
		t.Errorf("log: %s", &log)
	}
}
