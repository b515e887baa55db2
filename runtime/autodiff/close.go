package autodiff

import (
	"errors"
	"fmt"
)

// Close ends the tape: it gives back all memory that the tape's ops have made, checks that the books balance and returns
// them. The error is the tape's first one; without one, in strict mode, ErrDropped with the lines of the ops whose
// backward never ran. Closing twice gives the same books and ErrClosed; while another goroutine uses the tape it is
// ErrConcurrent, with empty books, and the tape stays open.
func (t *Tape) Close() (*Ledger, error) {
	if t == nil {
		return &Ledger{}, t.Err()
	}
	if !t.claim("Close") {
		return &Ledger{}, t.clashed()
	}
	defer t.leave()
	t.fail(t.clashed())
	if t.closed {
		return &t.book, &Error{Op: "Close", At: here().String(), Err: ErrClosed, Text: "the tape is closed already"}
	}
	t.closed = true
	dropped := t.countDropped()
	for _, n := range t.nodes {
		t.forget(n)
	}
	for _, v := range append(t.made, t.leaves...) {
		t.release(v.store)
		v.store = nil
		if v.grad != nil {
			t.release(v.grad.store)
			v.grad = nil
		}
	}
	t.nodes, t.made, t.leaves = nil, nil, nil
	err := t.err
	if err == nil {
		err = t.book.Check()
	}
	if err == nil && t.strict {
		err = dropped
	}
	t.fail(err)
	if t.own {
		err = errors.Join(err, t.pool.Close())
	}
	return &t.book, err
}

// forget gives back what a node keeps for its backward step.
func (t *Tape) forget(n *node) {
	for _, s := range n.held {
		t.release(s)
	}
	for _, v := range n.extra {
		t.release(v.store)
		v.store = nil
	}
	n.held, n.extra = nil, nil
}

// countDropped counts the tracked nodes without a backward step, and names the first ones.
func (t *Tape) countDropped() error {
	const most = 5
	var first error
	var more int
	var list string
	for _, n := range t.nodes {
		if !n.tracked || n.passed {
			continue
		}
		t.book.of(t.phase, n.core).Dropped++
		if n.inner {
			continue // a Ref may have outputs that nobody uses
		}
		if more++; more <= most {
			list += fmt.Sprintf("\n\t%s: %s", n.at, n.core.name)
		}
	}
	if more > 0 {
		if more > most {
			list += fmt.Sprintf("\n\tand %d more", more-most)
		}
		first = &Error{Op: "Close", Err: ErrDropped, Text: fmt.Sprintf("the backward step of %d ops never ran; use their results, Detach their inputs, or evaluate on a tape WithPhase(Eval):%s", more, list)}
	}
	return first
}
