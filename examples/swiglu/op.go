//go:build !gotilegen

package swiglu

import (
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
)

// In are the inputs: contiguous, of one size.
type In struct {
	A autodiff.Tensor `op:"[rows,n] bf16"`
	B autodiff.Tensor `op:"[rows,n] bf16"`
}

// Out is the output.
type Out struct {
	Y autodiff.Tensor `op:"[rows,n] bf16"`
}

type none struct{} // no parameters, nothing saved

// Apply is silu(a)*b.
func Apply(t *autodiff.Tape, a, b autodiff.Tensor) autodiff.Tensor {
	return Op.Apply(t, none{}, In{a, b}).Y
}

// Op is the op of Apply: da = dy*b*silu'(a), db = dy*silu(a).
var Op = autodiff.New("swiglu", autodiff.Spec[none, In, Out, none]{
	Launches:    autodiff.Launches{Forward: 1, Backward: 1},
	MemoryBound: true,
	Forward: func(x *autodiff.Exec, _ none, in In) (out Out, _ none, err error) {
		out.Y = x.Like(in.A)
		return out, none{}, launchForward(x.Stream(), forwardParams{A: x.Flat(in.A), B: x.Flat(in.B), Y: x.Flat(out.Y)})
	},
	Backward: func(x *autodiff.Exec, _ none, in In, _ none, dy Out) (d In, err error) {
		d.A, d.B = x.Like(in.A), x.Like(in.B)
		return d, launchBackward(x.Stream(), backwardParams{
			A: x.Flat(in.A), B: x.Flat(in.B), DY: x.Flat(dy.Y), DA: x.Flat(d.A), DB: x.Flat(d.B),
		})
	},
	Ref: func(t *autodiff.Tape, _ none, in In) Out { return Out{ops.Mul(t, ops.Silu(t, in.A), in.B)} },
})
