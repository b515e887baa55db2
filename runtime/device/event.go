package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Event is a point in a stream's work. Its methods are safe for concurrent use; the owner closes it.
type Event struct {
	h       *handle
	cleanup runtime.Cleanup
	last    launched // before it
}

// Record marks the present end of the stream's work.
func (s *Stream) Record() (*Event, error) {
	release, err := s.d.use()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.enterOutside("Record"); err != nil {
		return nil, err
	}
	defer s.leave()
	raw, err := s.d.back.record(s.h.raw)
	if err != nil {
		return nil, s.fail("Record", err)
	}
	e := &Event{h: &handle{d: s.d, kind: eventHandle, raw: raw}, last: s.last}
	s.d.register(e.h)
	e.last.args = bytes.Clone(e.last.args)
	e.cleanup = runtime.AddCleanup(e, leaked, e.h)
	return e, nil
}

// Wait makes what is queued on the stream from now on wait for an event of the same device.
func (s *Stream) Wait(e *Event) error {
	if e == nil {
		return fmt.Errorf("device: %s: Wait for a nil event: %w", s.d.name, ErrClosed)
	}
	if e.h.d != s.d {
		return fmt.Errorf("device: %s: Wait for an event of %s: %w", s.d.name, e.h.d.name, ErrWrongDevice)
	}
	release, err := s.d.use()
	if err != nil {
		return err
	}
	defer release()
	if err := s.enterOutside("Wait"); err != nil {
		return err
	}
	defer s.leave()
	return e.with("Wait", func() error { return s.d.back.wait(s.h.raw, e.h.raw) })
}

// Sync waits until the event has happened; when ctx is cancelled the wait is abandoned.
func (e *Event) Sync(ctx context.Context) error {
	return e.ask("Sync", func() error { return e.h.d.back.syncEvent(ctx, e.h.raw) })
}

// Since is the time between an earlier event and e, with a resolution of half a microsecond. Both must have happened.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if start == nil {
		return 0, fmt.Errorf("device: %s: Since a nil event: %w", e.h.d.name, ErrClosed)
	}
	if start.h.d != e.h.d {
		return 0, fmt.Errorf("device: %s: Since an event of %s: %w", e.h.d.name, start.h.d.name, ErrWrongDevice)
	}
	var t time.Duration
	err := e.ask("Since", func() (err error) {
		if err := start.hold("Since"); err != nil {
			return err
		}
		defer start.letGo()
		t, err = e.h.d.back.elapsed(start.h.raw, e.h.raw)
		return err
	})
	return t, err
}

// Close gives the event back, after the calls on it that are under way; it does not wait for them. Closing twice is fine.
func (e *Event) Close() error {
	if e == nil {
		return nil
	}
	if err := e.h.d.inCapture("Event.Close"); err != nil {
		return err
	}
	e.cleanup.Stop()
	return e.h.close()
}

// ask is with for the host's own calls, which cannot be part of a graph.
func (e *Event) ask(call string, do func() error) error {
	if err := e.h.d.inCapture("Event." + call); err != nil {
		return err
	}
	release, err := e.h.d.use()
	if err != nil {
		return err
	}
	defer release()
	return e.with(call, do)
}

// with runs a call on an open event, of a device that is in use.
func (e *Event) with(call string, do func() error) error {
	if err := e.hold(call); err != nil {
		return err
	}
	defer e.letGo()
	err := do()
	switch {
	case err == nil || errors.Is(err, ErrClosed): // the other event, of Since
		return err
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("device: %s: wait abandoned: %w", e.h.d.name, err)
	}
	failure := &Error{Call: call, Async: true, Err: err}
	e.last.blame(failure)
	return e.h.d.keep(failure)
}

// hold keeps an open event until letGo, though it may be closed meanwhile: to the driver a destroyed event is memory
// that is something else by now.
func (e *Event) hold(call string) error {
	if !e.h.d.hold(e.h) {
		return fmt.Errorf("device: %s: %s of an event: %w", e.h.d.name, call, ErrClosed)
	}
	return nil
}

func (e *Event) letGo() {
	e.h.d.letGo(e.h)
	runtime.KeepAlive(e)
}
