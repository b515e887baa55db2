package device

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Stream is a queue of work: what is queued on it runs in order. It is not safe for concurrent use, and says so with
// ErrConcurrent. On the simulator work is done when the call that queues it returns.
type Stream struct {
	d       *Device
	h       *handle
	cleanup runtime.Cleanup
	args    []byte // the argument struct of a launch, 64-byte aligned as tensor maps must be
	last    launched
	phase   atomic.Int32 // number of the phase
	count   int          // launches, queued and captured
	capture *capture     // under way; nil: none
	// triggered: what was queued last is a launch of a kernel that lets the next one begin before it is over.
	triggered bool
}

// launched is what an error that shows later says of the last launch before it.
type launched struct {
	f    *Func // nil: no launch
	grid int
	args []byte // the argument struct; may be the stream's buffer, nil where another launch has overwritten that
}

// blame names the launch that may have caused an error.
func (l launched) blame(e *Error) {
	if l.f != nil {
		e.Kernel, e.Grid, e.Args = l.f.k.Name, l.grid, bytes.Clone(l.args)
	}
}

// NewStream makes a stream that runs beside the others. The owner closes it.
func (d *Device) NewStream() (*Stream, error) {
	if err := d.inCapture("NewStream"); err != nil {
		return nil, err
	}
	d.Drain()
	release, err := d.use()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := d.time.reap(); err != nil {
		return nil, d.fail("NewStream", err)
	}
	s, err := d.newStream()
	if err != nil {
		return nil, err
	}
	s.cleanup = runtime.AddCleanup(s, leaked, s.h)
	return s, nil
}

func (d *Device) newStream() (*Stream, error) {
	raw, err := d.back.newStream()
	if err != nil {
		return nil, d.fail("NewStream", err)
	}
	return d.streamOf(raw, false), nil
}

// streamOf is a stream over a handle of the backend; adopted: which is not ours to destroy.
func (d *Device) streamOf(raw uint64, adopted bool) *Stream {
	s := &Stream{d: d, h: &handle{d: d, kind: streamHandle, raw: raw, adopted: adopted, lane: d.time.add(raw, adopted)}}
	d.register(s.h)
	return s
}

// Device is what the stream runs on.
func (s *Stream) Device() *Device { return s.d }

// Close gives the stream back, when what is queued is done; it does not wait for that. The device's default stream is
// closed with the device. Close of an adopted stream does wait, and leaves it to its owner.
func (s *Stream) Close() error {
	if s == nil {
		return nil
	}
	if s == s.d.stream {
		return fmt.Errorf("device: %s: the default stream is closed with its device", s.d.name)
	}
	if !s.h.busy.tryLock() {
		if s.h.closed.Load() {
			return nil // by Device.Close
		}
		return fmt.Errorf("device: %s: Close: %w", s.d.name, ErrConcurrent)
	}
	if err := s.refuseInCapture("Stream.Close"); err != nil {
		s.leave()
		return err
	}
	first := s.h.closed.CompareAndSwap(false, true)
	s.leave()
	s.cleanup.Stop()
	if !first {
		return nil
	}
	return s.h.release()
}

const launchCall = "Launch"

// enter claims the stream for one call, which ends with s.leave. A goroutine that captures has the stream that it
// captures alone: what it queues on another would run at once, beside the graph that it was meant for.
func (s *Stream) enter(call string) error {
	taken := s.h.busy.tryLock()
	if taken && call != launchCall {
		s.triggered = false // the next launch follows something else
	}
	if s.h.closed.Load() {
		if taken {
			s.leave()
		}
		return fmt.Errorf("device: %s: %s on a stream: %w", s.d.name, call, ErrClosed)
	}
	if !taken {
		return fmt.Errorf("device: %s: %s: %w", s.d.name, call, ErrConcurrent)
	}
	if e := s.d.sticky.Load(); e != nil {
		s.leave()
		return e
	}
	if s.capture == nil {
		if err := s.d.inCapture(call); err != nil {
			s.leave()
			return err
		}
	}
	return nil
}

// enterOutside is enter for what cannot be part of a graph.
func (s *Stream) enterOutside(call string) error {
	if err := s.enter(call); err != nil {
		return err
	}
	if s.capture != nil {
		defer s.leave()
		return s.d.refuse(s.capture, call)
	}
	return nil
}

// refuseInCapture refuses a call on a stream that captures, and one of a goroutine that captures on another.
func (s *Stream) refuseInCapture(call string) error {
	if s.capture != nil {
		return s.d.refuse(s.capture, call)
	}
	return s.d.inCapture(call)
}

func (s *Stream) leave() { s.h.busy.unlock() }

// Launch runs a kernel on grid blocks with the argument struct (f.Kernel().ArgBytes bytes in C's layout) that args
// points to. The struct is copied before Launch returns and may live on the stack; the memory that its addresses name
// must stay open until the kernel is done. A grid of 0 blocks does nothing and counts as no launch. Failures are *Error
// with kernel, grid and arguments; on a GPU a kernel's own failure shows in a later call. Launch allocates nothing.
func (s *Stream) Launch(f *Func, grid int, args unsafe.Pointer) error {
	if err := s.enter(launchCall); err != nil {
		return err
	}
	defer s.leave()
	switch {
	case f == nil:
		return fmt.Errorf("device: %s: launch of a nil Func", s.d.name)
	case f.d != s.d:
		return fmt.Errorf("device: %s: launch of %s, which was loaded on %s: %w", s.d.name, f.k.Name, f.d.name, ErrWrongDevice)
	case grid < 0 || grid > math.MaxInt32:
		return fmt.Errorf("device: %s: launch of %s on %d blocks; a grid has 0 to %d: %w", s.d.name, f.k.Name, grid, math.MaxInt32, ErrShape)
	case args == nil && f.k.ArgBytes > 0:
		return fmt.Errorf("device: %s: launch of %s without its %d bytes of arguments", s.d.name, f.k.Name, f.k.ArgBytes)
	case f.k.Cluster > 1 && grid%f.k.Cluster != 0:
		return fmt.Errorf("device: %s: launch of %s on %d blocks, which are no whole clusters of %d: %w", s.d.name, f.k.Name, grid, f.k.Cluster, ErrShape)
	case grid == 0:
		return nil
	}
	buf := s.argBuffer(f.k.ArgBytes)
	s.last.args = nil
	copy(buf, unsafe.Slice((*byte)(args), f.k.ArgBytes))
	dependent := s.triggered && f.k.Waits
	s.triggered = f.k.Triggers && f.early
	if err := f.fn.launch(s.h.raw, grid, buf, dependent); err != nil {
		err = s.d.keep(&Error{Call: "Launch", Kernel: f.k.Name, Grid: grid, Args: append([]byte(nil), buf...), Err: err})
		if s.capture != nil {
			s.d.spoil(s.capture, err)
		}
		return err
	}
	s.count++
	if s.capture != nil {
		s.capture.launch(f, s.phase.Load(), grid, buf)
		return nil
	}
	f.count(s.phase.Load()).Add(1)
	s.last = launched{f, grid, buf}
	return nil
}

// Launches counts the successful calls of Launch on this stream, captured ones included. Replays of graphs do not count:
// the difference over a call says what it launches.
func (s *Stream) Launches() int { return s.count }

// argBuffer is room for the argument struct, kept between launches.
func (s *Stream) argBuffer(n int) []byte {
	if s.args == nil {
		const align = 64
		b := make([]byte, maxArgBytes+align)
		skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (align - 1)
		s.args = b[skip : skip+maxArgBytes]
	}
	return s.args[:n:n]
}

// Sync waits until everything queued so far is done and returns the first failure of it. When ctx is cancelled the
// wait is abandoned, not the work.
func (s *Stream) Sync(ctx context.Context) error {
	if err := s.enterOutside("Sync"); err != nil {
		return err
	}
	err := s.wait(ctx)
	s.leave()
	s.d.Drain()
	return err
}

func (s *Stream) wait(ctx context.Context) error {
	before := s.d.time.present()
	if err := s.d.back.sync(ctx, s.h.raw); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("device: %s: wait abandoned: %w", s.d.name, err)
		}
		return s.fail("Sync", err)
	}
	s.d.time.reached(s.h.lane, before)
	return nil
}

// fail describes an error that work queued before may have caused.
func (s *Stream) fail(call string, err error) error {
	e := &Error{Call: call, Async: true, Err: err}
	s.last.blame(e)
	return s.d.keep(e)
}

// CopyIn copies src into the buffer from a byte on, and waits for it.
func (s *Stream) CopyIn(dst *Buffer, offset int, src []byte) error {
	return s.onBuffer("CopyIn", dst, offset, len(src), true, func(addr uint64) error {
		s.wrote(dst)
		return s.d.back.copyIn(s.h.raw, addr, src)
	})
}

// CopyOut copies from a byte of the buffer on into dst, and waits for it.
func (s *Stream) CopyOut(dst []byte, src *Buffer, offset int) error {
	return s.onBuffer("CopyOut", src, offset, len(dst), true, func(addr uint64) error {
		return s.d.back.copyOut(s.h.raw, dst, addr)
	})
}

// Fill queues setting bytes of the buffer to a value.
func (s *Stream) Fill(dst *Buffer, offset, bytes int, value byte) error {
	return s.onBuffer("Fill", dst, offset, bytes, false, func(addr uint64) error {
		s.wrote(dst)
		return s.d.back.fill(s.h.raw, addr, value, bytes)
	})
}

// Copy queues a copy between buffers of the stream's device. Ranges of one buffer must not overlap.
func (s *Stream) Copy(dst *Buffer, dstOffset int, src *Buffer, srcOffset, bytes int) error {
	if err := src.check(s.d, srcOffset, bytes); err != nil {
		return fmt.Errorf("Copy: %w", err)
	}
	if dst == src && dstOffset < srcOffset+bytes && srcOffset < dstOffset+bytes {
		return fmt.Errorf("device: %s: Copy of %d bytes from byte %d to byte %d: the ranges overlap: %w", s.d.name, bytes, srcOffset, dstOffset, ErrShape)
	}
	return s.onBuffer("Copy", dst, dstOffset, bytes, false, func(addr uint64) error {
		s.touched(src)
		defer runtime.KeepAlive(src)
		s.wrote(dst)
		return s.d.back.copy(s.h.raw, addr, src.Addr()+uint64(srcOffset), bytes)
	})
}

// onBuffer runs an operation on a range of a buffer, and waits for it where asked to.
func (s *Stream) onBuffer(call string, b *Buffer, offset, bytes int, wait bool, do func(addr uint64) error) error {
	enter := s.enter
	if wait {
		enter = s.enterOutside
	}
	if err := enter(call); err != nil {
		return err
	}
	defer s.leave()
	if err := b.check(s.d, offset, bytes); err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	if bytes == 0 {
		return nil
	}
	s.touched(b)
	defer runtime.KeepAlive(b) // dropped, it might go to another owner before the call
	if err := do(b.Addr() + uint64(offset)); err != nil {
		err = s.fail(call, err)
		if s.capture != nil {
			s.d.spoil(s.capture, err)
		}
		return err
	}
	if !wait {
		return nil
	}
	return s.wait(context.Background())
}
