//go:build !gotilegen

package gemm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// Inputs are the operands of d = A B + C + bias, or of a batch of such products: all matrices then have one dimension more,
// the first. Rows may be padded and matrices lie apart (any strides of the leading dimensions), and bases be unaligned;
// where bases and strides are multiples of 16 bytes it is faster. All sizes may be 0.
type Inputs struct {
	A    device.Tensor // [m, k] of bf16 or f16; [k, m] in the forms TN and TT
	B    device.Tensor // [k, n] of A's type; [n, k] in the forms NT and TT
	C    device.Tensor // [m, n] of d's type, added to the product; unset: nothing. It may be d itself, which accumulates
	Bias device.Tensor // [n] of A's type, added to each row; unset: nothing
}

// Multiply computes d, of A's type or f32, from the inputs. Products are added up in f32, beginning with C and bias, in an
// order that depends on the sizes and the device only: the same call has the same result. Tensors that are wrong or do not
// agree are refused with a *bind.Error that names them, and nothing is launched. d must not overlap A, B or Bias, which is
// not checked.
func Multiply(s *device.Stream, form Form, in Inputs, d device.Tensor) error {
	return multiply(s, form, in, d, choice{})
}

// MultiplySync is Multiply by mma.sync, the matrix multiply of warps that all targets have, also where there is wgmma: what
// it costs to be without is a question of benchmarks.
func MultiplySync(s *device.Stream, form Form, in Inputs, d device.Tensor) error {
	return multiply(s, form, in, d, choice{sync: true})
}

// choice is how a product is computed; what is zero is chosen by its sizes.
type choice struct {
	size string // of the kernel
	sync bool   // a size of mma.sync
}

// params are the parameters of any kernel.
type params nnTma128Params

func multiply(s *device.Stream, form Form, in Inputs, d device.Tensor, how choice) error {
	if err := check(form, in, d); err != nil {
		return err
	}
	p, err := tensors(in, d)
	if err != nil {
		return err
	}
	if how.size == "" {
		how = choose(p, s.Device(), how)
	}
	err = launchers[how.size][form](s, p)
	var b *bind.Error
	if errors.As(err, &b) { // in the words of Multiply
		c := *b
		c.Launch = launchName
		if c.Field != "" {
			c.Field = fields[c.Field]
		}
		return &c
	}
	return err
}

const launchName = "gemm.Multiply"

// fields are the names of the kernels' tensors as Multiply has them.
var fields = map[string]string{"A": "Inputs.A", "B": "Inputs.B", "Bias": "Inputs.Bias", "C": "Inputs.C", "WideC": "Inputs.C", "D": "d", "Wide": "d"}

func refuse(field string, sentinel error, format string, args ...any) error {
	return &bind.Error{Launch: launchName, Field: field, Err: sentinel, Detail: fmt.Sprintf(format, args...)}
}

func set(t device.Tensor) bool { return t.DType() != dtype.Invalid }

// check refuses tensors whose types and shapes do not agree.
func check(form Form, in Inputs, d device.Tensor) error {
	if !form.known() {
		return refuse("form", device.ErrShape, "form %d is unknown; use NN, NT, TN or TT", form)
	}
	for _, t := range []struct {
		field string
		t     device.Tensor
	}{{"d", d}, {"Inputs.A", in.A}, {"Inputs.B", in.B}} {
		switch {
		case !set(t.t):
			return refuse(t.field, device.ErrShape, "the tensor is not set")
		case t.t.Rank() != d.Rank() || d.Rank() != 2 && d.Rank() != 3:
			return refuse(t.field, device.ErrShape, "the tensor has rank %d: A, B and d are matrices, of rank 2, or batches of them, of rank 3; give all one rank, d has %d", t.t.Rank(), d.Rank())
		}
	}
	t, last := in.A.DType(), d.Rank()-1
	row := last - 1
	ka, kb := last, row // where k is
	if form.TransA() {
		ka = row
	}
	if form.TransB() {
		kb = last
	}
	switch {
	case t != dtype.BF16 && t != dtype.F16:
		return refuse("Inputs.A", device.ErrDType, "its type is %v: operands are bf16 or f16", t)
	case in.B.DType() != t:
		return refuse("Inputs.B", device.ErrDType, "its type is %v, and A's %v: both have one type", in.B.DType(), t)
	case d.DType() != t && d.DType() != dtype.F32:
		return refuse("d", device.ErrDType, "its type is %v: a product of %v has this type or f32", d.DType(), t)
	case in.A.Dim(row+last-ka) != d.Dim(row) || in.B.Dim(row+last-kb) != d.Dim(last) || in.A.Dim(ka) != in.B.Dim(kb):
		return refuse("d", device.ErrShape, "%v = %v x %v is no product in form %v: d is m x n, A m x k and B k x n, or their transposes where the form has T", d.Shape(), in.A.Shape(), in.B.Shape(), form)
	case row == 1 && (in.A.Dim(0) != d.Dim(0) || in.B.Dim(0) != d.Dim(0)):
		return refuse("d", device.ErrShape, "batches of %d = %d x %d products: all are of one size", d.Dim(0), in.A.Dim(0), in.B.Dim(0))
	case set(in.C) && in.C.DType() != d.DType():
		return refuse("Inputs.C", device.ErrDType, "its type is %v, and d's %v: both have one type", in.C.DType(), d.DType())
	case set(in.C) && !in.C.SameShape(d):
		return refuse("Inputs.C", device.ErrShape, "its shape is %v, and d's %v: both have one shape", in.C.Shape(), d.Shape())
	case set(in.Bias) && in.Bias.DType() != t:
		return refuse("Inputs.Bias", device.ErrDType, "its type is %v, and A's %v: both have one type", in.Bias.DType(), t)
	case set(in.Bias) && (in.Bias.Rank() != 1 || in.Bias.Dim(0) != d.Dim(last)):
		return refuse("Inputs.Bias", device.ErrShape, "its shape is %v, and d's %v: a bias has an element for each column", in.Bias.Shape(), d.Shape())
	}
	return nil
}

// tensors brings the tensors into the kernels' form: batches of matrices, and tensors without elements where there is
// nothing to add or to write.
func tensors(in Inputs, d device.Tensor) (params, error) {
	var errs []error
	view := func(b *device.Buffer, offset int, t dtype.Type, shape, strides []int) device.Tensor {
		v, err := device.View(b, offset, t, shape, strides)
		errs = append(errs, err)
		return v
	}
	batch := func(t device.Tensor) device.Tensor {
		switch {
		case !set(t):
			return view(d.Buffer(), 0, d.DType(), []int{0, 0, 0}, nil)
		case t.Rank() == 3:
			return t
		}
		return view(t.Buffer(), t.Offset()/t.DType().Size(), t.DType(), []int{1, t.Dim(0), t.Dim(1)}, []int{t.Dim(0) * t.Stride(0), t.Stride(0), t.Stride(1)})
	}
	none := func(t dtype.Type) device.Tensor { return view(d.Buffer(), 0, t, []int{0, 0, 0}, nil) }
	t := in.A.DType()
	p := params{A: batch(in.A), B: batch(in.B), Bias: in.Bias, Splits: 1}
	if !set(in.Bias) {
		p.Bias = view(d.Buffer(), 0, t, []int{0}, nil)
	}
	if d.DType() == dtype.F32 {
		p.WideC, p.Wide, p.C, p.D = batch(in.C), batch(d), none(t), none(t)
	} else {
		p.C, p.D, p.WideC, p.Wide = batch(in.C), batch(d), none(dtype.F32), none(dtype.F32)
	}
	return p, errors.Join(errs...)
}

// choose picks the kernel of a product: large tiles where the tensors have whole vectors and there are enough of these tiles
// for the multiprocessors.
func choose(p params, d *device.Device, how choice) choice {
	c := p.D
	if p.Wide.Elems() > 0 {
		c = p.Wide
	}
	const side = 128
	tiles := c.Dim(0) * ((c.Dim(1) + side - 1) / side) * ((c.Dim(2) + side - 1) / side)
	switch {
	case p.A.Elems() == 0 || tiles < d.Info().SMs || !p.whole():
		how.size = "async64"
	case slices.Contains(tensorTargets, d.Target().Name):
		how.size = "tma128"
	default:
		how.size = "async128"
	}
	return how
}

// whole reports whether all tensors begin, and have all their rows, at multiples of 16 bytes, and rows as long.
func (p params) whole() bool {
	for _, t := range []device.Tensor{p.A, p.B, p.C, p.D, p.WideC, p.Wide} {
		const vector = 16 // bytes
		size := uint64(t.DType().Size())
		if t.Elems() > 0 && (t.Addr()|size*uint64(t.Stride(0)|t.Stride(1)|t.Dim(2)))%vector != 0 {
			return false
		}
	}
	return p.Bias.Elems() == 0 || p.Bias.Addr()%16 == 0
}

// launchers are the launches of the kernels, by size and form.
var launchers = map[string][len(Forms)]func(*device.Stream, params) error{
	"tma128": {
		NN: func(s *device.Stream, p params) error { return launchNnTma128(s, nnTma128Params(p)) },
		NT: func(s *device.Stream, p params) error { return launchNtTma128(s, ntTma128Params(p)) },
		TN: func(s *device.Stream, p params) error { return launchTnTma128(s, tnTma128Params(p)) },
		TT: func(s *device.Stream, p params) error { return launchTtTma128(s, ttTma128Params(p)) },
	},
	"async128": {
		NN: func(s *device.Stream, p params) error { return launchNnAsync128(s, nnAsync128Params(p)) },
		NT: func(s *device.Stream, p params) error { return launchNtAsync128(s, ntAsync128Params(p)) },
		TN: func(s *device.Stream, p params) error { return launchTnAsync128(s, tnAsync128Params(p)) },
		TT: func(s *device.Stream, p params) error { return launchTtAsync128(s, ttAsync128Params(p)) },
	},
	"async64": {
		NN: func(s *device.Stream, p params) error { return launchNnAsync64(s, nnAsync64Params(p)) },
		NT: func(s *device.Stream, p params) error { return launchNtAsync64(s, ntAsync64Params(p)) },
		TN: func(s *device.Stream, p params) error { return launchTnAsync64(s, tnAsync64Params(p)) },
		TT: func(s *device.Stream, p params) error { return launchTtAsync64(s, ttAsync64Params(p)) },
	},
}
