//go:build !gotilegen

package ops

import (
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// The launches of kernels over one tensor, and over two of one shape.
type (
	launch1[P unaryLaunch]  = func(*device.Stream, P) error
	launch2[P binaryLaunch] = func(*device.Stream, P) error

	unaryLaunch interface {
		~struct {
			X, Y device.Tensor
			P    float32
		}
	}
	binaryLaunch interface {
		~struct {
			A, B, Y device.Tensor
			P       float32
		}
	}
)

func run1[P unaryLaunch](x *autodiff.Exec, launch launch1[P], in, out autodiff.Tensor) error {
	return launch(x.Stream(), P(struct {
		X, Y device.Tensor
		P    float32
	}{X: x.Flat(in), Y: x.Flat(out)}))
}

func run2[P binaryLaunch](x *autodiff.Exec, launch launch2[P], a, b, out autodiff.Tensor) error {
	return launch(x.Stream(), P(struct {
		A, B, Y device.Tensor
		P       float32
	}{A: x.Flat(a), B: x.Flat(b), Y: x.Flat(out)}))
}

// forward1 and forward2 are the passes that save nothing.
func forward1[P unaryLaunch](launch launch1[P]) func(*autodiff.Exec, None, Unary) (Out, None, error) {
	return func(x *autodiff.Exec, _ None, in Unary) (out Out, s None, err error) {
		out.Y = x.Like(in.X)
		return out, s, run1(x, launch, in.X, out.Y)
	}
}

func forward2[P binaryLaunch](launch launch2[P]) func(*autodiff.Exec, None, Binary) (Out, None, error) {
	return func(x *autodiff.Exec, _ None, in Binary) (out Out, s None, err error) {
		out.Y = x.Like(in.A)
		return out, s, run2(x, launch, in.A, in.B, out.Y)
	}
}

// ofInput is an op of one tensor, element by element, whose gradient comes from dy and the input.
func ofInput[F unaryLaunch, B binaryLaunch](name string, forward launch1[F], backward launch2[B]) *autodiff.Op[None, Unary, Out, None] {
	return autodiff.New(name, autodiff.Spec[None, Unary, Out, None]{
		Launches: autodiff.Launches{Forward: 1, Backward: 1}, MemoryBound: true,
		Forward: forward1(forward),
		Backward: func(x *autodiff.Exec, _ None, in Unary, _ None, dy Out) (d Unary, err error) {
			d.X = x.Like(in.X)
			return d, run2(x, backward, dy.Y, in.X, d.X)
		},
	})
}

// saved is the output, which a backward pass reads.
type saved struct{ Y autodiff.Tensor }

// ofOutput is an op of one tensor, element by element, whose gradient comes from dy and the output.
func ofOutput[F unaryLaunch, B binaryLaunch](name string, forward launch1[F], backward launch2[B]) *autodiff.Op[None, Unary, Out, saved] {
	return autodiff.New(name, autodiff.Spec[None, Unary, Out, saved]{
		Launches: autodiff.Launches{Forward: 1, Backward: 1}, MemoryBound: true,
		Forward: func(x *autodiff.Exec, _ None, in Unary) (out Out, s saved, err error) {
			out.Y = x.Like(in.X)
			return out, saved(out), run1(x, forward, in.X, out.Y)
		},
		Backward: func(x *autodiff.Exec, _ None, in Unary, s saved, dy Out) (d Unary, err error) {
			d.X = x.Like(in.X)
			return d, run2(x, backward, dy.Y, s.Y, d.X)
		},
	})
}

// The ops of one tensor, element by element.
var (
	NegOp = autodiff.New("neg", autodiff.Spec[None, Unary, Out, None]{ // dx = -dy
		Launches: autodiff.Launches{Forward: 1, Backward: 1}, MemoryBound: true,
		Forward: forward1(launchNeg),
		Backward: func(x *autodiff.Exec, _ None, in Unary, _ None, dy Out) (d Unary, err error) {
			d.X = x.Like(in.X)
			return d, run1(x, launchNeg, dy.Y, d.X)
		},
	})
	ExpOp      = ofOutput("exp", launchExp, launchMul)                  // dx = dy y
	LogOp      = ofInput("log", launchLog, launchDiv)                   // dx = dy/x
	SqrtOp     = ofOutput("sqrt", launchSqrt, launchSqrtBwd)            // dx = dy/2y
	TanhOp     = ofInput("tanh", launchTanh, launchTanhBwd)             // dx = dy (1 - tanh^2 x)
	SigmoidOp  = ofOutput("sigmoid", launchSigmoid, launchSigmoidBwd)   // dx = dy y(1-y)
	SiluOp     = ofInput("silu", launchSilu, launchSiluBwd)             // dx = dy s(1 + x(1-s)), s the sigmoid
	SoftplusOp = ofInput("softplus", launchSoftplus, launchSoftplusBwd) // dx = dy s
)

// Neg is -x.
func Neg(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return NegOp.Apply(t, None{}, Unary{x}).Y
}

// Exp is e^x.
func Exp(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return ExpOp.Apply(t, None{}, Unary{x}).Y
}

// Log is the natural logarithm: -Inf of 0, NaN below.
func Log(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return LogOp.Apply(t, None{}, Unary{x}).Y
}

// Sqrt is the square root.
func Sqrt(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return SqrtOp.Apply(t, None{}, Unary{x}).Y
}

// Tanh is the hyperbolic tangent.
func Tanh(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return TanhOp.Apply(t, None{}, Unary{x}).Y
}

// Sigmoid is 1/(1 + e^-x).
func Sigmoid(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return SigmoidOp.Apply(t, None{}, Unary{x}).Y
}

// Silu is x/(1 + e^-x).
func Silu(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return SiluOp.Apply(t, None{}, Unary{x}).Y
}

// Softplus is log(1 + e^x).
func Softplus(t *autodiff.Tape, x autodiff.Tensor) autodiff.Tensor {
	return SoftplusOp.Apply(t, None{}, Unary{x}).Y
}
