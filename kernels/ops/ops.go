//go:build !gotilegen

package ops

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

//go:generate go run ../../cmd/gotile gen .

// None is what ops without parameters take, and what ops without a memory save.
type None struct{}

// Unary is the input of an op of one contiguous tensor.
type Unary struct {
	X autodiff.Tensor `op:"T:bf16|f16|f32"`
}

// Binary are the inputs of an op of two contiguous tensors of one shape.
type Binary struct {
	A autodiff.Tensor `op:"T:bf16|f16|f32"`
	B autodiff.Tensor `op:"T"`
}

// Out is the output: of the type of the input, and its shape.
type Out struct {
	Y autodiff.Tensor `op:"T"`
}

// sameShape is the Accept of binary ops.
func sameShape[P any](_ P, in Binary) error {
	if !in.A.SameShape(in.B) {
		return fmt.Errorf("the shapes of A and B are %v and %v, and must be one: %w", in.A.Shape(), in.B.Shape(), device.ErrShape)
	}
	return nil
}

// Add is a + b. Its backward pass launches nothing: both inputs have the output's gradient.
func Add(t *autodiff.Tape, a, b autodiff.Tensor) autodiff.Tensor {
	return AddOp.Apply(t, None{}, Binary{a, b}).Y
}

// AddOp is the op of Add.
var AddOp = autodiff.New("add", autodiff.Spec[None, Binary, Out, None]{
	Launches: autodiff.Launches{Forward: 1}, MemoryBound: true, Accept: sameShape[None],
	Forward: forward2(launchAdd),
	Backward: func(_ *autodiff.Exec, _ None, _ Binary, _ None, dy Out) (Binary, error) {
		return Binary{dy.Y, dy.Y}, nil
	},
})

// Sub is a - b.
func Sub(t *autodiff.Tape, a, b autodiff.Tensor) autodiff.Tensor {
	return SubOp.Apply(t, None{}, Binary{a, b}).Y
}

// SubOp is the op of Sub: da = dy, db = -dy.
var SubOp = autodiff.New("sub", autodiff.Spec[None, Binary, Out, None]{
	Launches: autodiff.Launches{Forward: 1, Backward: 1}, MemoryBound: true, Accept: sameShape[None],
	Forward: forward2(launchSub),
	Backward: func(x *autodiff.Exec, _ None, in Binary, _ None, dy Out) (d Binary, err error) {
		d.A = dy.Y
		if x.Needs(in.B) {
			d.B = x.Like(in.B)
			err = run1(x, launchNeg, dy.Y, d.B)
		}
		return d, err
	},
})

// Mul is a * b, element by element.
func Mul(t *autodiff.Tape, a, b autodiff.Tensor) autodiff.Tensor {
	return MulOp.Apply(t, None{}, Binary{a, b}).Y
}

// MulOp is the op of Mul.
var MulOp = autodiff.New("mul", autodiff.Spec[None, Binary, Out, None]{
	Launches: autodiff.Launches{Forward: 1, Backward: 2}, MemoryBound: true, Accept: sameShape[None],
	Forward: forward2(launchMul),
	Backward: func(x *autodiff.Exec, _ None, in Binary, _ None, dy Out) (d Binary, err error) {
		if x.Needs(in.A) {
			d.A = x.Like(in.A)
			err = run2(x, launchMul, dy.Y, in.B, d.A)
		}
		if err == nil && x.Needs(in.B) {
			d.B = x.Like(in.B)
			err = run2(x, launchMul, dy.Y, in.A, d.B)
		}
		return d, err
	},
})

// Div is a / b, element by element.
func Div(t *autodiff.Tape, a, b autodiff.Tensor) autodiff.Tensor {
	return DivOp.Apply(t, None{}, Binary{a, b}).Y
}

// DivOp is the op of Div: da = dy/b, db = -(dy*a/b)/b.
var DivOp = autodiff.New("div", autodiff.Spec[None, Binary, Out, None]{
	Launches: autodiff.Launches{Forward: 1, Backward: 2}, MemoryBound: true, Accept: sameShape[None],
	Forward: forward2(launchDiv),
	Backward: func(x *autodiff.Exec, _ None, in Binary, _ None, dy Out) (d Binary, err error) {
		if x.Needs(in.A) {
			d.A = x.Like(in.A)
			err = run2(x, launchDiv, dy.Y, in.B, d.A)
		}
		if err == nil && x.Needs(in.B) {
			d.B = x.Like(in.B)
			err = launchDivGrad(x.Stream(), divGradParams{DY: x.Flat(dy.Y), A: x.Flat(in.A), B: x.Flat(in.B), Y: x.Flat(d.B)})
		}
		return d, err
	},
})

// PowOut is the output of PowOp: f32, of the input's shape.
type PowOut struct {
	Y autodiff.Tensor `op:"f32"`
}

// Pow is x^p in f32, whatever the type of x: powers of 16-bit numbers leave the range of f16 (the square of 256 does) and
// the precision of bf16. x is above 0; where p is 2, any.
func Pow(t *autodiff.Tape, x autodiff.Tensor, p float32) autodiff.Tensor {
	return PowOp.Apply(t, p, Unary{x}).Y
}

// PowOp is the op of Pow: dx = dy*p*x^(p-1).
var PowOp = autodiff.New("pow", autodiff.Spec[float32, Unary, PowOut, None]{
	Launches: autodiff.Launches{Forward: 1, Backward: 1}, MemoryBound: true,
	Forward: func(x *autodiff.Exec, p float32, in Unary) (out PowOut, s None, err error) {
		out.Y = x.New(dtype.F32, in.X.Shape()...)
		return out, s, launchPow(x.Stream(), powParams{X: x.Flat(in.X), Y: x.Flat(out.Y), P: p})
	},
	Backward: func(x *autodiff.Exec, p float32, in Unary, _ None, dy PowOut) (d Unary, err error) {
		d.X = x.Like(in.X)
		return d, launchPowBwd(x.Stream(), powBwdParams{DY: x.Flat(dy.Y), X: x.Flat(in.X), DX: x.Flat(d.X), P: p})
	},
})

// AddScalar is x + c.
func AddScalar(t *autodiff.Tape, x autodiff.Tensor, c float32) autodiff.Tensor {
	return AddScalarOp.Apply(t, c, Unary{x}).Y
}

// AddScalarOp is the op of AddScalar. Its backward pass launches nothing.
var AddScalarOp = autodiff.New("add_scalar", autodiff.Spec[float32, Unary, Out, None]{
	Launches: autodiff.Launches{Forward: 1}, MemoryBound: true,
	Forward: func(x *autodiff.Exec, c float32, in Unary) (out Out, s None, err error) {
		out.Y = x.Like(in.X)
		return out, s, launchAddScalar(x.Stream(), addScalarParams{X: x.Flat(in.X), Y: x.Flat(out.Y), P: c})
	},
	Backward: func(_ *autodiff.Exec, _ float32, _ Unary, _ None, dy Out) (Unary, error) { return Unary{dy.Y}, nil },
})

// RowsIn are the inputs of MulRows.
type RowsIn struct {
	A autodiff.Tensor `op:"[rows,n] T:bf16|f16|f32"`
	B autodiff.Tensor `op:"[n] T|f32"`
}

// MatrixOut is an output of the shape [rows,n].
type MatrixOut struct {
	Y autodiff.Tensor `op:"[rows,n] T"`
}

// MulRows is a[i,j] * b[j], of a's type.
func MulRows(t *autodiff.Tape, a, b autodiff.Tensor) autodiff.Tensor {
	return MulRowsOp.Apply(t, None{}, RowsIn{a, b}).Y
}

// MulRowsOp is the op of MulRows: da = dy*b, db = the sum over the rows of dy*a.
var MulRowsOp = autodiff.New("mul_rows", autodiff.Spec[None, RowsIn, MatrixOut, None]{
	Launches: autodiff.Launches{Forward: 1, Backward: 2}, MemoryBound: true,
	Forward: func(x *autodiff.Exec, _ None, in RowsIn) (out MatrixOut, s None, err error) {
		out.Y = x.Like(in.A)
		return out, s, launchMulRows(x.Stream(), mulRowsParams{A: x.View(in.A), B: x.View(in.B), Y: x.View(out.Y)})
	},
	Backward: func(x *autodiff.Exec, _ None, in RowsIn, _ None, dy MatrixOut) (d RowsIn, err error) {
		if x.Needs(in.A) {
			d.A = x.Like(in.A)
			err = launchMulRows(x.Stream(), mulRowsParams{A: x.View(dy.Y), B: x.View(in.B), Y: x.View(d.A)})
		}
		if err == nil && x.Needs(in.B) {
			d.B = x.Like(in.B)
			err = launchDotRows(x.Stream(), dotRowsParams{A: x.View(dy.Y), B: x.View(in.A), Y: x.View(d.B)})
		}
		return d, err
	},
})

// ColsIn are the inputs of DivCols.
type ColsIn struct {
	A autodiff.Tensor `op:"[rows,n] T:bf16|f16|f32"`
	D autodiff.Tensor `op:"[rows] f32"`
}

// DivCols is a[i,j] / d[i], of a's type.
func DivCols(t *autodiff.Tape, a, d autodiff.Tensor) autodiff.Tensor {
	return DivColsOp.Apply(t, None{}, ColsIn{a, d}).Y
}

// DivColsOp is the op of DivCols: da = dy/d, dd = the sum over the columns of dy*a, divided by -d twice.
var DivColsOp = autodiff.New("div_cols", autodiff.Spec[None, ColsIn, MatrixOut, None]{
	Launches: autodiff.Launches{Forward: 1, Backward: 3}, MemoryBound: true,
	Forward: func(x *autodiff.Exec, _ None, in ColsIn) (out MatrixOut, s None, err error) {
		out.Y = x.Like(in.A)
		return out, s, launchDivCols(x.Stream(), divColsParams{A: x.View(in.A), B: x.View(in.D), Y: x.View(out.Y)})
	},
	Backward: func(x *autodiff.Exec, _ None, in ColsIn, _ None, dy MatrixOut) (d ColsIn, err error) {
		if x.Needs(in.A) {
			d.A = x.Like(in.A)
			err = launchDivCols(x.Stream(), divColsParams{A: x.View(dy.Y), B: x.View(in.D), Y: x.View(d.A)})
		}
		if err == nil && x.Needs(in.D) {
			dot := x.Scratch(dtype.F32, in.D.Dim(0))
			d.D = x.Like(in.D)
			if err = launchDotCols(x.Stream(), dotColsParams{A: x.View(dy.Y), B: x.View(in.A), Y: dot}); err == nil {
				err = launchDivBwd(x.Stream(), divBwdParams{A: dot, B: x.View(in.D), Y: x.View(d.D)})
			}
		}
		return d, err
	},
})

// MatrixIn is the input of an op over the columns.
type MatrixIn struct {
	X autodiff.Tensor `op:"[rows,n] T:bf16|f16|f32"`
}

// ColumnOut is an output of one f32 number a row.
type ColumnOut struct {
	Y autodiff.Tensor `op:"[rows] f32"`
}

// Mean is the mean of each row, in f32. Rows have at least one element.
func Mean(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return MeanOp.Apply(t, None{}, MatrixIn{x}).Y
}

// MeanOp is the op of Mean.
var MeanOp = autodiff.New("mean", autodiff.Spec[None, MatrixIn, ColumnOut, None]{
	Launches: autodiff.Launches{Forward: 1, Backward: 1}, MemoryBound: true,
	Accept: func(_ None, in MatrixIn) error {
		if in.X.Dim(1) == 0 {
			return fmt.Errorf("the mean of no elements is not defined, and X is %v: %w", in.X, device.ErrShape)
		}
		return nil
	},
	Forward: func(x *autodiff.Exec, _ None, in MatrixIn) (out ColumnOut, s None, err error) {
		out.Y = x.New(dtype.F32, in.X.Dim(0))
		return out, s, launchSumCols(x.Stream(), sumColsParams{A: x.View(in.X), Y: x.View(out.Y), Scale: 1 / float32(in.X.Dim(1))})
	},
	Backward: func(x *autodiff.Exec, _ None, in MatrixIn, _ None, dy ColumnOut) (d MatrixIn, err error) {
		d.X = x.Like(in.X)
		return d, launchExpand(x.Stream(), expandParams{B: x.View(dy.Y), Y: x.View(d.X), Scale: 1 / float32(in.X.Dim(1))})
	},
})
