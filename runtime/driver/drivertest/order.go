package drivertest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"

	"github.com/gotile/gotile/runtime/driver"
)

func streamsAndEvents(t *tester) {
	f, s, other, p := t.report(), t.stream(), t.stream(), t.alloc(4*ReportWords, 0)
	first, last := must[driver.Event](t.T)(t.c.NewEvent()), must[driver.Event](t.T)(t.c.NewEvent())
	config := driver.LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}
	const wait = 50e6 // nanoseconds
	ok(t.T, t.c.RecordEvent(first, s), t.launch(f, config, &ReportArgs{Out: p, Number: 9, Wait: wait}), t.c.RecordEvent(last, s))
	if idle := must[bool](t.T)(t.c.QueryStream(s)); idle && !t.Immediate {
		t.Error("the stream is idle while its kernel runs")
	}
	// The other stream copies what the kernel writes, after it.
	q := t.alloc(4*ReportWords, 0)
	ok(t.T, t.c.WaitEvent(other, last), t.c.CopyAsync(q, p, 4*ReportWords, other))
	if got := words(t.read(q, 4*ReportWords, other))[ReportWords-1]; got != 9 {
		t.Errorf("a stream that waits for an event read %d before it", got)
	}
	ok(t.T, t.c.SyncEvent(last), t.c.SyncStream(s))
	for _, e := range []driver.Event{first, last} {
		if !must[bool](t.T)(t.c.QueryEvent(e)) {
			t.Error("an event has not happened after it was waited for")
		}
	}
	if !must[bool](t.T)(t.c.QueryStream(s)) {
		t.Error("the stream is busy after it was waited for")
	}
	ms := must[float32](t.T)(t.c.Elapsed(first, last))
	if ms <= 0 || !t.Transparent && (ms < wait/1e6 || ms > 10*wait/1e6) {
		t.Errorf("a kernel of %v ms took %v ms", wait/1e6, ms)
	}
	ok(t.T, t.c.DestroyEvent(first), t.c.DestroyEvent(last), t.c.DestroyStream(s), t.c.DestroyStream(other), t.c.Free(p), t.c.Free(q))
}

// threads has more goroutines than processors use every device at once. A call that finds another context current, or
// none, fails.
func threads(t *tester) {
	var wg sync.WaitGroup
	n := must[int](t.T)(t.Driver.DeviceCount())
	fail := make(chan error, n*8*runtime.GOMAXPROCS(0))
	for dev := range n {
		c := must[driver.Context](t.T)(t.Driver.Retain(dev))
		defer func() { ok(t.T, c.Release()) }()
		for g := range 4 * runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				if err := work(c, uint64(dev)<<32|uint64(g)); err != nil {
					fail <- fmt.Errorf("device %d: %w", dev, err)
				}
			})
		}
	}
	wg.Wait()
	close(fail)
	for err := range fail {
		t.Error(err)
	}
}

// work writes a number, reads it, and waits, some hundred times.
func work(c driver.Context, number uint64) error {
	s, err := c.NewStream()
	if err != nil {
		return err
	}
	p, err := c.Alloc(8)
	if err != nil {
		return err
	}
	for range 200 {
		in, out := make([]byte, 8), make([]byte, 8)
		number += 1 << 16
		binary.LittleEndian.PutUint64(in, number)
		for _, call := range []func() error{
			func() error { return c.CopyInAsync(p, in, s) },
			func() error { return c.CopyOutAsync(out, p, s) },
			func() error { return c.SyncStream(s) },
		} {
			if err := call(); err != nil {
				return err
			}
		}
		if !bytes.Equal(in, out) {
			return fmt.Errorf("read %x, wrote %x", out, in)
		}
	}
	if err := c.Free(p); err != nil {
		return err
	}
	return c.DestroyStream(s)
}
