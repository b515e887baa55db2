// Package sum has the kernels that autodiff itself launches: the sum of two gradients, and a tensor filled with one
// number, which a gradient begins with.
package sum

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/elementwise"
	"github.com/gotile/gotile/tile"
)

const threads = elementwise.Threads

type config struct {
	op string
	dt dtype.Type
}

// KernelName says what the kernel does and the element type.
func (c config) KernelName() string { return fmt.Sprintf("grad_%s_%v", c.op, c.dt) }

type addArgs[T tile.Float] struct {
	A, B, Out tile.Global[T] `tile:"n"`
}

type fillArgs[T tile.Float] struct {
	Out   tile.Global[T] `tile:"n"`
	Value tile.Scalar[tile.F32]
}

// add is out = a + b, in f32, rounded once.
func add[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a addArgs[T]) {
		block := k.Block()
		span := block.Striped(c.elems(), elementwise.Vec(c.dt))
		for i := range tile.Persistent(k, a.Out.Dim(0), tile.Step(c.elems()), tile.OneBlockEach()) {
			x, y := elementwise.Load(block, a.A.At(i), span), elementwise.Load(block, a.B.At(i), span)
			tile.Store(block, a.Out.At(i), tile.Cast[T](x.Add(y)))
		}
	}, tile.Threads(threads), tile.Doc("The sum of two gradients, in f32, rounded once. The output may be one of them."))
}

// fill is out = value.
func fill[T tile.Float](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a fillArgs[T]) {
		block := k.Block()
		span := block.Striped(c.elems(), elementwise.Vec(c.dt))
		for i := range tile.Persistent(k, a.Out.Dim(0), tile.Step(c.elems()), tile.OneBlockEach()) {
			tile.Store(block, a.Out.At(i), tile.Cast[T](tile.Full[tile.F32](block, span, a.Value)))
		}
	}, tile.Threads(threads), tile.Doc("A tensor of one number."))
}

// Elem is the element type.
func (c config) Elem() dtype.Type { return c.dt }

// elems is how many elements a block moves: a vector a thread.
func (c config) elems() int { return threads * elementwise.Vec(c.dt) }

// configs are one a type.
func configs(op string) (out []config) {
	for _, t := range elementwise.Types() {
		out = append(out, config{op, t})
	}
	return out
}

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	return tile.Sets(
		tile.Configs(elementwise.ByType(add[tile.BF16], add[tile.F16], add[tile.F32]), configs("add")...),
		tile.Configs(elementwise.ByType(fill[tile.BF16], fill[tile.F16], fill[tile.F32]), configs("fill")...),
	)
}
