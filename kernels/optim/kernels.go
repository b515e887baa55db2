// Package optim has what a training step ends with: the squared-error loss, the global norm of the gradients, and AdamW.
package optim

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/elementwise"
	"github.com/gotile/gotile/tile"
)

const (
	threads = elementwise.Threads
	chunk   = elementwise.Chunk
)

type config struct {
	name string
	t    dtype.Type
}

// KernelName says what the kernel does and the element type.
func (c config) KernelName() string { return fmt.Sprintf("%s_%v", c.name, c.t) }

// Elem is the element type.
func (c config) Elem() dtype.Type { return c.t }

type (
	squaresArgs[T tile.Float] struct {
		X    tile.Global[T]        `tile:"n"`
		Part tile.Global[tile.F32] `tile:"parts"`
	}
	clipArgs struct {
		Part  tile.Global[tile.F32] `tile:"parts"`
		Clip  tile.Global[tile.F32] `tile:"2"` // the factor, and the norm
		Limit tile.Scalar[tile.F32]
	}
	adamArgs[T tile.Float] struct {
		W, G  tile.Global[T]        `tile:"n"`
		M, V  tile.Global[tile.F32] `tile:"n"`
		Clip  tile.Global[tile.F32] `tile:"2"`
		Step  tile.Global[tile.F32] `tile:"3"` // the learning rate, and 1 - beta^step of both moments
		Beta1 tile.Scalar[tile.F32]
		Beta2 tile.Scalar[tile.F32]
		Eps   tile.Scalar[tile.F32]
		Decay tile.Scalar[tile.F32]
	}
	errorsArgs[T tile.Float] struct {
		X, Target tile.Global[T]        `tile:"n"`
		Part      tile.Global[tile.F32] `tile:"parts"`
	}
	totalArgs struct {
		Part  tile.Global[tile.F32] `tile:"parts"`
		Y     tile.Global[tile.F32] `tile:"1"`
		Scale tile.Scalar[tile.F32]
	}
	errorsBwdArgs[T tile.Float] struct {
		X, Target, DX tile.Global[T]        `tile:"n"`
		DY            tile.Global[tile.F32] `tile:"1"`
		Scale         tile.Scalar[tile.F32]
	}
)

type f32 = elementwise.F32

// parts walks over n elements with as many blocks as part has elements, each of which stores the sum of its terms: the
// same in every run.
func parts(k *tile.Builder, n tile.Index, t dtype.Type, part tile.Global[tile.F32], term func(at tile.Index, span tile.Span) f32) {
	block := k.Block()
	span := block.Striped(chunk, elementwise.Vec(t))
	for p := range tile.Persistent(k, part.Dim(0), tile.OneBlockEach()) {
		acc := tile.NewVar(block, tile.Full(block, span, tile.F32(0)))
		for i := range tile.Range(block, p.Scale(chunk), n, part.Dim(0).Scale(chunk)) {
			acc.Set(acc.Get().Add(term(i, span.Clip(n.Sub(i))).Fill(tile.F32(0), 0)))
		}
		tile.Store(block, part.At(p), acc.Get().Sum())
	}
}

func squares[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a squaresArgs[T]) {
		parts(k, a.X.Dim(0), c.t, a.Part, func(i tile.Index, span tile.Span) f32 {
			x := elementwise.Load(k.Block(), a.X.At(i), span)
			return x.Mul(x)
		})
	}, tile.Threads(threads), tile.Doc("Sums of squares, one a block."))
}

func squaredErrors[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a errorsArgs[T]) {
		parts(k, a.X.Dim(0), c.t, a.Part, func(i tile.Index, span tile.Span) f32 {
			d := elementwise.Load(k.Block(), a.X.At(i), span).Sub(elementwise.Load(k.Block(), a.Target.At(i), span))
			return d.Mul(d)
		})
	}, tile.Threads(threads), tile.Doc("Sums of squared errors, one a block."))
}

// sumOf is the sum of all parts, by one block.
func sumOf(k *tile.Builder, part tile.Global[tile.F32]) f32 {
	block := k.Block()
	span := block.Striped(threads*4, 4)
	acc := tile.NewVar(block, tile.Full(block, span, tile.F32(0)))
	for i := range tile.Range(block, 0, part.Dim(0), threads*4) {
		acc.Set(acc.Get().Add(tile.Load(block, part.At(i), span.Clip(part.Dim(0).Sub(i))).Fill(tile.F32(0), 0)))
	}
	return acc.Get().Sum()
}

func clip(c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a clipArgs) {
		block := k.Block()
		norm := sumOf(k, a.Part).Sqrt()
		tile.Store(block, a.Clip.At(0), a.Limit.Reg().Div(norm).Min(tile.F32(1))) // a norm of 0 gives infinity, and so 1
		tile.Store(block, a.Clip.At(1), norm)
	}, tile.Threads(threads), tile.Doc("The norm of all gradients, and min(1, limit/norm)."))
}

func total(c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a totalArgs) {
		tile.Store(k.Block(), a.Y.At(0), sumOf(k, a.Part).Mul(a.Scale))
	}, tile.Threads(threads), tile.Doc("The sum of the parts, times a scale."))
}

func adam[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a adamArgs[T]) {
		block := k.Block()
		span := block.Striped(chunk, elementwise.Vec(c.t))
		at := func(g tile.Global[tile.F32], i int) f32 { return tile.LoadScalar(block, g.At(i)) }
		one := func(x tile.Scalar[tile.F32]) f32 { return x.Reg().Neg().Add(tile.F32(1)) }
		rate, correct1, correct2, factor := at(a.Step, 0), at(a.Step, 1), at(a.Step, 2), at(a.Clip, 0)
		for i := range tile.Persistent(k, a.W.Dim(0), tile.Step(chunk), tile.OneBlockEach()) {
			w, g := elementwise.Load(block, a.W.At(i), span), elementwise.Load(block, a.G.At(i), span).Mul(factor)
			m := elementwise.Load(block, a.M.At(i), span).Mul(a.Beta1).Add(g.Mul(one(a.Beta1)))
			v := elementwise.Load(block, a.V.At(i), span).Mul(a.Beta2).Add(g.Mul(g).Mul(one(a.Beta2)))
			step := m.Div(correct1).Div(v.Div(correct2).Sqrt().Add(a.Eps)).Add(w.Mul(a.Decay))
			tile.Store(block, a.M.At(i), m)
			tile.Store(block, a.V.At(i), v)
			tile.Store(block, a.W.At(i), tile.Cast[T](w.Sub(step.Mul(rate))))
		}
	}, tile.Threads(threads), tile.Doc("AdamW (Loshchilov and Hutter, 2019): moments in f32, decay apart from the gradient."))
}

func squaredErrorsBwd[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a errorsBwdArgs[T]) {
		block := k.Block()
		span := block.Striped(chunk, elementwise.Vec(c.t))
		dy := tile.LoadScalar(block, a.DY.At(0)).Mul(a.Scale)
		for i := range tile.Persistent(k, a.X.Dim(0), tile.Step(chunk), tile.OneBlockEach()) {
			d := elementwise.Load(block, a.X.At(i), span).Sub(elementwise.Load(block, a.Target.At(i), span))
			tile.Store(block, a.DX.At(i), tile.Cast[T](d.Mul(dy)))
		}
	}, tile.Threads(threads), tile.Doc("The gradient of a squared error."))
}

// types are the configs of a kernel, one an element type.
func types(name string) (out []config) {
	for _, t := range elementwise.Types() {
		out = append(out, config{name, t})
	}
	return out
}

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	type (
		b = tile.BF16
		h = tile.F16
		f = tile.F32
	)
	return tile.Sets(
		tile.Configs(elementwise.ByType(squares[b], squares[h], squares[f]), types("squares")...),
		tile.Configs(elementwise.ByType(squaredErrors[b], squaredErrors[h], squaredErrors[f]), types("squared_errors")...),
		tile.Configs(elementwise.ByType(squaredErrorsBwd[b], squaredErrorsBwd[h], squaredErrorsBwd[f]), types("squared_errors_bwd")...),
		tile.Configs(elementwise.ByType(adam[b], adam[h], adam[f]), types("adamw")...),
		tile.Configs(clip, config{"clip", dtype.F32}),
		tile.Configs(total, config{"total", dtype.F32}),
	)
}
