package tiletest

import (
	"context"
	"errors"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Run is one execution of a case on one device. Its methods record failures and go on, so that one run shows all that
// is wrong; what they allocate is checked and freed when the case ends. A Run is used by one goroutine.
type Run struct {
	Device *device.Device
	Stream *device.Stream
	Seed   uint64 // of the case's data

	ctx    context.Context
	blocks []*block
	worst  map[string]float64
	errs   []error
}

// Context is cancelled when the run is to stop.
func (r *Run) Context() context.Context { return r.ctx }

// Errorf records a failure.
func (r *Run) Errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

// Uniform is n numbers in [-1, 1), exact in t, that depend on the run's seed and on salt alone.
func (r *Run) Uniform(t dtype.Type, salt uint64, n int) []float64 {
	return Uniform(t, Bits(r.Seed, salt), n)
}

// Ints is n integers in [lo, hi] that depend on the run's seed and on salt alone.
func (r *Run) Ints(lo, hi int64, salt uint64, n int) []float64 {
	return Ints(lo, hi, Bits(r.Seed, salt), n)
}

// In is a contiguous tensor with values, rounded to t. The kernel must leave it as it is.
func (r *Run) In(t dtype.Type, values []float64, shape ...int) device.Tensor {
	return r.Place(Spec{Role: Input, DType: t, Shape: shape, Values: values})
}

// Out is a contiguous poisoned tensor. The kernel must write each of its elements.
func (r *Run) Out(t dtype.Type, shape ...int) device.Tensor {
	return r.Place(Spec{Role: Output, DType: t, Shape: shape})
}

// InOut is a contiguous tensor with values that the kernel may change.
func (r *Run) InOut(t dtype.Type, values []float64, shape ...int) device.Tensor {
	return r.Place(Spec{Role: Both, DType: t, Shape: shape, Values: values})
}

// Place makes a tensor in a buffer of its own, between guard bands of poison; gaps that strides leave are guards too.
// A tensor that cannot be made is recorded as a failure, and the zero Tensor returned. Failures name a tensor by
// Spec.Name, or by the order in which the case places it.
func (r *Run) Place(s Spec) device.Tensor {
	b, err := r.place(s)
	if err != nil {
		r.Errorf("%s, of shape %v %v, cannot be placed: %w", r.label(s), s.Shape, s.DType, err)
		return device.Tensor{}
	}
	r.blocks = append(r.blocks, b)
	return b.tensor
}

// Floats waits for the stream and reads a tensor that this run made, in row-major order. Elements of an output that
// still hold poison are recorded as not written.
func (r *Run) Floats(t device.Tensor) []float64 {
	if b := r.read(t); b != nil {
		return b.floats()
	}
	return nil
}

// Bits is Floats as bit patterns: NaN payloads and all of an int64.
func (r *Run) Bits(t device.Tensor) []uint64 {
	if b := r.read(t); b != nil {
		return b.bits()
	}
	return nil
}

// read fetches a tensor's block; nil after a failure, which is recorded.
func (r *Run) read(t device.Tensor) *block {
	b := r.find(t)
	if b == nil {
		r.Errorf("the tensor to read was not made by this run")
		return nil
	}
	if err := r.fetch(b); err != nil {
		r.Errorf("reading a tensor: %w", err)
		return nil
	}
	b.checkWritten(r)
	return b
}

// Compare records the scale-relative error of got against want under the name what, and a failure when it is above
// bar.
func (r *Run) Compare(what string, got, want []float64, bar float64) {
	d := Compare(got, want)
	r.worst[what] = max(r.worst[what], d.Scale)
	if !d.Within(bar) {
		r.Errorf("%s: %v; the bar is %.3g", what, d, bar)
	}
}

// finish waits for the stream, checks every block and frees it.
func (r *Run) finish() error {
	if err := r.Stream.Sync(r.ctx); err != nil {
		r.errs = append(r.errs, err)
	} else {
		for _, b := range r.blocks {
			if err := r.fetch(b); err != nil {
				r.Errorf("reading a tensor: %w", err)
				continue
			}
			b.checkWritten(r)
			b.checkGuards(r)
		}
	}
	for _, b := range r.blocks {
		if err := b.buffer.Close(); err != nil {
			r.errs = append(r.errs, err)
		}
	}
	return errors.Join(r.errs...)
}
