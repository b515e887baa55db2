package autodiff

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Tensor is a value on a tape. Copies are the same value. The zero Tensor is none: an optional port left out, a gradient
// that does not exist, a result after an error.
type Tensor struct{ v *value }

// value is what a Tensor stands for.
type value struct {
	tape   *Tape
	data   device.Tensor // its memory may have been given back
	store  *storage      // nil: given back
	made   *node         // nil: a leaf
	port   int           // of made's outputs
	name   string        // of a leaf
	track  bool
	retain bool
	remade bool      // by a replay
	grad   *gradient // nil: none, or given back
	state  gradState
}

// gradient is that of a value, or what of it backward has come by so far.
type gradient struct {
	data  device.Tensor
	store *storage
}

type gradState uint8

const (
	unreached gradState = iota
	present
	consumed
)

// Set reports whether there is a tensor.
func (t Tensor) Set() bool { return t.v != nil }

// DType is the element type; dtype.Invalid for the zero Tensor.
func (t Tensor) DType() dtype.Type {
	if t.v == nil {
		return dtype.Invalid
	}
	return t.v.data.DType()
}

// Shape is a copy of the dimensions; nil for the zero Tensor.
func (t Tensor) Shape() []int {
	if t.v == nil {
		return nil
	}
	return t.v.data.Shape()
}

// Rank is the number of dimensions.
func (t Tensor) Rank() int {
	if t.v == nil {
		return 0
	}
	return t.v.data.Rank()
}

// Dim is the size of dimension i; 0 for the zero Tensor.
func (t Tensor) Dim(i int) int {
	if t.v == nil {
		return 0
	}
	return t.v.data.Dim(i)
}

// Elems is the number of elements; 0 for the zero Tensor.
func (t Tensor) Elems() int {
	if t.v == nil {
		return 0
	}
	return t.v.data.Elems()
}

// Tracked reports whether gradients flow through the tensor: it is a parameter, an input marked so, or comes from one
// by ops, and the tape's phase is Train.
func (t Tensor) Tracked() bool { return t.v != nil && t.v.track }

// String is "y of norm: bf16[128, 4096]".
func (t Tensor) String() string {
	if t.v == nil {
		return "no tensor"
	}
	return t.v.String()
}

func (v *value) String() string {
	if v.made != nil {
		return fmt.Sprintf("%s of %s: %v", v.made.core.out.list[v.port].name, v.made.core.name, v.data)
	}
	if v.name == "" {
		return v.data.String()
	}
	return fmt.Sprintf("%s: %v", v.name, v.data)
}

// Retain keeps the tensor's memory, and its gradient, until the tape is closed. It returns t.
func (t Tensor) Retain() Tensor {
	if t.v != nil {
		t.v.retain = true
	}
	return t
}

// Detach is the same value, through which no gradient flows. Why it is right is counted in the ledger: a few constant
// words; none are ErrUnset. Of the tensors that no gradient flows to anyway it is a copy that counts nothing.
func (t Tensor) Detach(why string) Tensor {
	v := t.v
	if v == nil || !v.track {
		return t
	}
	tape := v.tape
	if !tape.enter("Detach") {
		return Tensor{}
	}
	defer tape.leave()
	if why == "" {
		tape.fail(&Error{Op: "Detach", At: here().String(), Err: ErrUnset, Text: fmt.Sprintf("%v is detached without a reason; say why no gradient is wanted of it, in a few words that the ledger counts", v)})
		return Tensor{}
	}
	if v.store == nil {
		tape.fail(&Error{Op: "Detach", At: here().String(), Err: ErrFreed, Text: fmt.Sprintf("%v: %s", v, freedText)})
		return Tensor{}
	}
	tape.book.detach(tape.phase, why)
	v.store.refs++
	w := tape.value(v.data, v.store)
	w.name, w.retain = v.String(), v.retain
	tape.leaves = append(tape.leaves, w)
	return Tensor{w}
}

// Grad is the gradient that Backward found, as a tensor that is not tracked. There is always one or the reason why not:
// ErrUntracked, ErrUnreached, or ErrConsumed for the gradient of an op's output that its own backward step has used up.
func (t Tensor) Grad() (Tensor, error) {
	v := t.v
	switch {
	case v == nil:
		return Tensor{}, &Error{Op: "Grad", At: here().String(), Err: ErrUnset, Text: "the tensor is the zero Tensor; it may be the result of an op after an error: see Tape.Err"}
	case !v.track:
		return Tensor{}, &Error{Op: "Grad", At: here().String(), Err: ErrUntracked, Text: fmt.Sprintf("no gradient flows to %v: make it with Param or TrackedInput on a tape that trains", v)}
	case v.tape.err != nil:
		return Tensor{}, v.tape.err
	case v.state == unreached && !v.tape.ran:
		return Tensor{}, &Error{Op: "Grad", At: here().String(), Err: ErrUnreached, Text: fmt.Sprintf("%v has no gradient before Backward", v)}
	case v.state == unreached:
		return Tensor{}, &Error{Op: "Grad", At: here().String(), Err: ErrUnreached, Text: fmt.Sprintf("no path leads from the loss to %v", v)}
	case v.state == consumed:
		return Tensor{}, &Error{Op: "Grad", At: here().String(), Err: ErrConsumed, Text: fmt.Sprintf("the backward step of %s has used up the gradient of %v: call Retain before Backward", v.made.core.name, v)}
	case v.grad == nil:
		return Tensor{}, &Error{Op: "Grad", At: here().String(), Err: ErrClosed, Text: "the tape is closed; read gradients before"}
	}
	return v.tape.wrapGrad(v), nil
}

// SameShape reports whether two tensors have one shape.
func (t Tensor) SameShape(o Tensor) bool {
	return t.v != nil && o.v != nil && t.v.data.SameShape(o.v.data)
}

// Floats copies the elements to the host, in row-major order, exactly but for int64 beyond 2^53. It waits for the
// device.
func (t Tensor) Floats() ([]float64, error) {
	v := t.v
	if v == nil {
		return nil, &Error{Op: "Floats", At: here().String(), Err: ErrUnset, Text: "the tensor is the zero Tensor; it may be the result of an op after an error: see Tape.Err"}
	}
	if !v.tape.enter("Floats") {
		return nil, v.tape.err
	}
	defer v.tape.leave()
	if v.store == nil {
		return nil, &Error{Op: "Floats", At: here().String(), Err: ErrFreed, Text: fmt.Sprintf("%v: %s", v, freedText)}
	}
	return device.DownloadFloats(v.tape.s, v.data)
}

const freedText = "its memory was given back when backward had passed it, or at the end of its Block: call Retain before, or return it from the Block"
