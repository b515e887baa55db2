package device

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Graph is work that was captured from a stream, ready to be queued as a whole: a replay costs the host one call, and
// the device less between kernels. Its methods are safe for concurrent use; the owner closes it.
//
// The graph holds the memory that it was captured with: a Buffer that is closed meanwhile refuses to be used, but its
// bytes are given back with the last graph that has its address.
type Graph struct {
	d       *Device
	h       *handle
	cleanup runtime.Cleanup
	mu      sync.Mutex // a graph is launched, or closed, by one thread at a time
	counts  []replayed
	kernels map[string]int
	writes  []*handle // buffers, see Buffer.Changes
	last    launched  // of the launches
}

// replayed is what a replay adds to a counter of launches.
type replayed struct {
	count *atomic.Int64
	n     int64
}

// Launch queues the graph on a stream of its device. Launches are counted as if each had been made, under the phase
// that the stream had when they were captured. Two replays of one graph do not overlap, on whatever streams they are.
// Launch allocates nothing. A graph that is closed is ErrClosed, a stream of another device ErrWrongDevice; what the
// driver refuses is an *Error.
func (g *Graph) Launch(s *Stream) error {
	if s == nil {
		return fmt.Errorf("device: %s: launch of a graph on a nil stream; use Device.Stream", g.d.name)
	}
	if err := s.enterOutside("Graph.Launch"); err != nil {
		return err
	}
	defer s.leave()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.d != s.d:
		return fmt.Errorf("device: %s: launch of a graph of %s: %w", s.d.name, g.d.name, ErrWrongDevice)
	case g.h.closed.Load():
		return fmt.Errorf("device: %s: launch of a graph: %w", s.d.name, ErrClosed)
	}
	if err := g.h.graph.launch(s.h.raw); err != nil {
		e := &Error{Call: "Graph.Launch", Err: fmt.Errorf("replay of %s: %w", g, err)}
		if node := (*nodeError)(nil); errors.As(err, &node) {
			e.Kernel, e.Grid, e.Args = node.kernel, node.grid, node.args
		}
		return s.d.keep(e)
	}
	for _, c := range g.counts {
		c.count.Add(c.n)
	}
	if len(g.writes) > 0 {
		var at callers
		n := runtime.Callers(2, at[:])
		for _, h := range g.writes {
			h.change.note(at[:n])
		}
	}
	if g.last.f != nil {
		s.last = g.last
	}
	return nil
}

// Nodes is the number of launches, fills and copies that a replay makes.
func (g *Graph) Nodes() int { return g.h.graph.nodes() }

// Kernels counts the launches that a replay makes, by kernel name.
func (g *Graph) Kernels() map[string]int { return maps.Clone(g.kernels) }

// String names the kernels: "a graph of 4 nodes (2 scale, 1 sum)".
func (g *Graph) String() string {
	var names []string
	for _, k := range slices.Sorted(maps.Keys(g.kernels)) {
		names = append(names, fmt.Sprintf("%d %s", g.kernels[k], k))
	}
	return fmt.Sprintf("a graph of %d nodes (%s)", g.Nodes(), strings.Join(names, ", "))
}

// Close gives the graph back; a replay that is under way goes on. Closing twice is fine.
func (g *Graph) Close() error {
	if g == nil {
		return nil
	}
	if err := g.d.inCapture("Graph.Close"); err != nil {
		return err
	}
	g.mu.Lock()
	first := g.h.closed.CompareAndSwap(false, true)
	g.mu.Unlock() // a launch under way is over, and none begins
	g.cleanup.Stop()
	if !first {
		return nil
	}
	return g.h.release()
}

// Capturing reports whether the stream is within Capture. It is for the goroutine that has the stream.
func (s *Stream) Capturing() bool { return s.capture != nil }

// Capture calls queue, which queues work on the stream; nothing of it runs, it becomes the graph. Allowed are Launch,
// Fill and Copy on the stream, and loading kernels. Everything else that the calling goroutine asks of the device
// within queue, such as Alloc, Close or Sync, is ErrCapture, and so is what another goroutine asks of this stream but
// Launch, Fill and Copy; the capture fails then, even where queue drops the error. Other goroutines may use the device
// as ever, but for Device.Close.
func (s *Stream) Capture(queue func() error) (*Graph, error) {
	if queue == nil {
		return nil, fmt.Errorf("device: %s: Capture without a function that queues work", s.d.name)
	}
	s.d.Drain()
	// A capture is of the thread that begins it, and ends on it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := s.beginCapture()
	if err != nil {
		return nil, err
	}
	ended := false
	defer func() {
		if !ended { // queue panics
			s.endCapture(c, context.Canceled)
		}
	}()
	err = queue()
	ended = true
	return s.endCapture(c, err)
}
