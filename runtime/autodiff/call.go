package autodiff

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gotile/gotile/runtime/device"
)

// application is one call of an op: what its node can do again, and backward.
type application interface {
	forward(x *Exec, n *node) ([]*value, error)
	backward(x *Exec, n *node, dOut []*value) ([]*value, error)
	reference(t *Tape) []*value // runs Ref
	saves() bool                // Forward saves something for Backward
}

// call is an application of an op with its types, and its node.
type call[P, In, Out, S any] struct {
	node
	op    *Op[P, In, Out, S]
	p     P
	in    In
	saved S
}

func (c *call[P, In, Out, S]) forward(x *Exec, n *node) ([]*value, error) {
	out, saved, err := c.op.spec.Forward(x, c.p, c.in)
	if err != nil {
		return nil, err
	}
	c.saved = saved
	outs := c.op.out.values(x.t, unsafe.Pointer(&out))
	for _, offset := range c.op.saves {
		x.keep(*(*device.Tensor)(unsafe.Add(unsafe.Pointer(&c.saved), offset)), outs)
	}
	return outs, nil
}

func (c *call[P, In, Out, S]) reference(t *Tape) []*value {
	out := c.op.spec.Ref(t, c.p, c.in)
	return c.op.out.values(t, unsafe.Pointer(&out))
}

func (c *call[P, In, Out, S]) saves() bool { return reflect.TypeFor[S]().Size() > 0 }

func (c *call[P, In, Out, S]) backward(x *Exec, n *node, dOut []*value) ([]*value, error) {
	var dy Out
	c.op.out.set(unsafe.Pointer(&dy), dOut)
	d, err := c.op.spec.Backward(x, c.p, c.in, c.saved, dy)
	if err != nil {
		return nil, err
	}
	return c.op.in.values(x.t, unsafe.Pointer(&d)), nil
}

// Apply runs the op on t. It decides once, before anything is launched, between the fused kernel and Ref, and counts
// which. After an error of the tape it does nothing and returns zero Tensors; a new one is kept by the tape (Tape.Err).
func (op *Op[P, In, Out, S]) Apply(t *Tape, p P, in In) (out Out) {
	if !t.enter(op.name) {
		return out
	}
	c := op.newCall(t, p, in)
	n := &c.node
	fused, why, ok := op.decide(t, c)
	if !ok {
		t.leave()
		return out
	}
	n.book = t.book.of(t.phase, &op.core)
	n.book.Asked++
	if !fused {
		n.book.decline(why)
		n.book.Ref++
		t.leave() // Ref applies ops to the tape
		return op.runRef(t, c)
	}
	n.book.Fused++
	ok = t.apply(n)
	if ok {
		op.out.set(unsafe.Pointer(&out), n.out)
	}
	t.leave()
	if ok && op.ref && t.audit.due(n.book) {
		t.auditCall(n)
	}
	return out
}

// newCall is an application that nothing has been done about.
func (op *Op[P, In, Out, S]) newCall(t *Tape, p P, in In) *call[P, In, Out, S] {
	c := &call[P, In, Out, S]{op: op, p: p, in: in}
	c.node = node{core: &op.core, app: c, inner: t.refs > 0, in: op.in.values(t, unsafe.Pointer(&c.in))}
	frames := 3 // Apply, a wrapper of the op and who calls it
	if t.refs > 0 {
		frames = len(c.at) // to where the op was applied whose Ref this is part of
	}
	c.at.take(frames)
	return c
}

// decide checks the ports and chooses between the fused kernel and, with a reason, Ref.
func (op *Op[P, In, Out, S]) decide(t *Tape, c *call[P, In, Out, S]) (fused bool, why string, ok bool) {
	err := op.err
	if err == nil {
		err = t.checkIn(&op.core, c.node.in, c.at)
	}
	if err != nil {
		t.fail(err)
		return false, "", false
	}
	if op.spec.Accept != nil {
		err = op.spec.Accept(c.p, c.in)
	}
	if err == nil && !t.off[op.name] {
		return true, "", true
	}
	var d *declined
	if t.off[op.name] && (err == nil || errors.As(err, &d)) { // what is wrong with the call is wrong for Ref too
		err = Decline(killed)
	}
	switch {
	case !errors.As(err, &d):
		t.fail(&Error{Op: op.name, At: c.at.String(), Err: err})
		return false, "", false
	case op.spec.Ref == nil:
		t.fail(&Error{Op: op.name, At: c.at.String(), Err: err, Text: fmt.Sprintf("%v, and the op has no Ref to fall back to", err)})
		return false, "", false
	}
	return false, d.reason, true
}

// runRef applies the ops that Ref is composed of.
func (op *Op[P, In, Out, S]) runRef(t *Tape, c *call[P, In, Out, S]) (out Out) {
	t.refs++
	out = op.spec.Ref(t, c.p, c.in)
	t.refs--
	var zero Out
	if t.err != nil {
		return zero
	}
	outs := op.out.values(t, unsafe.Pointer(&out))
	err := t.checkOut(&op.core, c.node.in, outs, c.at)
	if err == nil && op.back && t.phase == Train && c.wanted() {
		for i, v := range outs {
			if v != nil && floating(v.data.DType()) && !v.track {
				err = &Error{Op: op.name, Port: op.out.list[i].name, At: c.at.String(), Err: ErrUntracked, Text: "Ref has lost the gradient of its inputs: compose it of ops that have a Backward, without Detach"}
			}
		}
	}
	if err != nil {
		t.fail(err)
		return zero
	}
	return out
}
