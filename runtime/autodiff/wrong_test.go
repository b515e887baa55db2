package autodiff_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// faulty is an op whose passes a test sets.
type faultySpec struct {
	forward  func(x *autodiff.Exec, in unaryIn) (out, error)
	backward func(x *autodiff.Exec, in unaryIn, dy out) (unaryIn, error)
}

var faulty = autodiff.New("faulty", autodiff.Spec[faultySpec, unaryIn, out, none]{
	Forward: func(x *autodiff.Exec, p faultySpec, in unaryIn) (out, none, error) {
		if p.forward == nil {
			y := x.Like(in.X)
			return out{y}, none{}, host(x, y, func(_ int, v ...float64) float64 { return v[0] }, in.X)
		}
		o, err := p.forward(x, in)
		return o, none{}, err
	},
	Backward: func(x *autodiff.Exec, p faultySpec, in unaryIn, _ none, dy out) (unaryIn, error) {
		return p.backward(x, in, dy)
	},
})

// Each mistake is one error, with the op, the port and this file's line, of the sentinel that is documented; nothing
// stays allocated.
func TestMistakes(t *testing.T) {
	s := sim(t)
	x22 := tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 2, 2)
	x23 := tensor(t, s, dtype.F32, make([]float64, 6), 2, 3)
	half := tensor(t, s, dtype.BF16, make([]float64, 4), 2, 2)
	words := tensor(t, s, dtype.I32, make([]float64, 4), 2, 2)
	wide := tensor(t, s, dtype.F32, make([]float64, 99), 1, 99)
	far := tensor(t, sim(t), dtype.F32, make([]float64, 4), 2, 2)
	p := autodiff.NewParam("p", x22)
	sum := func(tp *autodiff.Tape, y autodiff.Tensor) error {
		return tp.Backward(total.Apply(tp, none{}, unaryIn{y}).L)
	}
	backward := func(b func(x *autodiff.Exec, in unaryIn, dy out) (unaryIn, error)) func(tp *autodiff.Tape) error {
		return func(tp *autodiff.Tape) error {
			return sum(tp, faulty.Apply(tp, faultySpec{backward: b}, unaryIn{tp.Param(p)}).Y)
		}
	}
	forward := func(f func(x *autodiff.Exec, in unaryIn) (out, error)) func(tp *autodiff.Tape) error {
		return func(tp *autodiff.Tape) error {
			faulty.Apply(tp, faultySpec{forward: f}, unaryIn{tp.Param(p)})
			return tp.Err()
		}
	}
	other := tape(t, s)
	foreign := other.Input("elsewhere", x22)
	for _, c := range []struct {
		name string
		run  func(tp *autodiff.Tape) error
		is   error
		text string // parts of the message, between |
	}{
		{"shape", func(tp *autodiff.Tape) error {
			mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Input("x", x23)})
			return tp.Err()
		}, device.ErrShape, "wrong_test.go:|times: B: |f32[2, 3]|[rows,n], and n is 2 by A"},
		{"dtype", func(tp *autodiff.Tape) error {
			mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Input("x", half)})
			return tp.Err()
		}, device.ErrDType, "times: B: |bf16|A is f32"},
		{"type of a port", func(tp *autodiff.Tape) error {
			cube.Apply(tp, none{}, unaryIn{tp.Input("x", words)})
			return tp.Err()
		}, device.ErrDType, "cube: X: |i32|may be [f32 bf16]"},
		{"rank", func(tp *autodiff.Tape) error {
			l := total.Apply(tp, none{}, unaryIn{tp.Param(p)}).L
			cube.Apply(tp, none{}, unaryIn{l})
			return tp.Err()
		}, device.ErrShape, "cube: X: |rank 0|rank 2"},
		{"unset port", func(tp *autodiff.Tape) error {
			mul.Apply(tp, none{}, binaryIn{A: tp.Param(p)})
			return tp.Err()
		}, autodiff.ErrUnset, "times: B: |optional"},
		{"another tape", func(tp *autodiff.Tape) error {
			mul.Apply(tp, none{}, binaryIn{tp.Param(p), foreign})
			return tp.Err()
		}, autodiff.ErrForeign, "times: B: elsewhere: f32[2, 2] is on another tape"},
		{"integer parameter", func(tp *autodiff.Tape) error {
			tp.Param(autodiff.NewParam("w", words))
			return tp.Err()
		}, device.ErrDType, "Param: w: |no gradient"},
		{"accept", func(tp *autodiff.Tape) error {
			cube.Apply(tp, none{}, unaryIn{tp.Input("x", wide)})
			return tp.Err()
		}, nil, "wrong_test.go:|cube: 99 columns are not to my taste"},
		{"backward twice", func(tp *autodiff.Tape) error {
			l := total.Apply(tp, none{}, unaryIn{tp.Param(p)}).L
			if err := tp.Backward(l); err != nil {
				return err
			}
			return tp.Backward(l)
		}, autodiff.ErrTwice, "wrong_test.go:|Backward: backward ran"},
		{"no loss", func(tp *autodiff.Tape) error { return tp.Backward() }, autodiff.ErrUnset, "no loss"},
		{"a loss of four elements", func(tp *autodiff.Tape) error {
			return tp.Backward(mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Param(p)}).Y)
		}, device.ErrShape, "Y of times|one element"},
		{"a loss that nothing leads to", func(tp *autodiff.Tape) error {
			return sum(tp, tp.Input("x", x22))
		}, autodiff.ErrUntracked, "does not depend on a tracked tensor"},
		{"seed of another shape", func(tp *autodiff.Tape) error {
			return tp.BackwardFrom(autodiff.Seed{Of: mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Param(p)}).Y, Grad: x23})
		}, device.ErrShape, "BackwardFrom: |f32[2, 3]|f32[2, 2]"},
		{"forgotten gradient", backward(func(x *autodiff.Exec, _ unaryIn, _ out) (d unaryIn, err error) { return d, nil }),
			autodiff.ErrUnset, "wrong_test.go:|faulty: dX: |no gradient for p: f32[2, 2]"},
		{"gradient of another shape", backward(func(x *autodiff.Exec, _ unaryIn, _ out) (unaryIn, error) {
			return unaryIn{x.New(dtype.F32, 4)}, nil
		}), device.ErrShape, "faulty: dX: |f32[4]|f32[2, 2]"},
		{"gradient of another type", backward(func(x *autodiff.Exec, _ unaryIn, _ out) (unaryIn, error) {
			return unaryIn{x.New(dtype.BF16, 2, 2)}, nil
		}), device.ErrShape, "faulty: dX: |bf16[2, 2]"},
		{"error of backward", backward(func(x *autodiff.Exec, _ unaryIn, _ out) (d unaryIn, err error) {
			return d, errors.New("no luck")
		}), nil, "wrong_test.go:|faulty: no luck"},
		{"change in place in backward", backward(func(x *autodiff.Exec, in unaryIn, dy out) (unaryIn, error) {
			x.Mutate(dy.Y)
			return unaryIn{dy.Y}, nil
		}), autodiff.ErrChanged, "Mutate of dY"},
		{"error of forward", forward(func(x *autodiff.Exec, in unaryIn) (o out, err error) {
			x.Like(in.X)
			x.Scratch(dtype.F32, 100)
			return o, errors.New("no luck")
		}), nil, "wrong_test.go:|faulty: no luck"},
		{"forgotten output", forward(func(x *autodiff.Exec, in unaryIn) (o out, err error) { return o, nil }),
			autodiff.ErrUnset, "faulty: Y: |no tensor"},
		{"output of another shape", forward(func(x *autodiff.Exec, in unaryIn) (o out, err error) {
			return out{x.New(dtype.F32, 2, 7)}, nil
		}), device.ErrShape, "faulty: Y: |f32[2, 7]|n is 2 by X"},
		{"output of another tape", forward(func(x *autodiff.Exec, in unaryIn) (o out, err error) { return out{foreign}, nil }),
			autodiff.ErrForeign, "faulty: Y: |not of this call"},
		{"view of another tape", forward(func(x *autodiff.Exec, in unaryIn) (o out, err error) {
			x.View(foreign)
			return out{x.Like(in.X)}, nil
		}), autodiff.ErrForeign, "View of elsewhere"},
		{"change of a tracked tensor", forward(func(x *autodiff.Exec, in unaryIn) (o out, err error) {
			x.Mutate(in.X)
			return out{in.X}, nil
		}), autodiff.ErrChanged, "Mutate of p: f32[2, 2], which is tracked"},
		{"alias of another size", forward(func(x *autodiff.Exec, in unaryIn) (o out, err error) {
			return out{x.Alias(in.X, 5)}, nil
		}), device.ErrShape, "Alias of f32[2, 2] as [5]: it has 4 elements, not 5"},
		{"negative shape", forward(func(x *autodiff.Exec, in unaryIn) (o out, err error) { return out{x.New(dtype.F32, -1)}, nil }),
			device.ErrShape, "New(f32, [-1])"},
		{"memory closed by its owner", func(tp *autodiff.Tape) error {
			mine, err := s.NewTensor(dtype.F32, 2, 2)
			if err != nil {
				return err
			}
			y := mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Input("mine", mine)}).Y
			mine.Close()
			return sum(tp, y)
		}, device.ErrClosed, "wrong_test.go:|times: B: |memory of mine: f32[2, 2] was closed"},
		{"input of another device", func(tp *autodiff.Tape) error { tp.Input("far", far); return tp.Err() },
			device.ErrWrongDevice, "wrong_test.go:|Input: far: "},
		{"parameter of another device", func(tp *autodiff.Tape) error { tp.Param(autodiff.NewParam("far", far)); return tp.Err() },
			device.ErrWrongDevice, "wrong_test.go:|Param: far: "},
		{"seed of another device", func(tp *autodiff.Tape) error {
			return tp.BackwardFrom(autodiff.Seed{Of: mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Param(p)}).Y, Grad: far})
		}, device.ErrWrongDevice, "wrong_test.go:|BackwardFrom: "},
		{"copy to another device", func(tp *autodiff.Tape) error { return tp.CopyTo(far, tp.Input("x", x22)) },
			device.ErrWrongDevice, "wrong_test.go:|CopyTo: "},
		{"changed in place", func(tp *autodiff.Tape) error {
			mine := tp.Input("mine", x22)
			y := mul.Apply(tp, none{}, binaryIn{tp.Param(p), mine}).Y
			tp.Update("step", func(x *autodiff.Exec) error { x.Mutate(mine); return nil })
			return sum(tp, y)
		}, autodiff.ErrChanged, "wrong_test.go:|times: B: |reads mine: f32[2, 2], which wrong_test.go:|has changed"},
		{"used after the call", func(tp *autodiff.Tape) error {
			var kept *autodiff.Exec
			tp.Update("step", func(x *autodiff.Exec) error { kept = x; return nil })
			kept.View(tp.Param(p))
			return tp.Err()
		}, autodiff.ErrClosed, "step: an Exec is used after"},
		{"error of an update", func(tp *autodiff.Tape) error {
			return tp.Update("adam", func(x *autodiff.Exec) error { return errors.New("no luck") })
		}, nil, "wrong_test.go:|adam: no luck"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pool := autodiff.NewPool(s)
			defer pool.Close()
			tp := tape(t, s, autodiff.WithPool(pool))
			err := c.run(tp)
			if err == nil {
				t.Fatal("accepted")
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is not %v", err, c.is)
			}
			for _, part := range strings.Split(c.text, "|") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the message lacks %q: %s", part, err)
				}
			}
			var e *autodiff.Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.At, "wrong_test.go:") {
				t.Errorf("the position is not this file's: %v", err)
			}
			if tp.Err() != err {
				t.Errorf("the tape kept %v, not %v", tp.Err(), err)
			}
			if out := mul.Apply(tp, none{}, binaryIn{tp.Param(p), tp.Param(p)}); out.Y.Set() {
				t.Error("an op was applied after an error")
			}
			if _, closing := tp.Close(); closing != err {
				t.Errorf("Close returned %v", closing)
			}
			if st := pool.Stats(); st.InUse != 0 {
				t.Errorf("%d bytes are in use after Close", st.InUse)
			}
		})
	}
}
