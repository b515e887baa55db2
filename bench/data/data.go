// Package data fills tensors on the device with the numbers that benchmarks use. They depend on a seed and the
// element's index alone, so every contender makes the same ones, bit for bit, and so does the host.
package data

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

type config struct{ dt dtype.Type }

// KernelName says the element type.
func (c config) KernelName() string { return fmt.Sprintf("uniform_%v", c.dt) }

type uniformArgs[T tile.Float] struct {
	X    tile.Global[T] `tile:"n"`
	Seed tile.Scalar[tile.I64]
}

const (
	capacity = 2048 // elements of an iteration
	threads  = 256
)

// uniform is tiletest.UniformAt in the DSL: the top bits of splitmix64(seed, index), as many as T's significand has,
// scaled to [-1, 1). Integers wrap; every step to a float is exact.
func uniform[T tile.Float](c config) (*tile.Kernel, error) {
	bits := map[dtype.Type]int{dtype.BF16: 8, dtype.F16: 11, dtype.F32: 24}[c.dt]
	half := float64(int(1) << (bits - 1))
	return tile.Define(c.KernelName(), func(k *tile.Builder, a uniformArgs[T]) {
		block := k.Block()
		span := block.Striped(capacity, 16/c.dt.Size())
		for i := range tile.Persistent(k, a.X.Dim(0), tile.Step(capacity)) {
			index := tile.Cast[tile.I64](tile.Coord(span, 0)).Add(tile.Cast[tile.I64](i.Int()))
			z := index.Add(tile.I64(1)).Mul(golden).Add(a.Seed)
			z = z.Xor(shr(z, 30)).Mul(mix1)
			z = z.Xor(shr(z, 27)).Mul(mix2)
			z = z.Xor(shr(z, 31))
			f := tile.Cast[tile.F32](shr(z, 64-bits)).Sub(tile.F32(half)).Mul(tile.F32(1 / half))
			tile.Store(block, a.X.At(i), tile.Cast[T](f))
		}
	}, tile.Threads(threads), tile.Doc("Uniform numbers in [-1, 1): the top bits of splitmix64 of seed and index."))
}

// The constants of splitmix64, as signed words.
const (
	golden tile.I64 = 0x9e3779b97f4a7c15 - 1<<64
	mix1   tile.I64 = 0xbf58476d1ce4e5b9 - 1<<64
	mix2   tile.I64 = 0x94d049bb133111eb - 1<<64
)

// shr shifts zeros in; the op repeats the sign.
func shr(z tile.Reg[tile.I64], n int) tile.Reg[tile.I64] {
	return z.Shr(tile.I64(n)).And(tile.I64(1<<(64-n) - 1))
}

func build(c config) (*tile.Kernel, error) {
	switch c.dt {
	case dtype.BF16:
		return uniform[tile.BF16](c)
	case dtype.F16:
		return uniform[tile.F16](c)
	}
	return uniform[tile.F32](c)
}

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	return tile.Configs(build, config{dtype.BF16}, config{dtype.F16}, config{dtype.F32})
}
