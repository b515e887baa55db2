package autodiff

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Exec is the transaction of one Forward, Backward or Update: the only place where the memory of a Tensor is seen. What
// it hands out must not be used after the call that it was given to.
type Exec struct {
	t    *Tape
	name string // of the op
	node *node  // nil: an Update
	back bool
	at   *position
	made []*value   // by Like, New and Alias
	work []*storage // of Scratch
	kept []*storage // of work, what the op saved
	done bool
	err  error // the first mistake in the use of the Exec

	// Where the lists begin: few transactions have more.
	room struct {
		made       [4]*value
		work, kept [2]*storage
	}
}

// exec begins a transaction.
func (t *Tape) exec(name string, n *node, back bool, at *position) *Exec {
	x := t.execs.one()
	x.t, x.name, x.node, x.back, x.at = t, name, n, back, at
	x.made, x.work, x.kept = x.room.made[:0], x.room.work[:0], x.room.kept[:0]
	return x
}

// Stream is where the kernels are launched.
func (x *Exec) Stream() *device.Stream { return x.t.s }

// Tracked reports, in Forward, whether Backward will be called, for ops that save what only that needs.
func (x *Exec) Tracked() bool { return x.node != nil && x.node.tracked }

// Needs reports, in Backward, whether the gradient of an input must be returned.
func (x *Exec) Needs(t Tensor) bool { return t.v != nil && t.v.track }

// Param is the parameter on the tape, as Tape.Param gives it to those outside of a transaction.
func (x *Exec) Param(p *Param) Tensor {
	if x.failed() {
		return Tensor{}
	}
	if p == nil {
		x.mistake("", ErrUnset, "the parameter is nil; make it with NewParam")
		return Tensor{}
	}
	v, err := x.t.param(p)
	if err != nil {
		x.err = err
		return Tensor{}
	}
	return Tensor{v}
}

// View is the memory of a tensor, to be read. Of the zero Tensor, and after a mistake that the transaction ends with,
// it is the zero device.Tensor, which launches refuse.
func (x *Exec) View(t Tensor) device.Tensor {
	v := t.v
	if v == nil || x.failed() {
		return device.Tensor{}
	}
	if v.tape != x.t {
		x.mistake(x.port(v), ErrForeign, fmt.Sprintf("View of %v, which is on another tape", v))
		return device.Tensor{}
	}
	if v.track && x.node != nil && !x.has(v) {
		x.mistake("", ErrUntracked, fmt.Sprintf("View of %v, which is tracked but at no port of the op: its gradient would be lost. Give it a port, or Detach it, with the reason", v))
		return device.Tensor{}
	}
	if v.store == nil {
		if err := x.t.remake(v); err != nil {
			x.err = err
			return device.Tensor{}
		}
	}
	if b := v.data.Buffer(); b.Closed() {
		x.mistake(x.port(v), device.ErrClosed, fmt.Sprintf("the memory of %v was closed; keep it open until the tape is closed", v))
		return device.Tensor{}
	}
	if x.back {
		x.unchanged(v)
	}
	return v.data
}

// unchanged refuses, in Backward, what was changed in place since Forward.
func (x *Exec) unchanged(v *value) {
	for i, version := range x.node.seen {
		if x.node.port(i) == v && v.store.version() != version {
			x.mistake(x.node.portName(i), ErrChanged, fmt.Sprintf("its backward step reads %v, which %s has changed in place since: make the change after Backward, or in a copy", v, v.store.changedBy(version)))
		}
	}
}

// port is the name of the port that a value is at; empty where it is at none.
func (x *Exec) port(v *value) string {
	if x.node != nil {
		for i := range len(x.node.in) + len(x.node.out) {
			if x.node.port(i) == v {
				return x.node.portName(i)
			}
		}
	}
	return ""
}

// has reports whether a value is of this application.
func (x *Exec) has(v *value) bool {
	return slices.Contains(x.node.in, v) || slices.Contains(x.node.out, v) || slices.Contains(x.node.extra, v) || slices.Contains(x.made, v)
}

// trackedMemory reports whether an input that gradients flow to has the memory of v.
func (x *Exec) trackedMemory(v *value) bool {
	return slices.ContainsFunc(x.node.in, func(in *value) bool { return in != nil && in.track && in.store == v.store })
}

// Flat is View of a contiguous tensor as one row, for kernels that do not care for the shape.
func (x *Exec) Flat(t Tensor) device.Tensor {
	d := x.View(t)
	if d.DType() == dtype.Invalid {
		return d
	}
	flat, err := d.Reshape(d.Elems())
	if err != nil {
		x.mistake("", err, fmt.Sprintf("Flat of %v: %v", d, err))
		return device.Tensor{}
	}
	return flat
}

// Mutate is View of memory that the op is going to change in place: in an Update any tensor, in Forward one that is not
// tracked. A backward step that was to read what was there before is an error from now on.
func (x *Exec) Mutate(t Tensor) device.Tensor {
	d := x.View(t)
	switch {
	case d.DType() == dtype.Invalid || t.v.store.maker == x:
	case x.back:
		x.mistake("", ErrChanged, fmt.Sprintf("Mutate of %v: a backward pass changes nothing in place; make a tensor with Exec.Like", t.v))
		return device.Tensor{}
	case x.node != nil && x.trackedMemory(t.v):
		x.mistake("", ErrChanged, fmt.Sprintf("Mutate of %v, which is tracked: the value before is lost to its gradient; make an output with Exec.Like, or change parameters in an Update", t.v))
		return device.Tensor{}
	default:
		t.v.store.changed(x.at)
	}
	return d
}

// Like makes a contiguous tensor with the type and shape of t, whose elements are undefined: an output, or a gradient.
func (x *Exec) Like(t Tensor) Tensor {
	if t.v == nil {
		x.mistake("", ErrUnset, "Like of the zero Tensor")
		return Tensor{}
	}
	var shape [device.MaxRank]int
	for i := range t.Rank() {
		shape[i] = t.Dim(i)
	}
	return x.New(t.DType(), shape[:t.Rank()]...)
}

// New makes a contiguous tensor whose elements are undefined: an output, or a gradient.
func (x *Exec) New(dt dtype.Type, shape ...int) Tensor {
	if x.failed() {
		return Tensor{}
	}
	d, s, err := x.t.newTensor(dt, shape)
	if err != nil {
		x.mistake("", err, fmt.Sprintf("New(%v, %v): %v", dt, slices.Clone(shape), err))
		return Tensor{}
	}
	s.maker = x
	v := x.t.value(d, s)
	x.made = append(x.made, v)
	return Tensor{v}
}

// Alias makes a tensor of the given shape that views the memory of t, which must be contiguous and have as many
// elements: an output or gradient that costs nothing.
func (x *Exec) Alias(t Tensor, shape ...int) Tensor {
	d := x.View(t)
	if d.DType() == dtype.Invalid {
		return Tensor{}
	}
	view, err := d.Reshape(shape...)
	if err != nil {
		x.mistake("", err, fmt.Sprintf("Alias of %v as %v: %v", d, shape, err))
		return Tensor{}
	}
	t.v.store.refs++
	v := x.t.value(view, t.v.store)
	x.made = append(x.made, v)
	return Tensor{v}
}

// guarded runs the body of a transaction. A panic in it is the tape's error, and goes on.
func (x *Exec) guarded(body func(x *Exec) error) (err error) {
	done := false
	defer func() {
		if !done {
			x.end(false)
			x.t.fail(&Error{Op: x.name, At: x.at.String(), Err: ErrPanic})
			x.t.leave()
		}
	}()
	err = body(x)
	done = true
	return err
}

func (x *Exec) failed() bool {
	if x.done && x.err == nil {
		x.mistake("", ErrClosed, "an Exec is used after the call that it was given to")
		x.t.fail(x.err)
	}
	return x.err != nil
}

func (x *Exec) mistake(port string, err error, text string) {
	if x.err == nil {
		x.err = &Error{Op: x.name, Port: port, At: x.at.String(), Err: err, Text: text}
	}
}

// end closes the transaction: it gives back the scratch and, after a failure, what was made.
func (x *Exec) end(ok bool) {
	x.done = true
	for _, s := range x.work {
		x.t.release(s)
	}
	if ok {
		return
	}
	for _, v := range x.made {
		x.t.release(v.store)
		v.store = nil
	}
	for _, s := range x.kept {
		x.t.release(s)
	}
}
