package device

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// handleKind says how a handle is given back.
type handleKind uint8

const (
	bufferHandle handleKind = iota
	eventHandle
	streamHandle
	graphHandle
	hostHandle
)

func (k handleKind) String() string {
	return [...]string{"buffer", "event", "stream", "graph", "pinned buffer"}[k]
}

// handle is what a Buffer, Event, Stream or Graph owns of the backend. It outlives its owner: when the garbage
// collector finds the owner unreachable, the handle is what is left to give back. So it must not point to the owner.
type handle struct {
	d     *Device
	kind  handleKind
	raw   uint64
	bytes int    // of buffers
	host  []byte // of pinned buffers; may be longer
	// adopted buffers and streams belong to the program: nothing is given back.
	adopted bool
	lane    *lane // of a stream; of a buffer, the only stream that uses it
	graph   graph
	// holds are the buffers that a graph needs, holders the number of graphs that need a buffer, or of calls under way
	// on an event. Guarded by Device.mu.
	holds   map[*handle]struct{}
	holders int
	closed  atomic.Bool
	change  change // of a buffer's memory
	busy    flag   // streams: held by the call under way
	pcs     [12]uintptr
	depth   int
}

// flag is held by one goroutine at a time.
type flag struct{ held atomic.Bool }

func (f *flag) tryLock() bool { return f.held.CompareAndSwap(false, true) }
func (f *flag) unlock()       { f.held.Store(false) }

// lock waits; only closing does.
func (f *flag) lock() {
	for !f.tryLock() {
		time.Sleep(10 * time.Microsecond)
	}
}

// register notes a handle that is to be given back, with the position of the caller outside this package.
func (d *Device) register(h *handle) {
	h.depth = runtime.Callers(2, h.pcs[:])
	d.mu.Lock()
	d.live[h] = struct{}{}
	d.mu.Unlock()
}

// packagePrefix begins the names of this package's functions.
var packagePrefix = reflect.TypeFor[Device]().PkgPath() + "."

// origin is where the handle was made: the first frame outside this package, or in its tests.
func (h *handle) origin() string {
	frames := runtime.CallersFrames(h.pcs[:h.depth])
	for {
		f, more := frames.Next()
		if f.Function != "" && (!strings.HasPrefix(f.Function, packagePrefix) || strings.HasSuffix(f.File, "_test.go")) {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "?"
		}
	}
}

// close gives the handle back, once.
func (h *handle) close() error {
	if !h.closed.CompareAndSwap(false, true) {
		return nil
	}
	return h.release()
}

// release gives a closed handle back.
func (h *handle) release() error {
	d := h.d
	d.life.RLock()
	defer d.life.RUnlock()
	if !d.claim(h) {
		return nil
	}
	if err := d.giveBack(h); err != nil {
		return d.fail("Close", err)
	}
	return nil
}

// claim takes a closed handle off the list of what is to be given back. It is false where the caller is not to do it:
// Device.Close does, or who holds the handle, or nobody, since the device is lost with all that it held.
func (d *Device) claim(h *handle) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ours := d.live[h]; !ours || h.holders > 0 {
		return false
	}
	delete(d.live, h)
	return d.sticky.Load() == nil
}

// hold makes a handle outlive its Close; false where it is closed.
func (d *Device) hold(h *handle) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h.closed.Load() {
		return false
	}
	h.holders++
	return true
}

// letGo ends a hold, and gives back what was closed meanwhile.
func (d *Device) letGo(h *handle) {
	d.mu.Lock()
	h.holders--
	d.mu.Unlock()
	if !h.closed.Load() || !d.claim(h) {
		return
	}
	if err := d.giveBack(h); err != nil {
		d.log.Warn("gotile: what was closed while in use could not be given back", "device", d.name, "kind", h.kind, "error", d.fail("Close", err))
	}
}

// giveBack calls the backend.
func (d *Device) giveBack(h *handle) error {
	switch h.kind {
	case hostHandle:
		if h.bytes == 0 {
			return nil
		}
		return d.hosts.put(memory{host: h.host}, h.bytes, nil)
	case graphHandle:
		err := h.graph.close()
		d.unhold(h)
		return err
	case streamHandle:
		return d.time.close(h.lane)
	case eventHandle:
		return d.back.freeEvent(h.raw)
	}
	if h.bytes == 0 || h.adopted {
		return nil
	}
	return d.buffers.put(memory{addr: h.raw}, h.bytes, h.lane)
}

// takeAll empties the list of live handles: events first, then graphs, streams, buffers and pinned
// buffers.
func (d *Device) takeAll() []*handle {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []*handle
	for _, kind := range []handleKind{eventHandle, graphHandle, streamHandle, bufferHandle, hostHandle} {
		for h := range d.live {
			if h.kind == kind {
				out = append(out, h)
			}
		}
	}
	clear(d.live)
	d.leaks = nil
	return out
}

// leaked is the cleanup of buffers, streams, events and graphs that were dropped without Close. It runs on a goroutine
// of the runtime at any time, within a graph capture too, so it calls no driver: it queues the handle for Drain.
func leaked(h *handle) {
	d := h.d
	if h.adopted && h.kind == bufferHandle { // no leak: there was nothing to give back
		h.closed.Store(true)
		d.claim(h)
		return
	}
	if h.kind != hostHandle { // whose bytes may be in use: it stays until the device is closed
		if !h.closed.CompareAndSwap(false, true) {
			return
		}
		d.mu.Lock()
		d.leaks = append(d.leaks, h)
		d.mu.Unlock()
	}
	d.log.Warn("gotile: "+h.kind.String()+" dropped without Close", "device", d.name, "bytes", h.bytes, "made", h.origin())
}

// Drain gives back what was dropped without Close and has been found by the garbage collector; it returns how many
// handles. Alloc, NewStream, Capture and Stream.Sync call it. Within a capture it does nothing.
func (d *Device) Drain() int {
	if d.captureHere() != nil {
		return 0
	}
	d.mu.Lock()
	leaks := d.leaks
	d.leaks = nil
	d.mu.Unlock()
	if len(leaks) == 0 {
		return 0
	}
	d.life.RLock()
	defer d.life.RUnlock()
	n := 0
	for _, h := range leaks {
		if !d.claim(h) {
			continue
		}
		n++
		if err := d.giveBack(h); err != nil {
			d.log.Warn("gotile: a dropped "+h.kind.String()+" could not be given back", "device", d.name, "error", d.fail("Drain", err))
		}
	}
	return n
}
