//go:build !gotilegen

package gemm

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

const launchName = "gemm.Multiply"

// fields are the names of the kernels' tensors as Multiply has them.
var fields = map[string]string{
	"A": "Inputs.A", "B": "Inputs.B", "Bias": "Inputs.Bias", "C": "Inputs.C", "WideC": "Inputs.C", "D": "d", "Wide": "d", "Count": "Inputs.Scratch", "Parts": "Inputs.Scratch",
}

// inWords has an error of a launch in the words of Multiply.
func inWords(err error) error {
	var b *bind.Error
	if !errors.As(err, &b) {
		return err
	}
	c := *b
	c.Launch = launchName
	if c.Field != "" {
		c.Field = fields[c.Field]
	}
	return &c
}

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
	case t != dtype.BF16 && t != dtype.F16 && t != dtype.F32:
		return refuse("Inputs.A", device.ErrDType, "its type is %v: operands are bf16, f16 or f32", t)
	case in.Accuracy > TF32x3 || in.Accuracy != Plain && t != dtype.F32:
		return refuse("Inputs.Accuracy", device.ErrDType, "it is %d of products of %v: f32 has the accuracies Plain, TF32 and TF32x3, other types none; leave it at 0", in.Accuracy, t)
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
	if set(in.Scratch) && (in.Scratch.DType() != dtype.F32 || !in.Scratch.Contiguous()) {
		return refuse("Inputs.Scratch", device.ErrDType, "it is %v: scratch is contiguous f32", in.Scratch)
	}
	return nil
}
