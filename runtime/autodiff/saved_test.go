package autodiff_test

import (
	"errors"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// Scratch in a struct within what an op saves is kept, too.
type nestedSaved struct {
	In struct{ Square device.Tensor }
}

var nestedCube = autodiff.New("nested_cube", autodiff.Spec[none, unaryIn, out, nestedSaved]{
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o out, s nestedSaved, err error) {
		o.Y, s.In.Square = x.Like(in.X), x.Scratch(dtype.F32, in.X.Shape()...)
		a, err := device.DownloadFloats(x.Stream(), x.View(in.X))
		for i := range a {
			a[i] *= a[i]
		}
		err = errors.Join(err, device.UploadFloats(x.Stream(), s.In.Square, a))
		return o, s, errors.Join(err, host(x, o.Y, func(i int, v ...float64) float64 { return v[0] * a[i] }, in.X))
	},
	Backward: func(x *autodiff.Exec, _ none, in unaryIn, s nestedSaved, dy out) (d unaryIn, err error) {
		d.X = x.Like(in.X)
		a, err := device.DownloadFloats(x.Stream(), s.In.Square)
		return d, errors.Join(err, host(x, d.X, func(i int, v ...float64) float64 { return 3 * a[i] * v[0] }, dy.Y))
	},
})

func TestNestedSaved(t *testing.T) {
	s := sim(t)
	p := autodiff.NewParam("p", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2))
	tp := tape(t, s, autodiff.Strict())
	x := tp.Param(p)
	y := nestedCube.Apply(tp, none{}, unaryIn{x}).Y
	y = add.Apply(tp, none{}, binaryIn{y, x}).Y // would take the memory if it were given back
	if err := tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L); err != nil {
		t.Fatal(err)
	}
	equal(t, "dp", grad(t, x), []float64{4, 13, 28, 49})
	closed(t, tp)
}

// Memory of an input, which the tape may give back, cannot be saved as memory.
var rawSaved = autodiff.New("raw_saved", autodiff.Spec[none, unaryIn, out, cubeSaved]{
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o out, s cubeSaved, err error) {
		o.Y, s.Square = x.Like(in.X), x.View(in.X)
		return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] }, in.X)
	},
})

func TestRawSaved(t *testing.T) {
	s := sim(t)
	p := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	tp := tape(t, s)
	x := tp.Input("p", p)
	rawSaved.Apply(tp, none{}, unaryIn{mul.Apply(tp, none{}, binaryIn{x, x}).Y})
	if _, err := tp.Close(); !errors.Is(err, autodiff.ErrSpec) {
		t.Errorf("an op that saves the memory of its input: %v", err)
	}
}
