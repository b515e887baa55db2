// Package autodiff makes differentiable operations of kernels, and keeps books that show that each call of a fused
// kernel was used, forward and backward.
//
// An Op is registered once, with typed ports:
//
//	type In struct {
//		X autodiff.Tensor `op:"[rows,n] T:bf16|f16|f32"`
//		W autodiff.Tensor `op:"[n] T|f32"`
//	}
//	type Out struct { Y autodiff.Tensor `op:"[rows,n] T"` }
//
//	var Norm = autodiff.New("norm", autodiff.Spec[Params, In, Out, Saved]{ ... })
//
// and applied on a Tape, which is one step of training, or of evaluation:
//
//	t, err := autodiff.NewTape(stream)
//	h := t.Input("h", x)
//	y := Norm.Apply(t, Params{Eps: 1e-6}, In{X: h, W: t.Param(w)}).Y
//	err = t.Backward(Loss.Apply(t, ...).L)
//	dw, err := t.Param(w).Grad()
//	books, err := t.Close()
//
// A Tensor is a value on a tape, a device.Tensor is memory. Only an op's transaction (Exec) sees the memory of a Tensor,
// and what it returns is on the tape. There is no other way from one to the other but Detach, which is counted: a
// result cannot re-enter the tape as a leaf and lose its gradient unseen.
//
// The tape keeps the first error, with the op, the port and the line that applied it; after it nothing is launched, and
// Backward, Update and Close return it.
package autodiff
