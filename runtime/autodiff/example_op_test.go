package autodiff_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// sandbox is what the examples work with; tensors are f32.
type sandbox struct {
	d *device.Device
	s *device.Stream
}

func open() sandbox {
	d := must(device.Open("sim"))
	return sandbox{d, d.Stream()}
}

func (b sandbox) tensor(v []float64, shape ...int) device.Tensor {
	t := must(device.NewTensor(b.d, dtype.F32, shape...))
	check(device.UploadFloats(b.s, t, v))
	return t
}

// must is a result without its error, which stops an example; a program returns it.
func must[T any](x T, err error) T {
	check(err)
	return x
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

type port struct {
	X autodiff.Tensor `op:"[rows,n] T:bf16|f32"`
}

// duplicate is y = x in memory of its own, for up to 4 columns; beyond, it is made of other ops.
var duplicate = autodiff.New("duplicate", autodiff.Spec[struct{}, port, port, struct{}]{
	Accept: func(_ struct{}, in port) error {
		switch n := in.X.Dim(1); {
		case n == 0:
			return errors.New("rows have at least one element")
		case n > 4:
			return autodiff.Decline("rows longer than 4")
		}
		return nil
	},
	Forward: func(x *autodiff.Exec, _ struct{}, in port) (out port, saved struct{}, err error) {
		out.X = x.Like(in.X)
		from, to := x.View(in.X), x.View(out.X)
		return out, saved, x.Stream().Copy(to.Buffer(), 0, from.Buffer(), 0, to.Elems()*to.DType().Size())
	},
	Backward: func(_ *autodiff.Exec, _ struct{}, _ port, _ struct{}, dy port) (port, error) { return dy, nil },
	Ref:      func(t *autodiff.Tape, _ struct{}, in port) port { return port{ops.AddScalar(t, in.X, 0)} },
})

// An op is ports, with tags, and functions. What it accepts is said before anything is launched; a call that is declined
// takes Ref, and the books say why.
func ExampleNew() {
	b := open()
	defer b.d.Close()
	t := must(autodiff.NewTape(b.s, autodiff.WithPhase(autodiff.Eval)))
	duplicate.Apply(t, struct{}{}, port{t.Input("short", b.tensor([]float64{1, 2}, 1, 2))})
	duplicate.Apply(t, struct{}{}, port{t.Input("long", b.tensor([]float64{1, 2, 3, 4, 5}, 1, 5))})
	duplicate.Apply(t, struct{}{}, port{t.Input("empty", b.tensor(nil, 3, 0))})
	books, err := t.Close()
	fmt.Println(books)
	fmt.Println(err)
	in, out := duplicate.Ports()
	fmt.Println(duplicate.Name(), in, out)
	// Output:
	// eval add_scalar=1/1 duplicate=1/2 ref=1 declined(rows longer than 4)=1
	// example_op_test.go:75: duplicate: rows have at least one element
	// duplicate [{X false false}] [{X false false}]
}

// A call that does not fit the ports is refused, with the op, the port and the caller's line.
func ExampleError() {
	b := open()
	defer b.d.Close()
	t := must(autodiff.NewTape(b.s))
	ops.MulRows(t, t.Input("x", b.tensor([]float64{1, 2, 3, 4}, 2, 2)), t.Input("w", b.tensor([]float64{1, 2, 3}, 3)))
	_, err := t.Close()
	var e *autodiff.Error
	fmt.Println(errors.As(err, &e), errors.Is(err, device.ErrShape))
	fmt.Printf("%s: %s: %s\n", e.Op, e.Port, e.Text)
	_, line, _ := strings.Cut(e.At, ", ") // after the line in package ops
	fmt.Println(line)
	// Output:
	// true true
	// mul_rows: B: the tensor is f32[3]; its shape is [n], and n is 2 by A
	// called from example_op_test.go:92
}

// Two arms of one program: the kernel, and the ops that it is the same as. GOTILE_OFF=duplicate does the same.
func ExampleOff() {
	b := open()
	defer b.d.Close()
	x := b.tensor([]float64{1, 2}, 1, 2)
	for _, off := range [][]string{nil, {"duplicate"}, {"duplicat"}} {
		t, err := autodiff.NewTape(b.s, autodiff.WithPhase(autodiff.Eval), autodiff.Off(off...))
		if err != nil {
			fmt.Println(errors.Is(err, autodiff.ErrUnknownOp))
			continue
		}
		y := duplicate.Apply(t, struct{}{}, port{t.Input("x", x)}).X
		fmt.Println(must(y.Floats()), must(t.Close()))
	}
	// Output:
	// [1 2] eval duplicate=1/1
	// [1 2] eval add_scalar=1/1 duplicate=0/1 ref=1 declined(killed)=1
	// true
}

// A shadow audit runs Ref beside every second call; the difference is in the books, and above a bar an error.
func ExampleAudit() {
	b := open()
	defer b.d.Close()
	t := must(autodiff.NewTape(b.s, autodiff.WithPhase(autodiff.Eval), autodiff.Audit(2, 1e-6)))
	x := t.Input("x", b.tensor([]float64{1, 2}, 1, 2))
	for range 5 {
		duplicate.Apply(t, struct{}{}, port{x})
	}
	books := must(t.Close())
	fmt.Println(books, *books.Of(autodiff.Eval, "duplicate").Audit)
	// Output: eval duplicate=5/5 {2 0 X}
}
