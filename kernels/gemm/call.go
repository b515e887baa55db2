//go:build !gotilegen

package gemm

import (
	"errors"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// call is a product with its tensors as the kernels take them.
type call struct {
	params
	form Form
	d    device.Tensor // D or Wide: what is written
	c    device.Tensor // C or WideC: what is added

	accuracy Accuracy // of f32
}

// newCall checks tensors and brings them into the kernels' form: batches of matrices, and tensors without elements where
// there is nothing to add or to write. d has elements.
func newCall(form Form, in Inputs, d device.Tensor) (*call, error) {
	if err := check(form, in, d); err != nil || d.Elems() == 0 {
		return nil, err
	}
	var errs []error
	view := func(b *device.Buffer, offset int, t dtype.Type, shape, strides []int) device.Tensor {
		v, err := device.View(b, offset, t, shape, strides)
		errs = append(errs, err)
		return v
	}
	none := func(t dtype.Type) device.Tensor { return view(d.Buffer(), 0, t, []int{0, 0, 0}, nil) }
	batch := func(t device.Tensor) device.Tensor {
		if t.Rank() == 3 {
			return t
		}
		strides := []int{t.Dim(0) * t.Stride(0), t.Stride(0), t.Stride(1)}
		return view(t.Buffer(), t.Offset()/t.DType().Size(), t.DType(), []int{1, t.Dim(0), t.Dim(1)}, strides)
	}
	c := &call{form: form, d: batch(d), c: none(d.DType()), accuracy: in.Accuracy}
	if set(in.C) {
		c.c = batch(in.C)
	}
	t := in.A.DType()
	c.params = params{A: batch(in.A), B: batch(in.B), Bias: in.Bias, Splits: 1}
	if !set(in.Bias) {
		c.Bias = view(d.Buffer(), 0, t, []int{0}, nil)
	}
	if t == dtype.F32 {
		return c, errors.Join(errs...)
	}
	if d.DType() != dtype.F32 {
		c.C, c.D, c.WideC, c.Wide = c.c, c.d, none(dtype.F32), none(dtype.F32)
		return c, errors.Join(errs...)
	}
	c.C, c.WideC, c.Wide = none(t), c.c, c.d
	c.D = view(d.Buffer(), d.Offset()/t.Size(), t, []int{1, 1, min(vector, 2*d.Elems())}, []int{vector, vector, 1})
	return c, errors.Join(errs...)
}

// vector is how many elements of a 16-bit type 16 bytes have: as many as D has where nothing is written to it, since a
// tensor map has elements.
const vector = 8

// shape is what the choice of the kernel depends on.
func (c *call) shape() shape {
	p := shape{form: c.form, batch: c.d.Dim(0), m: c.d.Dim(1), n: c.d.Dim(2), k: c.A.Dim(2), whole: whole(c.A, c.B, c.c, c.d) && (c.Bias.Elems() == 0 || c.Bias.Addr()%bytes == 0)}
	if c.form.TransA() {
		p.k = c.A.Dim(1)
	}
	return p
}

const bytes = 16 // of a vector

// whole reports whether tensors begin, and have all their rows, at multiples of 16 bytes, and rows as long.
func whole(ts ...device.Tensor) bool {
	for _, t := range ts {
		bits := t.Addr()
		for i := range t.Rank() - 1 {
			bits |= uint64(t.Stride(i) * t.DType().Size())
		}
		if t.Elems() > 0 && (bits|uint64(t.Dim(t.Rank()-1)*t.DType().Size()))%bytes != 0 {
			return false
		}
	}
	return true
}

// choose picks the kernel, but of f32.
func (c *call) choose(d *device.Device, how Choice, room int) Choice {
	if c.A.DType() == dtype.F32 {
		return Choice{Splits: 1}
	}
	return c.shape().choose(d, how, room)
}

// floats launches a kernel of f32, which takes A as k x m and B as k x n with any strides.
func (c *call) floats(s *device.Stream) error {
	a, b := c.A, c.B
	var err [2]error
	if !c.form.TransA() {
		a, err[0] = transposed(a)
	}
	if c.form.TransB() {
		b, err[1] = transposed(b)
	}
	if err := errors.Join(err[:]...); err != nil {
		return err
	}
	p := plainParams{A: a, B: b, Bias: c.Bias, C: c.c, D: c.d, Splits: 1}
	switch c.accuracy {
	case TF32:
		return launchTf32(s, tf32Params(p))
	case TF32x3:
		return launchTf32x3(s, tf32x3Params(p))
	}
	return launchPlain(s, p)
}

// transposed is a batch of matrices with rows and columns exchanged, in the same memory.
func transposed(t device.Tensor) (device.Tensor, error) {
	return device.View(t.Buffer(), t.Offset()/t.DType().Size(), t.DType(), []int{t.Dim(0), t.Dim(2), t.Dim(1)}, []int{t.Stride(0), t.Stride(2), t.Stride(1)})
}

// launch launches the kernel of a choice, and for a product in parts that of their sum.
func (c *call) launch(s *device.Stream, how Choice, scratch device.Tensor) error {
	p := c.params
	if c.A.DType() == dtype.F32 {
		return c.floats(s)
	}
	if how.Splits == 1 {
		return launchers[how.Size][c.form](s, p)
	}
	batch, m, n := c.d.Dim(0), c.d.Dim(1), c.d.Dim(2)
	parts, err := device.View(scratch.Buffer(), scratch.Offset()/dtype.F32.Size(), dtype.F32, []int{batch * how.Splits, m, n}, nil)
	if err != nil {
		return err
	}
	t := c.A.DType()
	none, err := device.View(c.d.Buffer(), 0, t, []int{0, 0, 0}, nil)
	if err != nil {
		return err
	}
	p.Splits, p.C, p.Wide, p.Bias = int32(how.Splits), none, parts, device.Tensor{}
	if p.WideC, err = device.View(c.d.Buffer(), 0, dtype.F32, []int{0, 0, 0}, nil); err != nil {
		return err
	}
	if p.Bias, err = device.View(c.d.Buffer(), 0, t, []int{0}, nil); err != nil {
		return err
	}
	if p.D, err = device.View(scratch.Buffer(), scratch.Offset()/t.Size(), t, []int{1, 1, vector}, nil); err != nil {
		return err
	}
	if err := launchers[how.Size][c.form](s, p); err != nil {
		return err
	}
	return launchSum(s, sumParams{Parts: parts, C: c.c, Bias: c.Bias, D: c.d, Splits: int32(how.Splits)})
}
