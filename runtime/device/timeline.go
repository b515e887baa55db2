package device

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// timeline tells when memory that was given back may be used again: after all that was queued before, on every stream.
// It needs no event and no call of the driver to give memory back. Giving back takes a number (mark); a stream that is
// found idle has passed all numbers taken before (a wait on it, or a question); what every stream has passed is past.
type timeline struct {
	back backend

	mu    sync.Mutex // also held while the driver is asked, so that no stream is destroyed or captures meanwhile
	now   uint64
	lanes []*lane
}

// lane is a stream as the timeline sees it. Guarded by timeline.mu.
type lane struct {
	raw       uint64
	passed    uint64 // what was given back with this number or one before is not used by the stream
	capturing bool   // asking or waiting would break the capture
	closing   bool   // given back by its owner while work was under way; destroyed when that is done
	adopted   bool   // the program's, which destroys it
}

// add begins a lane: a new stream uses nothing that was given back before.
func (t *timeline) add(raw uint64, adopted bool) *lane {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &lane{raw: raw, passed: t.now, adopted: adopted}
	t.lanes = append(t.lanes, l)
	return l
}

// mark is the number of memory that is given back now.
func (t *timeline) mark() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now++
	return t.now
}

// present is the last number taken. It is asked for before a wait; after it the stream has passed it.
func (t *timeline) present() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

func (t *timeline) reached(l *lane, number uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.passed = max(l.passed, number)
}

// past is the number that all streams have passed.
func (t *timeline) past() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	past := t.now
	for _, l := range t.lanes {
		past = min(past, l.passed)
	}
	return past
}

// capture says that a stream begins or ends a capture.
func (t *timeline) capture(l *lane, on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.capturing = on
}

// ask finds out which streams are idle, and destroys those that only waited for that.
func (t *timeline) ask() error {
	return t.visit(func(l *lane) bool { return l.closing || l.passed < t.now })
}

// reap destroys the streams that only waited for their work, where it is done.
func (t *timeline) reap() error { return t.visit(func(l *lane) bool { return l.closing }) }

func (t *timeline) visit(which func(l *lane) bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, l := range slices.Clone(t.lanes) {
		if l.capturing || !which(l) {
			continue
		}
		idle, err := t.back.idle(l.raw)
		errs = append(errs, err)
		if err != nil || !idle {
			continue
		}
		l.passed = t.now
		if l.closing {
			errs = append(errs, t.drop(l))
		}
	}
	return errors.Join(errs...)
}

// wait waits until all streams have passed the present, but for those that capture. What is queued meanwhile does not
// make it longer.
func (t *timeline) wait() error {
	type point struct {
		l     *lane
		event uint64
	}
	var points []point
	var errs []error
	t.mu.Lock()
	now := t.now
	for _, l := range t.lanes {
		if l.capturing || l.passed == now {
			continue
		}
		e, err := t.back.record(l.raw)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		points = append(points, point{l, e})
	}
	t.mu.Unlock()
	for _, p := range points {
		err := t.back.syncEvent(context.Background(), p.event)
		if err == nil {
			t.reached(p.l, now)
		}
		errs = append(errs, err, t.back.freeEvent(p.event))
	}
	return errors.Join(errs...)
}

// close destroys a stream, at once if it is idle. The driver would let a destroyed stream finish its work, but then
// nobody could ask whether it has. For the same reason an adopted stream is waited for: its owner may destroy it next.
func (t *timeline) close(l *lane) error {
	if l.adopted {
		err := t.back.sync(context.Background(), l.raw)
		t.mu.Lock()
		defer t.mu.Unlock()
		return errors.Join(err, t.drop(l))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l.closing = true
	done, err := t.back.idle(l.raw)
	if err != nil || !done {
		return err
	}
	return t.drop(l)
}

// closeAll destroys all streams, after their work.
func (t *timeline) closeAll() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, l := range slices.Clone(t.lanes) {
		errs = append(errs, t.back.sync(context.Background(), l.raw), t.drop(l))
	}
	return errors.Join(errs...)
}

// drop destroys an idle stream. It is called with t.mu held.
func (t *timeline) drop(l *lane) error {
	t.lanes = slices.DeleteFunc(t.lanes, func(o *lane) bool { return o == l })
	if l.adopted {
		return nil
	}
	return t.back.freeStream(l.raw)
}
