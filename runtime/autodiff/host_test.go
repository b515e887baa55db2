package autodiff_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// The ops of these tests compute on the host, in float64: what is under test is the tape.

type binaryIn struct {
	A autodiff.Tensor `op:"[rows,n] T:bf16|f16|f32"`
	B autodiff.Tensor `op:"[rows,n] T"`
}

type unaryIn struct {
	X autodiff.Tensor `op:"[rows,n] T:f32|bf16"`
}

type out struct {
	Y autodiff.Tensor `op:"[rows,n] T"`
}

type lossOut struct {
	L autodiff.Tensor `op:"[] T"`
}

type none struct{}

// host reads tensors, computes and writes.
func host(x *autodiff.Exec, dst autodiff.Tensor, f func(i int, in ...float64) float64, in ...autodiff.Tensor) error {
	views := make([]device.Tensor, len(in))
	for i, t := range in {
		views[i] = x.View(t)
	}
	to := x.View(dst)
	var cols [][]float64
	for _, v := range views {
		a, err := device.DownloadFloats(x.Stream(), v)
		if err != nil {
			return err
		}
		cols = append(cols, a)
	}
	y := make([]float64, to.Elems())
	args := make([]float64, len(in))
	for i := range y {
		for j := range cols {
			args[j] = cols[j][i%len(cols[j])]
		}
		y[i] = f(i, args...)
	}
	return device.UploadFloats(x.Stream(), to, y)
}

// mul is y = a*b.
var mul = autodiff.New("times", autodiff.Spec[none, binaryIn, out, none]{
	Forward: func(x *autodiff.Exec, _ none, in binaryIn) (o out, s none, err error) {
		o.Y = x.Like(in.A)
		return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] * v[1] }, in.A, in.B)
	},
	Backward: func(x *autodiff.Exec, _ none, in binaryIn, _ none, dy out) (d binaryIn, err error) {
		times := func(_ int, v ...float64) float64 { return v[0] * v[1] }
		if x.Needs(in.A) {
			d.A = x.Like(in.A)
			err = host(x, d.A, times, dy.Y, in.B)
		}
		if x.Needs(in.B) {
			d.B = x.Like(in.B)
			err = errors.Join(err, host(x, d.B, times, dy.Y, in.A))
		}
		return d, err
	},
})

// add is y = a+b, whose gradient goes to both inputs as it is.
var add = autodiff.New("plus", autodiff.Spec[none, binaryIn, out, none]{
	Forward: func(x *autodiff.Exec, _ none, in binaryIn) (o out, s none, err error) {
		o.Y = x.Like(in.A)
		return o, s, host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] + v[1] }, in.A, in.B)
	},
	Backward: func(x *autodiff.Exec, _ none, _ binaryIn, _ none, dy out) (binaryIn, error) {
		return binaryIn{dy.Y, dy.Y}, nil
	},
})

// total is the sum of all elements, a loss.
var total = autodiff.New("total", autodiff.Spec[none, unaryIn, lossOut, none]{
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o lossOut, s none, err error) {
		o.L = x.New(in.X.DType())
		a, err := device.DownloadFloats(x.Stream(), x.View(in.X))
		if err != nil {
			return o, s, err
		}
		sum := 0.0
		for _, v := range a {
			sum += v
		}
		return o, s, device.UploadFloats(x.Stream(), x.View(o.L), []float64{sum})
	},
	Backward: func(x *autodiff.Exec, _ none, in unaryIn, _ none, dl lossOut) (d unaryIn, err error) {
		d.X = x.Like(in.X)
		return d, host(x, d.X, func(_ int, v ...float64) float64 { return v[0] }, dl.L)
	},
})

type cubeSaved struct{ Square device.Tensor }

// cube is y = x^3, memory-bound; it saves x^2 and has a Ref of two muls. Rows above 100 columns are declined.
var cube = autodiff.New("cube", autodiff.Spec[none, unaryIn, out, cubeSaved]{
	MemoryBound: true,
	Accept: func(_ none, in unaryIn) error {
		if in.X.Dim(1) > 100 {
			return autodiff.Decline("rows above 100")
		}
		if in.X.Dim(1) == 99 {
			return errors.New("99 columns are not to my taste")
		}
		return nil
	},
	Forward: func(x *autodiff.Exec, _ none, in unaryIn) (o out, s cubeSaved, err error) {
		o.Y, s.Square = x.Like(in.X), x.Scratch(dtype.F32, in.X.Shape()...)
		if err := host(x, o.Y, func(_ int, v ...float64) float64 { return v[0] * v[0] * v[0] }, in.X); err != nil {
			return o, s, err
		}
		a, err := device.DownloadFloats(x.Stream(), x.View(in.X))
		for i := range a {
			a[i] *= a[i]
		}
		return o, s, errors.Join(err, device.UploadFloats(x.Stream(), s.Square, a))
	},
	Backward: func(x *autodiff.Exec, _ none, in unaryIn, s cubeSaved, dy out) (d unaryIn, err error) {
		d.X = x.Like(in.X)
		sq, err := device.DownloadFloats(x.Stream(), s.Square)
		if err != nil {
			return d, err
		}
		return d, host(x, d.X, func(i int, v ...float64) float64 { return 3 * sq[i] * v[0] }, dy.Y)
	},
	Ref: func(t *autodiff.Tape, _ none, in unaryIn) (o out) {
		square := mul.Apply(t, none{}, binaryIn{in.X, in.X}).Y
		o.Y = mul.Apply(t, none{}, binaryIn{square, in.X}).Y
		return o
	},
})

func sim(t testing.TB) *device.Stream {
	t.Helper()
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.Stream()
}

func tensor(t testing.TB, s *device.Stream, dt dtype.Type, v []float64, shape ...int) device.Tensor {
	t.Helper()
	x, err := s.NewTensor(dt, shape...)
	if err == nil {
		err = device.UploadFloats(s, x, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func tape(t testing.TB, s *device.Stream, opts ...autodiff.Option) *autodiff.Tape {
	t.Helper()
	tp, err := autodiff.NewTape(s, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

// closed closes a tape that must be in order.
func closed(t testing.TB, tp *autodiff.Tape) *autodiff.Ledger {
	t.Helper()
	l, err := tp.Close()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func floats(t testing.TB, x autodiff.Tensor, err error) []float64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	v, err := x.Floats()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func grad(t testing.TB, x autodiff.Tensor) []float64 {
	t.Helper()
	g, err := x.Grad()
	return floats(t, g, err)
}

func equal(t testing.TB, what string, got, want []float64) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
