//go:build !gotilegen

package gemm

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// Cases are the differential tests of every committed kernel, for the simulator and for GPUs: each size with the shapes that
// may go wrong, in bf16; two of them in f16; and what is chosen by the sizes.
func Cases() []tiletest.Case {
	out := append(gateCases(), largeCases()...)
	add := func(p problem, quick bool) {
		c := tiletest.Case{Name: p.String(), Run: p.check}
		if quick {
			c.Run = p.quick
		}
		out = append(out, c)
	}
	for _, f := range Forms {
		for _, z := range sizes {
			for i, p := range shapes(z) {
				p.form, p.Choice = f, Choice{Size: z.name, Splits: max(1, p.Splits)}
				for _, t := range []dtype.Type{dtype.BF16, dtype.F16} {
					if i > 1 && t == dtype.F16 {
						continue
					}
					p.t, p.o = t, t
					add(p, z.Whole && (i > 1 && f != NT && f != TN || t == dtype.F16 && f != TT))
					if i%2 == 1 {
						p.o = dtype.F32
						add(p, z.Whole && f != NN && f != TN)
					}
				}
			}
		}
		for _, p := range append(shapes(size{name: "plain", config: config{M: plainSide, N: plainSide, K: plainDepth, Stages: plainStages}}), problem{m: 300, n: 260, k: 40}) {
			if p.Splits == 0 {
				p.form, p.t, p.o = f, dtype.F32, dtype.F32
				for _, p.accuracy = range []Accuracy{Plain, TF32, TF32x3} {
					add(p, false)
				}
			}
		}
		for _, p := range []problem{
			{m: 200, n: 136, k: 72, bias: true, accumulate: true}, {m: 65, n: 3, k: 70, add: true},
			{m: 64, n: 64, k: 1024, bias: true, add: true, Choice: Choice{Splits: 4}},
		} {
			p.form, p.t, p.o = f, dtype.BF16, dtype.BF16
			add(p, false)
			p.Sync = true
			add(p, false)
		}
	}
	for _, t := range []dtype.Type{dtype.BF16, dtype.F16} { // the kernels of sums
		for _, o := range []dtype.Type{t, dtype.F32} {
			for _, splits := range []int{2, 5} {
				add(problem{form: TN, t: t, o: o, batch: 2, m: 40, n: 27, k: 5*32 + 3, bias: true, accumulate: true, Choice: Choice{Size: "async64", Splits: splits}}, false)
			}
		}
	}
	return out
}

// problem is a product to check.
type problem struct {
	form           Form
	t, o           dtype.Type // of A and B, and of D
	batch, m, n, k int        // batch 0: matrices
	pad            int        // elements between rows
	apart          int        // rows between matrices
	offset         int        // elements by which the tensors start past a 256-byte boundary
	bias, add      bool
	accumulate     bool     // into D
	uniform        bool     // numbers in [-1, 1) instead of small integers, whose products and sums are exact
	accuracy       Accuracy // of f32
	Choice
}

func (p problem) String() string {
	size := p.Size
	switch {
	case size == "" && p.Sync:
		size = "chosen_sync"
	case size == "":
		size = "chosen"
	}
	if p.t == dtype.F32 {
		size = [...]string{"plain", "tf32", "tf32x3"}[p.accuracy]
	}
	out := fmt.Sprintf("%s/%v/%v/%v/", size, p.form, p.t, p.o)
	if p.batch > 0 {
		out += fmt.Sprintf("%dx", p.batch)
	}
	out += fmt.Sprintf("%dx%dx%d", p.m, p.n, p.k)
	if p.Splits > 1 {
		out += fmt.Sprintf("/%d", p.Splits)
	}
	if p.pad > 0 {
		out += fmt.Sprintf("+%d", p.pad)
	}
	if p.apart > 0 {
		out += fmt.Sprintf("+%drows", p.apart)
	}
	if p.offset > 0 {
		out += fmt.Sprintf("@%d", p.offset)
	}
	for _, o := range []struct {
		on   bool
		name string
	}{{p.bias, "bias"}, {p.add, "add"}, {p.accumulate, "accumulate"}, {p.uniform, "uniform"}} {
		if o.on {
			out += "/" + o.name
		}
	}
	return out
}

// shapes are the problems of a size: empty, of one element, ragged along each dimension, of several tiles and rounds of
// the pipeline, padded, unaligned, batched. Kernels for whole vectors take those that have them.
func shapes(z size) []problem {
	m, n, k := z.M, z.N, z.K
	out := []problem{
		{m: m, n: n, k: k},
		{m: 2*m + 8, n: n + 16, k: (z.Stages+1)*k + 8, bias: true},
		{m: 8, n: 8, k: 8, add: true},
		{m: m + 24, n: n, k: k + 16, pad: 8, accumulate: true},
		{m: m + 8, n: 40, k: 7*k + 8, bias: true, accumulate: true, Choice: Choice{Splits: 3}},
		{batch: 3, m: 40, n: 24, k: 2*k - 8, pad: 8, apart: 3, bias: true, accumulate: true, uniform: true},
	}
	if z.Whole {
		return out
	}
	return append(out,
		problem{m: 0, n: 5, k: 3}, problem{m: 5, n: 0, k: 3}, problem{m: 5, n: 3, k: 0}, problem{batch: 0, m: 1, n: 1, k: 1},
		problem{batch: 2, m: m, n: 2*n - 8, k: 0, bias: true, add: true},
		problem{m: 1, n: 1, k: 1, bias: true, add: true},
		problem{m: m + 1, n: n - 1, k: 5*k + 1, bias: true},
		problem{m: 17, n: n + 3, k: 2*k + 7, pad: 5, add: true},
		problem{m: 33, n: 31, k: 29, offset: 1, bias: true, accumulate: true, uniform: true},
		problem{batch: 2, m: 19, n: 23, k: k + 2, pad: 1, apart: 2, offset: 3, bias: true, add: true},
	)
}

// matrix places a matrix, or a batch of them.
func (p problem) matrix(r *tiletest.Run, role tiletest.Role, t dtype.Type, rows, cols int, values []float64) device.Tensor {
	shape, strides := []int{rows, cols}, []int{cols + p.pad, 1}
	if p.batch > 0 {
		shape, strides = append([]int{p.batch}, shape...), append([]int{(rows + p.apart) * (cols + p.pad)}, strides...)
	}
	return r.Place(tiletest.Spec{Role: role, DType: t, Shape: shape, Strides: strides, Offset: p.offset, Values: values})
}

// scratch is poisoned room for the parts of k.
func (p problem) scratch(r *tiletest.Run) device.Tensor {
	poison := slices.Repeat([]float64{math.NaN()}, p.Splits*max(p.batch, 1)*p.m*p.n)
	return r.InOut(dtype.F32, poison, len(poison))
}

// numbers are n inputs of a type.
func (p problem) numbers(r *tiletest.Run, t dtype.Type, salt uint64, n int) []float64 {
	if p.uniform {
		return r.Uniform(t, salt, n)
	}
	return r.Ints(-3, 3, salt, n)
}

// quick is check, but that the simulator takes only the first shapes of half of the forms: it computes every product of a
// tile, elements past the ends too.
func (p problem) quick(r *tiletest.Run) error {
	if r.Device.Kind() == device.Sim {
		return r.Skip("a simulator takes seconds for the whole table, and runs these in other forms or another type")
	}
	return p.check(r)
}

// check computes the product and compares it with float64. Small integers are exact but for the rounding to d's type.
func (p problem) check(r *tiletest.Run) error {
	ref := Reference{Form: p.form, Batch: max(p.batch, 1), M: p.m, N: p.n, K: p.k}
	ref.A, ref.B = p.numbers(r, p.t, 1, ref.Batch*p.m*p.k), p.numbers(r, p.t, 2, ref.Batch*p.k*p.n)
	ar, ac, br, bc := p.m, p.k, p.k, p.n
	if p.form.TransA() {
		ar, ac = ac, ar
	}
	if p.form.TransB() {
		br, bc = bc, br
	}
	in := Inputs{Accuracy: p.accuracy, A: p.matrix(r, tiletest.Input, p.t, ar, ac, ref.A), B: p.matrix(r, tiletest.Input, p.t, br, bc, ref.B)}
	if p.bias {
		ref.Bias = p.numbers(r, p.t, 3, p.n)
		in.Bias = r.Place(tiletest.Spec{Role: tiletest.Input, DType: p.t, Shape: []int{p.n}, Offset: p.offset, Values: ref.Bias})
	}
	if p.add || p.accumulate {
		ref.C = p.numbers(r, p.o, 4, ref.Batch*p.m*p.n)
	}
	var d device.Tensor
	if p.accumulate {
		d = p.matrix(r, tiletest.Both, p.o, p.m, p.n, ref.C)
		in.C = d
	} else {
		d = p.matrix(r, tiletest.Output, p.o, p.m, p.n, nil)
		if p.add {
			in.C = p.matrix(r, tiletest.Input, p.o, p.m, p.n, ref.C)
		}
	}
	if p.Splits > 1 {
		in.Scratch = p.scratch(r)
	}
	if err := multiply(r.Stream, p.form, in, d, p.Choice); err != nil {
		return err
	}
	want, bar := ref.Product(), p.bar()
	if !p.uniform {
		bar = 0
		for i := range want {
			want[i] = float64(p.o.Round(float32(want[i])))
		}
	}
	r.Compare("d", r.Floats(d), want, bar)
	return nil
}

// bar is the largest scale-relative error of a product of uniform numbers: half a step of the result's type, and for f32
// the rounding of sums, or of what is multiplied.
func (p problem) bar() float64 {
	switch {
	case p.o == dtype.BF16:
		return 4e-3
	case p.o == dtype.F16:
		return 5e-4
	case p.accuracy == TF32:
		return 2e-3
	case p.accuracy == TF32x3:
		return 1e-5
	}
	return 2e-6
}
