package autodiff

import (
	"fmt"

	"github.com/gotile/gotile/runtime/device"
)

// checkIn holds an application's inputs against the ports.
func (t *Tape) checkIn(c *core, in []*value, at position) error {
	s := t.syms.reset()
	for i := range c.in.list {
		p, v := &c.in.list[i], in[i]
		var err error
		var text string
		switch {
		case v == nil && p.optional:
			continue
		case v == nil:
			err, text = ErrUnset, "the tensor is not set; its port's tag does not say optional"
		case v.tape != t:
			err, text = ErrForeign, fmt.Sprintf("%v is on another tape; put its memory on this one with Input, or use one tape for a step", v)
		case v.store == nil:
			err, text = ErrFreed, fmt.Sprintf("%v: %s", v, freedText)
		case v.data.Buffer().Closed():
			err, text = device.ErrClosed, fmt.Sprintf("the memory of %v was closed; keep it open until the tape is closed", v)
		case v.track && p.nograd:
			err, text = ErrUntracked, fmt.Sprintf("%v is tracked, and no gradient flows through this port: Detach it, with the reason", v)
		case v.track && !c.back:
			err, text = ErrUntracked, fmt.Sprintf("%v is tracked, and the op has no Backward: Detach it, with the reason", v)
		default:
			text, err = p.check(v, s)
		}
		if text != "" {
			return &Error{Op: c.name, Port: p.name, At: at.String(), Err: err, Text: text}
		}
	}
	return nil
}

// checkOut holds what an op returned against its ports.
func (t *Tape) checkOut(c *core, in, out []*value, at position) error {
	s := t.syms.reset()
	for i := range c.in.list {
		if in[i] != nil {
			c.in.list[i].check(in[i], s)
		}
	}
	for i := range c.out.list {
		p, v := &c.out.list[i], out[i]
		var err error
		var text string
		switch {
		case v == nil && p.optional:
			continue
		case v == nil:
			err, text = ErrUnset, "the op has returned no tensor; make it with Exec.Like or Exec.New, or tag the port optional"
		case v.tape != t || v.store == nil:
			err, text = ErrForeign, "the op has returned a tensor that is not of this call; make it with Exec.Like or Exec.New"
		default:
			text, err = p.check(v, s)
		}
		if text != "" {
			return &Error{Op: c.name, Port: p.name, At: at.String(), Err: err, Text: text}
		}
	}
	return nil
}
