//go:build !gotilegen

package gemm

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/bind"
	"github.com/gotile/gotile/runtime/device"
)

// Tensors that do not agree are refused before anything is launched, by their names.
func TestRefusals(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tensor := func(dt dtype.Type, shape ...int) device.Tensor {
		x, err := device.NewTensor(d, dt, shape...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	bf := func(shape ...int) device.Tensor { return tensor(dtype.BF16, shape...) }
	strided, err := device.View(bf(4, 6).Buffer(), 0, dtype.BF16, []int{4, 3}, []int{6, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		form Form
		in   Inputs
		d    device.Tensor
		want string // the field and some of the text
	}{
		{"form", 9, Inputs{A: bf(4, 3), B: bf(3, 5)}, bf(4, 5), "form: form 9 is unknown"},
		{"no d", NN, Inputs{A: bf(4, 3), B: bf(3, 5)}, device.Tensor{}, "d: the tensor is not set"},
		{"no A", NN, Inputs{B: bf(3, 5)}, bf(4, 5), "Inputs.A: the tensor is not set"},
		{"rank", NN, Inputs{A: bf(1, 4, 3), B: bf(3, 5)}, bf(4, 5), "Inputs.A: the tensor has rank 3"},
		{"vectors", NN, Inputs{A: bf(3), B: bf(3)}, bf(3), "d: the tensor has rank 1"},
		{"type", NN, Inputs{A: tensor(dtype.I32, 4, 3), B: bf(3, 5)}, bf(4, 5), "Inputs.A: its type is i32"},
		{"types", NN, Inputs{A: bf(4, 3), B: tensor(dtype.F16, 3, 5)}, bf(4, 5), "Inputs.B: its type is f16, and A's bf16"},
		{"type of d", NN, Inputs{A: bf(4, 3), B: bf(3, 5)}, tensor(dtype.F16, 4, 5), "d: its type is f16"},
		{"k", NN, Inputs{A: bf(4, 3), B: bf(4, 5)}, bf(4, 5), "is no product in form NN"},
		{"another form", NT, Inputs{A: bf(4, 3), B: bf(3, 5)}, bf(4, 5), "is no product in form NT"},
		{"m", TN, Inputs{A: bf(3, 4), B: bf(3, 5)}, bf(3, 5), "is no product in form TN"},
		{"batches", NN, Inputs{A: bf(2, 4, 3), B: bf(1, 3, 5)}, bf(2, 4, 5), "batches of 2 = 2 x 1"},
		{"type of C", NN, Inputs{A: bf(4, 3), B: bf(3, 5), C: tensor(dtype.F32, 4, 5)}, bf(4, 5), "Inputs.C: its type is f32"},
		{"shape of C", NN, Inputs{A: bf(4, 3), B: bf(3, 5), C: bf(5, 4)}, bf(4, 5), "Inputs.C: its shape is [5 4]"},
		{"type of the bias", NN, Inputs{A: bf(4, 3), B: bf(3, 5), Bias: tensor(dtype.F32, 5)}, bf(4, 5), "Inputs.Bias: its type is f32"},
		{"length of the bias", NN, Inputs{A: bf(4, 3), B: bf(3, 5), Bias: bf(4)}, bf(4, 5), "Inputs.Bias: its shape is [4]"},
		{"accuracy", NN, Inputs{A: bf(4, 3), B: bf(3, 5), Accuracy: TF32}, bf(4, 5), "Inputs.Accuracy: it is 1 of products of bf16"},
		{"scratch", NN, Inputs{A: bf(4, 3), B: bf(3, 5), Scratch: bf(40)}, bf(4, 5), "Inputs.Scratch: it is bf16[40]"},
		{"columns apart", NN, Inputs{A: strided, B: bf(3, 5)}, bf(4, 5), "Inputs.A: the last stride is 2"},
	} {
		err := Multiply(d.Stream(), c.form, c.in, c.d)
		var b *bind.Error
		if !errors.As(err, &b) || !strings.HasPrefix(err.Error(), launchName+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.name, err, c.want)
		}
	}
	if err := MultiplyBy(d.Stream(), NN, Inputs{A: bf(4, 3), B: bf(3, 5)}, bf(4, 5), Choice{Size: "large"}); err == nil || !strings.Contains(err.Error(), "have wgmma128x256") {
		t.Errorf("an unknown size: %v", err)
	}
	if n := d.Launches(); len(n) != 0 {
		t.Errorf("launches of what was refused: %v", n)
	}
}
