package device

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/gotile/gotile/internal/stack"
)

// capture is a capture under way. But for the fields named, it belongs to whoever has the stream.
type capture struct {
	goroutine uint64
	err       error // the first call that was refused or failed; guarded by Device.mu
	launches  map[counted]int
	holds     map[*handle]struct{} // the buffers that the graph needs; their count of holders is raised
	writes    map[*handle]struct{} // the buffers that each replay changes; guarded by Device.mu
	last      launched
}

// counted is what launches are counted by.
type counted struct {
	f     *Func
	phase int32
}

// beginCapture begins a capture on the calling thread.
func (s *Stream) beginCapture() (*capture, error) {
	release, err := s.d.use()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.enterOutside("Capture"); err != nil {
		return nil, err
	}
	defer s.leave()
	s.d.time.capture(s.h.lane, true)
	if err := s.d.back.beginCapture(s.h.raw); err != nil {
		s.d.time.capture(s.h.lane, false)
		return nil, s.fail("Capture", err)
	}
	c := &capture{goroutine: stack.Goroutine(), launches: map[counted]int{}, holds: map[*handle]struct{}{}, writes: map[*handle]struct{}{}}
	s.d.mu.Lock()
	s.d.captures = append(s.d.captures, c)
	s.d.mu.Unlock()
	s.d.capturing.Add(1)
	s.capture = c
	return c, nil
}

// endCapture ends a capture, and makes a graph of it where neither queue (err) nor a call within it failed.
func (s *Stream) endCapture(c *capture, err error) (*Graph, error) {
	d := s.d
	s.h.busy.lock()
	defer s.leave()
	raw, endErr := d.back.endCapture(s.h.raw)
	s.d.time.capture(s.h.lane, false)
	s.capture, s.triggered = nil, false
	defer func() { // last, since Device.Close is refused until then
		d.mu.Lock()
		d.captures = slices.DeleteFunc(d.captures, func(o *capture) bool { return o == c })
		d.mu.Unlock()
		d.capturing.Add(-1)
	}()
	d.mu.Lock()
	refused := c.err
	d.mu.Unlock()
	h := &handle{d: d, kind: graphHandle, graph: raw, holds: c.holds}
	switch {
	case err != nil:
	case refused != nil:
		err = refused
	case endErr != nil:
		err = s.fail("Capture", endErr)
	default:
		return s.newGraph(c, h), nil
	}
	if raw == nil || d.sticky.Load() != nil { // a lost device has lost its graphs
		d.unhold(h)
	} else if e := d.giveBack(h); e != nil {
		d.log.Warn("gotile: a graph whose capture failed could not be given back", "device", d.name, "error", d.fail("Capture", e))
	}
	return nil, err
}

func (s *Stream) newGraph(c *capture, h *handle) *Graph {
	s.d.register(h)
	g := &Graph{d: s.d, h: h, kernels: map[string]int{}, last: c.last}
	for l, n := range c.launches {
		g.kernels[l.f.k.Name] += n
		g.counts = append(g.counts, replayed{l.f.count(l.phase), int64(n)})
	}
	g.writes = slices.Collect(maps.Keys(c.writes))
	g.cleanup = runtime.AddCleanup(g, leaked, h)
	return g
}

// inCapture refuses a call that the calling goroutine makes while it captures on any stream of the device. Without a
// capture it costs an atomic load.
func (d *Device) inCapture(call string) error {
	if c := d.captureHere(); c != nil {
		return d.refuse(c, call)
	}
	return nil
}

// captureHere is the capture of the calling goroutine; nil where it has none.
func (d *Device) captureHere() *capture {
	if d.capturing.Load() == 0 {
		return nil
	}
	me := stack.Goroutine()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.captures {
		if c.goroutine == me {
			return c
		}
	}
	return nil
}

// refuse says that a call cannot be part of a graph.
func (d *Device) refuse(c *capture, call string) error {
	err := fmt.Errorf("device: %s: %s: %w; a graph has launches, fills and copies on its stream: do this before Capture, or after",
		d.name, call, ErrCapture)
	d.spoil(c, err)
	return err
}

// spoil makes a capture fail in the end; the first reason counts.
func (d *Device) spoil(c *capture, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

// launch notes a launch that became part of a graph.
func (c *capture) launch(f *Func, phase int32, grid int, args []byte) {
	c.launches[counted{f, phase}]++
	c.last = launched{f, grid, bytes.Clone(args)}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	// Which arguments are addresses is known to the kernel only. A number that happens to look like the address of a
	// buffer costs no more than that the buffer lives as long as the graph.
	for i := 0; i+8 <= len(args); i += 8 {
		word := binary.LittleEndian.Uint64(args[i:])
		for h := range f.d.live {
			if h.kind == bufferHandle && word-h.raw < uint64(h.bytes) {
				c.hold(h)
			}
		}
	}
}

// touched notes that fills and copies of a graph use buffers.
func (s *Stream) touched(buffers ...*Buffer) {
	if s.capture == nil {
		return
	}
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	for _, b := range buffers {
		s.capture.hold(b.h)
	}
}

// hold makes a buffer outlive its Close. It is called with the device's mu held.
func (c *capture) hold(h *handle) {
	if _, ok := c.holds[h]; !ok {
		c.holds[h] = struct{}{}
		h.holders++
	}
}

// unhold lets go of what a graph holds, and gives back what was closed meanwhile.
func (d *Device) unhold(g *handle) {
	for h := range g.holds {
		d.mu.Lock()
		h.lane = nil // the graph may have run on any stream
		d.mu.Unlock()
		d.letGo(h)
	}
	g.holds = nil
}
