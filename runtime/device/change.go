package device

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// change counts what wrote into a buffer, and knows where the last call is that said so.
type change struct {
	count atomic.Int64
	mu    sync.Mutex
	at    callers // guarded by mu, as is placed
	// placed is what count was after the call at at. Launches are counted without a place, so count may be larger.
	placed  int64
	watched atomic.Bool // launches have a place, too
}

// callers are the program counters of a call and of those around it: of few, each of which takes the runtime a tenth of
// a microsecond, but enough to reach the code that uses this package and runtime/autodiff.
type callers [5]uintptr

// note counts a change by a call.
func (c *change) note(at []uintptr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.placed = c.count.Add(1)
	clear(c.at[copy(c.at[:], at):])
}

// Changes counts the calls that wrote into the memory, for those who want to know whether it is as it was: copies, fills,
// uploads, launches by generated functions whose kernels write there, what NoteChange was told, and replays of graphs in
// which one of these was captured. It is of the whole buffer, whatever part of it a tensor views.
func (b *Buffer) Changes() int64 { return b.h.change.count.Load() }

// ChangedAt is where the last change was made, and what Changes was after it: program counters, the innermost first, for
// runtime.CallersFrames. It is empty where there was none. Of launches only those since a Watch are known.
func (b *Buffer) ChangedAt() (at []uintptr, changes int64) {
	c := &b.h.change
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for n < len(c.at) && c.at[n] != 0 {
		n++
	}
	return append([]uintptr(nil), c.at[:n]...), c.placed
}

// NoteChange counts a change that the device does not see, such as a launch by Stream.Launch that writes into the memory.
// Within a capture each replay of the graph counts too. at are the program counters of who makes the change; without
// them it is the caller.
func (b *Buffer) NoteChange(at ...uintptr) {
	var here callers
	if len(at) == 0 {
		at = here[:runtime.Callers(2, here[:])]
	}
	b.h.change.note(at)
	b.captured()
}

// Watch has later launches that write to the memory note where they were made. That takes half a microsecond each, longer
// than a launch is checked, so it is for memory that others are not expected to write.
func (b *Buffer) Watch() { b.h.change.watched.Store(true) }

// NoteLaunch is NoteChange for the caller of a generated function, which has called what calls NoteLaunch. The place is
// noted of memory that is watched.
func (b *Buffer) NoteLaunch() {
	if c := &b.h.change; c.watched.Load() {
		var at callers
		c.note(at[:runtime.Callers(4, at[:])])
	} else {
		c.count.Add(1)
	}
	b.captured()
}

// captured makes the change one of each replay's, where the calling goroutine captures.
func (b *Buffer) captured() {
	if c := b.h.d.captureHere(); c != nil {
		c.write(b.h)
	}
}

// wrote notes that a copy, a fill or an upload changes a buffer. It is called by what the call's method calls.
func (s *Stream) wrote(b *Buffer) {
	var at callers
	b.h.change.note(at[:runtime.Callers(4, at[:])])
	if s.capture != nil {
		s.capture.write(b.h)
	}
}

// write notes a change that each replay makes.
func (c *capture) write(h *handle) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	c.writes[h] = struct{}{}
}
