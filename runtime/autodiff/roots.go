package autodiff

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/runtime/autodiff/internal/sum"
	"github.com/gotile/gotile/runtime/device"
)

// Backward finds the gradients of the sum of the losses, which have one element each, with respect to every tracked
// tensor that they depend on. It runs once on a tape. Afterwards Grad has the gradients of leaves and of retained
// tensors.
func (t *Tape) Backward(losses ...Tensor) error {
	at := here()
	if !t.enter("Backward") {
		return t.Err()
	}
	defer t.leave()
	if err := t.begin(at, losses); err != nil {
		t.fail(err)
		return err
	}
	for _, l := range losses {
		d, s, err := t.newTensor(l.v.data.DType(), l.v.data.Shape())
		if err == nil {
			err = errors.Join(sum.Fill(t.s, d, 1), t.give(l.v, d, s))
		}
		if err != nil {
			t.fail(&Error{Op: "Backward", At: at.String(), Err: err})
			return t.err
		}
	}
	return t.sweep()
}

// Seed is the gradient of a tensor that backward begins with: of its type and shape, and the caller's memory.
type Seed struct {
	Of   Tensor
	Grad device.Tensor
}

// BackwardFrom is Backward with the gradients that it begins with given.
func (t *Tape) BackwardFrom(seeds ...Seed) error {
	at := here()
	if !t.enter("BackwardFrom") {
		return t.Err()
	}
	defer t.leave()
	if err := t.beginFrom(at, seeds); err != nil {
		t.fail(err)
		return err
	}
	for _, seed := range seeds {
		if err := t.give(seed.Of.v, seed.Grad, t.storageOf(seed.Grad.Buffer())); err != nil {
			t.fail(&Error{Op: "BackwardFrom", At: at.String(), Err: err})
			return t.err
		}
	}
	return t.sweep()
}

// beginFrom checks what BackwardFrom begins with.
func (t *Tape) beginFrom(at position, seeds []Seed) error {
	const op = "BackwardFrom"
	if len(seeds) == 0 {
		return &Error{Op: op, At: at.String(), Err: ErrUnset, Text: "there is no gradient to begin with"}
	}
	for _, seed := range seeds {
		if err := t.root(op, at, seed.Of); err != nil {
			return err
		}
		if err := seed.Grad.Check(t.s.Device()); err != nil {
			return &Error{Op: op, At: at.String(), Err: err}
		}
		for _, p := range t.params {
			if p.data.Buffer() == seed.Grad.Buffer() {
				return &Error{Op: op, At: at.String(), Err: ErrChanged, Text: fmt.Sprintf("the gradient lies in the memory of %v, which an optimizer changes: copy it", p)}
			}
		}
		if y := seed.Of; seed.Grad.DType() != y.DType() || !seed.Grad.SameShape(y.v.data) {
			return &Error{Op: op, At: at.String(), Err: device.ErrShape, Text: fmt.Sprintf("the gradient is %v; %v needs one of its type and shape", seed.Grad, y.v)}
		}
	}
	t.ran = true
	return nil
}

// begin checks what Backward begins with.
func (t *Tape) begin(at position, losses []Tensor) error {
	if len(losses) == 0 {
		return &Error{Op: "Backward", At: at.String(), Err: ErrUnset, Text: "there is no loss to begin with"}
	}
	for _, l := range losses {
		if err := t.root("Backward", at, l); err != nil {
			return err
		}
		if l.Elems() != 1 {
			return &Error{Op: "Backward", At: at.String(), Err: device.ErrShape, Text: fmt.Sprintf("%v is no loss, which has one element; reduce it, or give its gradient to BackwardFrom", l.v)}
		}
	}
	t.ran = true
	return nil
}

func (t *Tape) root(op string, at position, l Tensor) error {
	switch v := l.v; {
	case t.ran:
		return &Error{Op: op, At: at.String(), Err: ErrTwice, Text: "backward ran on this tape already; give all losses to one call, or make a tape for each"}
	case v == nil:
		return &Error{Op: op, At: at.String(), Err: ErrUnset, Text: "the tensor to begin with is the zero Tensor"}
	case v.tape != t:
		return &Error{Op: op, At: at.String(), Err: ErrForeign, Text: fmt.Sprintf("%v is on another tape", v)}
	case !v.track:
		return &Error{Op: op, At: at.String(), Err: ErrUntracked, Text: fmt.Sprintf("%v does not depend on a tracked tensor by ops that have a gradient, or the tape is for %s", v, Eval)}
	}
	l.v.retain = true // a loss is read after Backward
	return nil
}
