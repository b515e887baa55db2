// Package elementwise has what kernels over whole tensors share: of elements in bf16, f16 or f32, computed in f32, one
// kernel a type.
package elementwise

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/tile"
)

// F32 is the value of one f32 an element, in which the kernels compute.
type F32 = tile.Reg[tile.F32]

// The shape of a block.
const (
	Threads = 256
	Chunk   = Threads * 8 // elements that a block holds of each tensor: 16 bytes a thread in 16-bit types, 32 in f32
)

// Types are the element types.
func Types() []dtype.Type { return []dtype.Type{dtype.BF16, dtype.F16, dtype.F32} }

// Vec is the elements of a vector of 16 bytes.
func Vec(t dtype.Type) int { return 16 / t.Size() }

// Load reads a stripe of a tensor in f32.
func Load[T tile.Float](s tile.Scope, at tile.Source[T], span tile.Span) F32 {
	return tile.Cast[tile.F32](tile.Load(s, at, span))
}

// Config is one compiled kernel, of one element type.
type Config interface {
	KernelName() string
	Elem() dtype.Type
}

// ByType is the builder of the kernels that differ in the element type, from a builder for each.
func ByType[C Config](bf16, f16, f32 func(C) (*tile.Kernel, error)) func(C) (*tile.Kernel, error) {
	return func(c C) (*tile.Kernel, error) {
		switch c.Elem() {
		case dtype.BF16:
			return bf16(c)
		case dtype.F16:
			return f16(c)
		}
		return f32(c)
	}
}
