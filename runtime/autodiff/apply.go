package autodiff

import (
	"fmt"
	"slices"
)

// apply runs a node's forward pass and puts its outputs on the tape.
func (t *Tape) apply(n *node, book *Counts) bool {
	n.tracked = t.phase == Train && n.grad && n.wanted()
	x := &Exec{t: t, name: n.core.name, node: n, at: n.at}
	outs, launches, err := t.run(x, n)
	book.Launches.Forward += launches
	if err != nil {
		x.end(false)
		t.fail(err)
		return false
	}
	n.out = make([]*value, len(outs))
	for i, v := range outs {
		if v != nil {
			n.out[i] = t.adopt(x, v, slices.Contains(n.out[:i], v))
			n.out[i].made, n.out[i].port, n.out[i].track = n, i, n.tracked && floating(v.data.DType())
			t.made = append(t.made, n.out[i])
		}
	}
	t.settle(x, n)
	if n.tracked {
		book.Forward++
	} else {
		book.Untracked++
	}
	t.nodes = append(t.nodes, n)
	if t.anomaly {
		if err := t.finite(n, n.out, ""); err != nil {
			t.fail(err)
			return false
		}
	}
	return true
}

// run is a forward pass with its checks.
func (t *Tape) run(x *Exec, n *node) (outs []*value, launches int, err error) {
	launches, err = t.phased("forward", func() (err error) {
		return x.guarded(func(x *Exec) (err error) {
			outs, err = n.app.forward(x, n)
			return err
		})
	})
	err = x.cause(err)
	for _, v := range outs {
		if err == nil && v != nil && v.tape == t && v.store == nil && v.made != nil && v.made != n { // an input, dropped meanwhile
			err = t.remake(v)
		}
	}
	if err == nil {
		err = t.checkOut(n.core, n.in, outs, n.at)
	}
	return outs, launches, err
}

// adopt gives the value of an output: what the transaction made, or, where the op returned one of its inputs or one tensor
// twice, another value in the same memory.
func (t *Tape) adopt(x *Exec, v *value, again bool) *value {
	if !again && slices.Contains(x.made, v) {
		return v
	}
	v.store.refs++
	return &value{tape: t, data: v.data, store: v.store}
}

// settle notes what a forward pass leaves behind, and gives back what nobody returned.
func (t *Tape) settle(x *Exec, n *node) {
	for _, s := range x.own {
		s.base = s.buf.Changes()
	}
	first := n.seen == nil // a replay reads what the first run has read, or it is an error
	for _, v := range slices.Concat(n.in, n.out) {
		version := int64(0)
		if v != nil && v.store != nil {
			version = v.store.version()
		}
		if first {
			n.seen = append(n.seen, version)
		}
	}
	n.held = x.kept
	for _, v := range x.made {
		if !slices.Contains(n.out, v) && !slices.Contains(n.extra, v) {
			t.release(v.store)
			v.store = nil
		}
	}
	x.end(true)
	if !n.tracked {
		for _, s := range n.held {
			t.release(s)
		}
		n.held = nil
	}
}

// wanted reports whether a gradient flows to an input.
func (n *node) wanted() bool {
	for i, v := range n.in {
		if v != nil && v.track && !n.core.in.list[i].nograd {
			return true
		}
	}
	return false
}

// remake runs the op that made v again, after its outputs were dropped at the end of a Block.
func (t *Tape) remake(v *value) error {
	n := v.made
	if n == nil || !n.dropped {
		return &Error{Op: "View", At: here().String(), Err: ErrFreed, Text: fmt.Sprintf("%v: %s", v, freedText)}
	}
	return t.replay(n)
}

// replay runs a node's forward pass again, for the same outputs.
func (t *Tape) replay(n *node) error {
	n.dropped = false
	x := &Exec{t: t, name: n.core.name, node: n, at: n.at, back: true}
	outs, launches, err := t.run(x, n)
	book := t.book.of(t.phase, n.core)
	book.Replays++
	book.Launches.Replay += launches
	if err != nil {
		x.end(false)
		return err
	}
	for i, v := range outs {
		if v == nil || n.out[i] == nil || n.out[i].store != nil {
			continue // a kept output stands; the new copy is given back
		}
		v.store.refs++
		n.out[i].data, n.out[i].store = v.data, v.store
	}
	n.extra = slices.Clone(x.made) // what the op saved may refer to them
	t.settle(x, n)
	return nil
}
