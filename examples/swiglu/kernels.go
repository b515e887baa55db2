// Package swiglu is a differentiable op to start from: y = silu(a)*b with silu(a) = a/(1+e^-a), in bf16, fused forward
// and backward (Shazeer, GLU Variants Improve Transformer, 2020).
package swiglu

import "github.com/gotile/gotile/tile"

//go:generate go run github.com/gotile/gotile/cmd/gotile gen

type kernel string

// KernelName is what the CUDA is called.
func (k kernel) KernelName() string { return string(k) }

// Kernels lists the committed kernels.
func Kernels() tile.Set {
	return tile.Sets(tile.Configs(forward, kernel("swiglu_fwd")), tile.Configs(backward, kernel("swiglu_bwd")))
}

type forwardArgs struct {
	A, B, Y tile.Global[tile.BF16] `tile:"n"`
}

func forward(name kernel) (*tile.Kernel, error) {
	return tile.Define(string(name), func(k *tile.Builder, g forwardArgs) {
		span := k.Block().Striped(2048, 8) // 8 elements, 16 bytes, a thread
		for i := range tile.Persistent(k, g.Y.Dim(0), tile.Step(2048)) {
			a, b := load(k, g.A.At(i), span), load(k, g.B.At(i), span)
			tile.Store(k, g.Y.At(i), tile.Cast[tile.BF16](a.Silu().Mul(b)))
		}
	})
}

type backwardArgs struct {
	A, B, DY, DA, DB tile.Global[tile.BF16] `tile:"n"`
}

func backward(name kernel) (*tile.Kernel, error) {
	return tile.Define(string(name), func(k *tile.Builder, g backwardArgs) {
		span := k.Block().Striped(2048, 8)
		for i := range tile.Persistent(k, g.DY.Dim(0), tile.Step(2048)) {
			a, b, dy := load(k, g.A.At(i), span), load(k, g.B.At(i), span), load(k, g.DY.At(i), span)
			s := a.Sigmoid()
			slope := s.Mul(a.Mul(s.Neg().Add(tile.F32(1))).Add(tile.F32(1))) // of silu: s*(1 + a*(1-s))
			tile.Store(k, g.DA.At(i), tile.Cast[tile.BF16](dy.Mul(b).Mul(slope)))
			tile.Store(k, g.DB.At(i), tile.Cast[tile.BF16](dy.Mul(a.Mul(s))))
		}
	})
}

func load(k *tile.Builder, at tile.Source[tile.BF16], span tile.Span) tile.Reg[tile.F32] {
	return tile.Cast[tile.F32](tile.Load(k, at, span))
}
