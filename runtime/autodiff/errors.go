package autodiff

import (
	"errors"
	"fmt"
	"strings"
)

// What callers ask for with errors.Is; errors about shapes and element types are device.ErrShape and device.ErrDType.
var (
	// ErrUntracked: a gradient of a tensor that no gradient was ever to flow to.
	ErrUntracked = errors.New("not tracked")
	// ErrUnreached: a gradient of a tensor that no path leads to from what Backward began with, or before Backward.
	ErrUnreached = errors.New("not reached by backward")
	// ErrConsumed: a gradient of an interior tensor that its own backward step has used up; Retain keeps it.
	ErrConsumed = errors.New("gradient consumed")
	// ErrFreed: the memory of a tensor that backward, or the end of a Block, gave back.
	ErrFreed = errors.New("memory given back")
	// ErrUnset: a port without a tensor.
	ErrUnset = errors.New("not set")
	// ErrForeign: a tensor of another tape, memory of another device.
	ErrForeign = errors.New("of another tape or device")
	// ErrTwice: a second backward pass over a tape.
	ErrTwice = errors.New("backward ran already")
	// ErrChanged: memory that a backward step reads was changed in place after the op was applied.
	ErrChanged = errors.New("changed in place")
	// ErrDropped: ops that were applied to tracked tensors and whose backward step never ran.
	ErrDropped = errors.New("dropped")
	// ErrNotFinite: an infinity or a NaN, seen in anomaly mode.
	ErrNotFinite = errors.New("not finite")
	// ErrAudit: a fused kernel and its Ref disagree.
	ErrAudit = errors.New("differs from its Ref")
	// ErrPanic: an op's function panicked.
	ErrPanic = errors.New("panicked")
	// ErrGrow: a step that is captured needs memory that its pool has not. A graph cannot allocate.
	ErrGrow = errors.New("the pool would grow")
	// ErrClosed: a tape, pool or Exec that was closed.
	ErrClosed = errors.New("closed")
	// ErrConcurrent: a tape used by two goroutines at once.
	ErrConcurrent = errors.New("tape used by two goroutines at once, or within an op or an Update, which have an Exec for it; give each goroutine its own")
	// ErrBooks: counts that do not balance. It shows a mistake in this package or in an op's Spec.
	ErrBooks = errors.New("the books do not balance")
	// ErrSpec: an op that cannot be registered as it is.
	ErrSpec = errors.New("bad op")
	// ErrUnknownOp: a name in GOTILE_OFF, or of Off, that no op has.
	ErrUnknownOp = errors.New("unknown op")
)

// Error is what the tape keeps: what went wrong in which op, at which port and line.
type Error struct {
	Op   string // or the method of the tape
	Port string // "X", "dX" for a gradient; empty where none is to blame
	At   string // file:line of the call; empty where unknown
	Err  error  // the cause: a sentinel of this package, or what a kernel's launch returned
	Text string // the rule, the numbers, a way out; empty where Err says it
}

// Error is one line but for lists: position, op, port, what is wrong.
func (e *Error) Error() string {
	var b strings.Builder
	if e.At != "" {
		b.WriteString(e.At + ": ")
	}
	b.WriteString(e.Op)
	if e.Port != "" {
		b.WriteString(": " + e.Port)
	}
	switch {
	case e.Text == "":
		fmt.Fprintf(&b, ": %v", e.Err)
	default:
		b.WriteString(": " + e.Text)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Decline is what an op's Accept returns to have the call run its Ref instead. reason is what the books count it by: a
// few constant words, such as "rows longer than 262144".
func Decline(reason string) error { return &declined{reason} }

type declined struct{ reason string }

func (d *declined) Error() string { return "declined: " + d.reason }
