package autodiff

import (
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Scratch makes memory for the kernels of this call. In Forward, what the returned S holds in fields of type
// device.Tensor is kept for Backward, and given back after it; all other scratch is given back at the end of the call.
func (x *Exec) Scratch(dt dtype.Type, shape ...int) device.Tensor {
	if x.failed() {
		return device.Tensor{}
	}
	d, s, err := x.t.newTensor(dt, shape)
	if err != nil {
		x.mistake("", err, fmt.Sprintf("Scratch(%v, %v): %v", dt, slices.Clone(shape), err))
		return device.Tensor{}
	}
	x.work = append(x.work, s)
	return d
}

// Zeros is Scratch filled with zeros, which launches no kernel.
func (x *Exec) Zeros(dt dtype.Type, shape ...int) device.Tensor {
	d := x.Scratch(dt, shape...)
	if d.DType() != dtype.Invalid {
		if err := x.t.zero(d); err != nil {
			x.mistake("", err, fmt.Sprintf("Zeros(%v, %v): %v", dt, slices.Clone(shape), err))
		}
	}
	return d
}

// Zero fills a tensor that the transaction has made with zeros. It launches no kernel.
func (x *Exec) Zero(t Tensor) Tensor {
	d := x.View(t)
	if d.DType() == dtype.Invalid {
		return t
	}
	if t.v.store.maker != x {
		x.mistake("", ErrChanged, fmt.Sprintf("Zero of %v, which this call has not made", t.v))
	} else if err := x.t.zero(d); err != nil {
		x.mistake("", err, "")
	}
	return t
}

// keep marks scratch as saved.
func (x *Exec) keep(d device.Tensor, outs []*value) {
	if d.Buffer() == nil {
		return
	}
	for _, list := range [2][]*value{x.node.in, outs} {
		for _, v := range list {
			if v != nil && v.store != nil && v.store.pooled && v.store.buf == d.Buffer() {
				x.mistake("", ErrSpec, fmt.Sprintf("Forward saves the memory of %v, which the tape may give back before Backward: save the Tensor, and View it there", v))
				return
			}
		}
	}
	for _, s := range x.work {
		if s.buf == d.Buffer() && !slices.Contains(x.kept, s) {
			s.refs++
			x.kept = append(x.kept, s)
		}
	}
}

// zero fills a contiguous tensor of the tape with zeros, which all element types have as bytes of 0.
func (t *Tape) zero(d device.Tensor) error {
	n := d.Elems() * d.DType().Size()
	if n == 0 || d.DType() == dtype.Invalid {
		return nil
	}
	return t.s.Fill(d.Buffer(), d.Offset(), n, 0)
}
