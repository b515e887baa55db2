package autodiff_test

import (
	"errors"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

type boundIn struct {
	A autodiff.Tensor `op:"[rows,n] T"`
	B autodiff.Tensor `op:"[rows,n] T:f32"`
}

var bound = autodiff.New("bound", autodiff.Spec[none, boundIn, out, none]{
	Forward: func(x *autodiff.Exec, _ none, in boundIn) (out, none, error) {
		return out{x.Zero(x.Like(in.A))}, none{}, nil
	},
})

// The types of a symbol hold wherever they stand.
func TestTypesOfALaterPort(t *testing.T) {
	s := sim(t)
	h := tensor(t, s, dtype.BF16, []float64{1, 2}, 1, 2)
	tp := tape(t, s)
	bound.Apply(tp, none{}, boundIn{tp.Input("a", h), tp.Input("b", h)})
	if _, err := tp.Close(); !errors.Is(err, device.ErrDType) {
		t.Errorf("port B, T:f32, took bf16: %v", err)
	}
}
