package autodiff

import (
	"fmt"
	"unsafe"
)

// ApplyList is Apply with the tensors in the order of the ports, for tools that know an op by its ports only.
func (op *Op[P, In, Out, S]) ApplyList(t *Tape, p P, in []Tensor) []Tensor {
	args, err := op.listed(in)
	if err != nil {
		t.fail(err)
		return make([]Tensor, len(op.out.list))
	}
	result := op.Apply(t, p, args)
	out := make([]Tensor, len(op.out.list))
	for i := range out {
		out[i] = *op.out.at(unsafe.Pointer(&result), i)
	}
	return out
}

// listed is the inputs in the order of the ports as a struct.
func (op *Op[P, In, Out, S]) listed(in []Tensor) (args In, err error) {
	if len(in) != len(op.in.list) {
		return args, &Error{Op: op.name, At: here().String(), Err: ErrUnset, Text: fmt.Sprintf("%d tensors for %d inputs", len(in), len(op.in.list))}
	}
	for i := range in {
		*op.in.at(unsafe.Pointer(&args), i) = in[i]
	}
	return args, nil
}

// Declared is how many kernels the op says that an application to these tensors, in the order of the ports, launches.
func (op *Op[P, In, Out, S]) Declared(t *Tape, p P, in []Tensor) (Launches, error) {
	args, err := op.listed(in)
	if err != nil || op.spec.LaunchesOf == nil {
		return op.decl, err
	}
	if !t.enter(op.name) {
		return Launches{}, t.Err()
	}
	defer t.leave()
	c := op.newCall(t, p, args)
	if err := t.checkIn(c.core, c.node.in, c.at); err != nil {
		return Launches{}, err
	}
	x := t.exec(op.name, &c.node, false, &c.at)
	var l Launches
	err = x.guarded(func(x *Exec) error { l = op.spec.LaunchesOf(x, p, args); return nil })
	x.end(false) // nothing is made
	return l, x.cause(err)
}
