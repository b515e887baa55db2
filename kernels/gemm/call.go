//go:build !gotilegen

package gemm

import (
	"errors"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// views makes views of tensors' buffers, and keeps their errors.
type views struct{ err error }

// of is a view of t's buffer from a byte on.
func (v *views) of(t device.Tensor, offset int, dt dtype.Type, shape, strides []int) device.Tensor {
	x, err := device.View(t.Buffer(), offset/dt.Size(), dt, shape, strides)
	v.err = errors.Join(v.err, err)
	return x
}

// transposed is a batch of matrices with rows and columns exchanged, in the same memory.
func (v *views) transposed(t device.Tensor) device.Tensor {
	return v.of(t, t.Offset(), t.DType(), []int{t.Dim(0), t.Dim(2), t.Dim(1)}, []int{t.Stride(0), t.Stride(2), t.Stride(1)})
}

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
	var v views
	none := func(t dtype.Type) device.Tensor { return v.of(d, 0, t, []int{0, 0, 0}, nil) }
	batch := func(t device.Tensor) device.Tensor {
		if t.Rank() == 3 {
			return t
		}
		strides := []int{t.Dim(0) * t.Stride(0), t.Stride(0), t.Stride(1)}
		return v.of(t, t.Offset(), t.DType(), []int{1, t.Dim(0), t.Dim(1)}, strides)
	}
	c := &call{form: form, d: batch(d), c: none(d.DType()), accuracy: in.Accuracy}
	if set(in.C) {
		c.c = batch(in.C)
	}
	t := in.A.DType()
	c.params = params{A: batch(in.A), B: batch(in.B), Bias: in.Bias, Splits: 1}
	if !set(in.Bias) {
		c.Bias = v.of(d, 0, t, []int{0}, nil)
	}
	if t == dtype.F32 {
		return c, v.err
	}
	if d.DType() != dtype.F32 {
		c.C, c.D, c.WideC, c.Wide = c.c, c.d, none(dtype.F32), none(dtype.F32)
		return c, v.err
	}
	c.C, c.WideC, c.Wide = none(t), c.c, c.d
	c.D = v.of(d, d.Offset(), t, []int{1, 1, min(vector, 2*d.Elems())}, []int{vector, vector, 1})
	return c, v.err
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
	var v views
	if !c.form.TransA() {
		a = v.transposed(a)
	}
	if c.form.TransB() {
		b = v.transposed(b)
	}
	if v.err != nil {
		return v.err
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
	var v views
	t := c.A.DType()
	parts := v.of(scratch, scratch.Offset(), dtype.F32, []int{batch * how.Splits, m, n}, nil)
	p.Splits, p.Wide, p.D = int32(how.Splits), parts, v.of(scratch, scratch.Offset(), t, []int{1, 1, vector}, nil)
	p.C, p.WideC = v.of(c.d, 0, t, []int{0, 0, 0}, nil), v.of(c.d, 0, dtype.F32, []int{0, 0, 0}, nil)
	p.Bias = v.of(c.d, 0, t, []int{0}, nil)
	if v.err != nil {
		return v.err
	}
	if err := launchers[how.Size][c.form](s, p); err != nil {
		return err
	}
	return launchSum(s, sumParams{Parts: parts, C: c.c, Bias: c.Bias, D: c.d, Splits: int32(how.Splits)})
}
