package drivertest

import (
	"runtime"

	"github.com/gotile/gotile/runtime/driver"
)

// graph captures launches, fills and copies; nothing runs until the graph is launched, then in order, each time.
func graph(t *tester) {
	f, s, other := t.report(), t.stream(), t.stream()
	p, q := t.alloc(4*ReportWords, 0), t.alloc(4*ReportWords, 0xee)
	config := driver.LaunchConfig{Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}
	if t.capability() >= 90 {
		config.Cluster = [3]uint32{2, 1, 1}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ok(t.T, t.c.BeginCapture(s))
	a := &ReportArgs{Out: p}
	for i := range uint32(3) {
		a.Number = 20 + i
		ok(t.T, t.launch(f, config, a))
	}
	*a = ReportArgs{}
	ok(t.T, t.c.CopyAsync(q, p, 4*ReportWords, s), t.c.Set8Async(p, 1, 4*ReportWords, s), t.c.Set32Async(p, 2, 1, s))
	g := must[driver.Graph](t.T)(t.c.EndCapture(s))
	if got := t.read(q, 1, s)[0]; got != 0xee {
		t.Error("work that was captured ran")
	}
	if n := must[int](t.T)(t.c.GraphNodes(g)); n != 6 {
		t.Errorf("%d nodes, want 6", n)
	}
	e := must[driver.GraphExec](t.T)(t.c.Instantiate(g))
	ok(t.T, t.c.DestroyGraph(g))
	for _, on := range []driver.Stream{s, other} {
		ok(t.T, t.c.Set8Async(q, 0, 4*ReportWords, on), t.c.LaunchGraph(e, on))
		got := words(t.read(q, 4*ReportWords, on))
		if got[0] != 2 || got[6] != max(config.Cluster[0], 1) || got[ReportWords-1] != 22 {
			t.Errorf("the last kernel saw %v", got)
		}
		if b := t.read(p, 5, on); [5]byte(b) != [5]byte{2, 0, 0, 0, 1} {
			t.Errorf("memory that was set holds %v", b)
		}
	}
	ok(t.T, t.c.DestroyGraphExec(e), t.c.Free(p), t.c.Free(q), t.c.DestroyStream(s), t.c.DestroyStream(other))
}

// brokenCapture waits for a stream while it captures, which ends the capture without a graph. The stream is as before
// afterwards. Other threads may allocate meanwhile.
func brokenCapture(t *tester) {
	s, p := t.stream(), t.alloc(16, 7)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ok(t.T, t.c.BeginCapture(s))
	is(t.T, t.c.SyncStream(s), "cuStreamSynchronize", driver.CaptureUnsupported)
	_, err := t.c.EndCapture(s)
	is(t.T, err, "cuStreamEndCapture", driver.CaptureInvalidated)
	if _, err := t.c.EndCapture(s); err == nil {
		t.Error("a capture ended twice")
	}

	ok(t.T, t.c.BeginCapture(s))
	elsewhere := make(chan error)
	go func() {
		p, err := t.c.Alloc(1 << 20)
		if err == nil {
			err = t.c.Free(p)
		}
		elsewhere <- err
	}()
	ok(t.T, <-elsewhere, t.c.Set8Async(p, 9, 16, s))
	g := must[driver.Graph](t.T)(t.c.EndCapture(s))
	ok(t.T, t.c.DestroyGraph(g))
	if got := t.read(p, 1, s)[0]; got != 7 {
		t.Errorf("%d after two captures of which nothing was launched", got)
	}
	ok(t.T, t.c.Free(p), t.c.DestroyStream(s))
}
