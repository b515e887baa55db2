package autodiff

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gotile/gotile/runtime/autodiff/internal/sum"
	"github.com/gotile/gotile/runtime/device"
)

// give makes d, whose need s counts, the gradient of v, or adds it to the one there.
func (t *Tape) give(v *value, d device.Tensor, s *storage) error {
	if v.state == unreached {
		v.grad, v.state = t.grads.one(), present
		*v.grad = gradient{d, s}
		return nil
	}
	out, store := v.grad.data, v.grad.store
	if !store.pooled || store.refs > 1 { // others see it
		var err error
		if out, store, err = t.newTensor(d.DType(), d.Shape()); err != nil {
			t.release(s)
			return err
		}
	}
	err := sum.Add(t.s, out, v.grad.data, d)
	if store != v.grad.store {
		t.release(v.grad.store)
	}
	*v.grad = gradient{out, store}
	t.release(s)
	if err == nil && t.anomaly {
		bad, at, e := t.firstBad(out)
		if err = e; at >= 0 {
			err = &Error{Op: "Backward", Err: ErrNotFinite, Text: fmt.Sprintf("the sum of two gradients of %v is %v at element %d", v, bad, at)}
		}
	}
	return err
}

// sweep runs the backward steps, last op first.
func (t *Tape) sweep() error {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := t.nodes[i]
		if !n.tracked || !slices.ContainsFunc(n.out, func(v *value) bool { return v != nil && v.state == present }) {
			t.dropAgain(n)
			continue
		}
		if err := t.step(n); err != nil {
			t.fail(err)
			return err
		}
	}
	return nil
}

// step is the backward step of a node: from the gradients of its outputs to those of its inputs.
func (t *Tape) step(n *node) error {
	if n.dropped && n.app.saves() {
		if err := t.replay(n); err != nil {
			return err
		}
	}
	x := t.exec(n.core.name, n, true, &n.at)
	dOut := t.outputGradients(x, n)
	var dIn []*value
	launches, err := t.phased("backward", func() (err error) {
		if x.err != nil {
			return nil
		}
		return x.guarded(func(x *Exec) (err error) {
			dIn, err = n.app.backward(x, n, dOut)
			return err
		})
	})
	n.book.Launches.Backward += launches
	if err = x.cause(err); err == nil {
		err = t.checkGradients(n, dIn)
	}
	if err == nil && t.anomaly {
		err = t.finite(n, dIn, "d")
	}
	if err != nil {
		x.end(false)
		return err
	}
	for i, d := range dIn {
		if v := n.in[i]; d != nil && v != nil && v.track && !n.core.in.list[i].nograd {
			d.store.refs++
			if err := t.give(v, d.data, d.store); err != nil {
				x.end(false)
				if e := (*Error)(nil); errors.As(err, &e) {
					e.At = n.at.String()
					return e
				}
				return &Error{Op: n.core.name, Port: n.core.in.list[i].dname, At: n.at.String(), Err: err}
			}
		}
	}
	x.end(true)
	for _, v := range x.made {
		t.release(v.store)
		v.store = nil
	}
	t.pass(n)
	n.book.Backward++
	return nil
}

// outputGradients are the gradients of a node's outputs, zeros where none came and the op does not want to see that.
func (t *Tape) outputGradients(x *Exec, n *node) []*value {
	out := t.lists.take(len(n.out))
	for i, v := range n.out {
		switch {
		case v == nil:
		case v.state == present:
			out[i] = t.value(v.grad.data, v.grad.store)
			out[i].name = n.core.out.list[i].dname
		case !n.core.out.list[i].raw && floating(v.data.DType()):
			out[i] = x.Zero(x.New(v.data.DType(), v.data.Shape()...)).v
		}
	}
	return out
}

// checkGradients demands a gradient of the right type and shape for each input that needs one.
func (t *Tape) checkGradients(n *node, dIn []*value) error {
	for i, v := range n.in {
		p, d := &n.core.in.list[i], dIn[i]
		if v == nil || !v.track || p.nograd {
			continue
		}
		var err error
		var text string
		switch {
		case d == nil:
			err, text = ErrUnset, fmt.Sprintf("Backward has returned no gradient for %v, which needs one; tag the port nograd if none flows", v)
		case d.tape != t || d.store == nil:
			err, text = ErrForeign, "Backward has returned a gradient that is not of this call; make it with Exec.Like or Exec.New"
		case d.data.DType() != v.data.DType() || !d.data.SameShape(v.data):
			err, text = device.ErrShape, fmt.Sprintf("Backward has returned a gradient %v for an input %v; they have one type and shape", d.data, v.data)
		}
		if text != "" {
			return &Error{Op: n.core.name, Port: p.dname, At: n.at.String(), Err: err, Text: text}
		}
	}
	return nil
}

// pass gives back what nothing needs once the backward step of a node has run: all that could read its outputs ran
// before.
func (t *Tape) pass(n *node) {
	n.passed = true
	t.forget(n)
	for _, v := range n.out {
		if v == nil || v.retain {
			continue
		}
		if v.state == present {
			t.release(v.grad.store)
			v.grad, v.state = nil, consumed
		}
		t.release(v.store)
		v.store = nil
	}
}

// dropAgain gives back what a replay made of an op that has no backward step, for the steps of later ops: all have run.
func (t *Tape) dropAgain(n *node) {
	for _, v := range n.out {
		if v != nil && v.remade && !v.retain {
			t.release(v.store)
			v.store, v.remade, n.dropped = nil, false, true
		}
	}
	if n.dropped {
		t.forget(n)
	}
}

// wrapGrad is the gradient of v as a tensor of the tape.
func (t *Tape) wrapGrad(v *value) Tensor {
	v.grad.store.refs++
	w := t.value(v.grad.data, v.grad.store)
	w.name, w.retain = "the gradient of "+v.String(), true
	t.made = append(t.made, w)
	return Tensor{w}
}
