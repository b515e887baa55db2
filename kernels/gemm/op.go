//go:build !gotilegen

package gemm

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// Params are what Op takes beside tensors.
type Params struct {
	Form     Form
	Accuracy Accuracy // of f32
}

// In are the inputs of Op, as Params.Form has them.
type In struct {
	A autodiff.Tensor `op:"[a0,a1] T:bf16|f16|f32"`
	B autodiff.Tensor `op:"[b0,b1] T"`
}

// Out is the output of Op.
type Out struct {
	D autodiff.Tensor `op:"[m,n] T"`
}

type none struct{} // nothing is saved: the inputs are

// Op is the product d = A B in any form, by Multiply. Its gradients are products by the same kernels: of the form NN
// dA = dD B', dB = A' dD.
var Op = autodiff.New("gemm", autodiff.Spec[Params, In, Out, none]{
	Accept: accept,
	LaunchesOf: func(x *autodiff.Exec, p Params, in In) (l autodiff.Launches) {
		a, b := x.View(in.A), x.View(in.B)
		m, n, k := sides(p.Form, a, b)
		aligned := whole(a, b)
		l.Forward = launches(x, a.DType(), shape{p.Form, 1, m, n, k, aligned && n%vector == 0})
		for _, g := range gradients(p.Form) {
			d := []int{a.Dim(0), a.Dim(1), n}
			if g.ofB {
				d = []int{b.Dim(0), b.Dim(1), m}
			}
			l.Backward += launches(x, a.DType(), shape{g.form, 1, d[0], d[1], d[2], aligned && n%vector == 0})
		}
		return l
	},
	Forward: func(x *autodiff.Exec, p Params, in In) (out Out, _ none, err error) {
		m, n, _ := sides(p.Form, x.View(in.A), x.View(in.B))
		out.D = x.New(in.A.DType(), m, n)
		return out, none{}, multiplyOn(x, p, p.Form, in.A, in.B, out.D)
	},
	Backward: func(x *autodiff.Exec, p Params, in In, _ none, dOut Out) (d In, err error) {
		for _, g := range gradients(p.Form) {
			of, other, to := in.A, in.B, &d.A
			if g.ofB {
				of, other, to = in.B, in.A, &d.B
			}
			if !x.Needs(of) {
				continue
			}
			a, b := dOut.D, other
			if g.last {
				a, b = b, a
			}
			*to = x.Like(of)
			if err := multiplyOn(x, p, g.form, a, b, *to); err != nil {
				return d, err
			}
		}
		return d, nil
	},
})

// gradient is a gradient, as a product of dD and the other input.
type gradient struct {
	ofB  bool
	form Form
	last bool // dD is the second factor
}

// gradients are those of both inputs: of d = A B it is dA = dD B' and dB = A' dD, and where an input is given transposed
// its gradient is the transpose.
func gradients(f Form) [2]gradient {
	return [...][2]gradient{
		NN: {{false, NT, false}, {true, TN, true}},
		NT: {{false, NN, false}, {true, TN, false}},
		TN: {{false, NT, true}, {true, NN, true}},
		TT: {{false, TT, true}, {true, TT, false}},
	}[f]
}

// sides are m, n and k of a product.
func sides(f Form, a, b device.Tensor) (m, n, k int) {
	m, k, n = a.Dim(0), a.Dim(1), b.Dim(1)
	if f.TransA() {
		m, k = k, m
	}
	if f.TransB() {
		n = b.Dim(0)
	}
	return m, n, k
}

func accept(p Params, in In) error {
	if !p.Form.known() {
		return fmt.Errorf("Params.Form is %d; use NN, NT, TN or TT", p.Form)
	}
	a, b := in.A.Shape(), in.B.Shape()
	ka, kb := a[1], b[0]
	if p.Form.TransA() {
		ka = a[0]
	}
	if p.Form.TransB() {
		kb = b[1]
	}
	if ka != kb {
		return fmt.Errorf("operands A of %v and B of %v: in form %v k is %d of the one and %d of the other; give both one k", a, b, p.Form, ka, kb)
	}
	return nil
}

// launches is how many kernels a product launches.
func launches(x *autodiff.Exec, t dtype.Type, p shape) int {
	switch {
	case p.m == 0 || p.n == 0:
		return 0
	case t != dtype.F32 && p.choose(x.Stream().Device(), Choice{}, maxSplits).Splits > 1:
		return 2
	}
	return 1
}

// multiplyOn launches Multiply, with scratch of the transaction.
func multiplyOn(x *autodiff.Exec, p Params, f Form, a, b, d autodiff.Tensor) error {
	in, out := Inputs{A: x.View(a), B: x.View(b), Accuracy: p.Accuracy}, x.View(d)
	n, err := ScratchSize(x.Stream(), f, in, out)
	if err != nil {
		return err
	}
	if n > 0 {
		if in.Scratch = x.Scratch(dtype.F32, n); in.Scratch.Buffer() == nil { // the transaction has an error, which it ends with
			return nil
		}
	}
	return Multiply(x.Stream(), f, in, out)
}
