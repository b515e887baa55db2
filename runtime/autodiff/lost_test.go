package autodiff_test

import (
	"errors"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
)

// A gradient that would be lost unseen is an error.
func TestLostGradients(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	for name, c := range map[string]struct {
		opts []autodiff.Option
		step func(tp *autodiff.Tape, x autodiff.Tensor)
	}{
		"a tracked tensor at a port without gradient": {nil, func(tp *autodiff.Tape, x autodiff.Tensor) {
			optim.SquaredError(tp, ops.Mul(tp, x, x), x)
		}},
		"an op without Backward": {nil, func(tp *autodiff.Tape, x autodiff.Tensor) {
			noBackward.Apply(tp, none{}, unaryIn{x})
		}},
		"a Ref that loses it": {[]autodiff.Option{autodiff.Off("lossy_ref")}, func(tp *autodiff.Tape, x autodiff.Tensor) {
			lossyRef.Apply(tp, none{}, unaryIn{x})
		}},
	} {
		tp := tape(t, s, c.opts...)
		c.step(tp, tp.Param(p))
		if _, err := tp.Close(); !errors.Is(err, autodiff.ErrUntracked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func identity(x *autodiff.Exec, _ none, in unaryIn) (o out, s none, err error) {
	o.Y = x.Like(in.X)
	return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] }, in.X)
}

var noBackward = autodiff.New("no_backward", autodiff.Spec[none, unaryIn, out, none]{Forward: identity})

var lossyRef = autodiff.New("lossy_ref", autodiff.Spec[none, unaryIn, out, none]{
	Forward:  identity,
	Backward: func(x *autodiff.Exec, _ none, in unaryIn, _ none, dy out) (unaryIn, error) { return unaryIn{dy.Y}, nil },
	Ref: func(t *autodiff.Tape, _ none, in unaryIn) out {
		return mul.Apply(t, none{}, binaryIn{in.X.Detach("a mistake"), in.X.Detach("a mistake")})
	},
})
