package autodiff

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/runtime/device"
)

// apply runs a node's forward pass and puts its outputs on the tape.
func (t *Tape) apply(n *node) bool {
	n.tracked = t.phase == Train && n.core.back && n.wanted()
	x := t.exec(n.core.name, n, false, &n.at)
	outs, launches, err := t.run(x, n)
	n.book.Launches.Forward += launches
	if err != nil {
		x.end(false)
		t.fail(err)
		return false
	}
	n.out = outs
	for i, v := range outs {
		if v != nil {
			n.out[i] = t.adopt(x, v, slices.Contains(n.out[:i], v))
			n.out[i].made, n.out[i].port, n.out[i].track = n, i, n.tracked && floating(v.data.DType())
			t.made = append(t.made, n.out[i])
		}
	}
	t.settle(x, n)
	if n.tracked {
		n.book.Forward++
	} else {
		n.book.Untracked++
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
	return t.value(v.data, v.store)
}

// value is a new one on the tape.
func (t *Tape) value(d device.Tensor, s *storage) *value {
	v := t.values.one()
	v.tape, v.data, v.store = t, d, s
	return v
}

// settle notes what a forward pass leaves behind, and gives back what nobody returned.
func (t *Tape) settle(x *Exec, n *node) {
	for _, v := range x.made {
		if v.store != nil && v.store.maker == x {
			v.store.base = v.store.buf.Changes()
		}
	}
	if n.seen == nil { // a replay reads what the first run has read, or it is an error
		n.seen = t.versions.take(len(n.in) + len(n.out))
		for i := range n.seen {
			if v := n.port(i); v != nil && v.store != nil {
				n.seen[i] = v.store.version()
			}
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

// port is input i, or, counted on from the last one, an output.
func (n *node) port(i int) *value {
	if i < len(n.in) {
		return n.in[i]
	}
	return n.out[i-len(n.in)]
}

// portName is its name.
func (n *node) portName(i int) string {
	if i < len(n.in) {
		return n.core.in.list[i].name
	}
	return n.core.out.list[i-len(n.in)].name
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
	x := t.exec(n.core.name, n, true, &n.at)
	outs, launches, err := t.run(x, n)
	n.book.Replays++
	n.book.Launches.Replay += launches
	if err != nil {
		x.end(false)
		return err
	}
	for i, v := range outs {
		if v == nil || n.out[i] == nil || n.out[i].store != nil {
			continue // a kept output stands; the new copy is given back
		}
		v.store.refs++
		n.out[i].data, n.out[i].store, n.out[i].remade = v.data, v.store, true
	}
	n.extra = slices.Clone(x.made) // what the op saved may refer to them
	t.settle(x, n)
	return nil
}
