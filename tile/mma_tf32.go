package tile

import "github.com/gotile/gotile/internal/ir"

// Accuracy says how MMA multiplies f32, which tensor cores do not: as tf32, which has the exponents of f32 and 10 bits of
// fraction, rounded to nearest. MMA of f32 names one.
type Accuracy uint8

const (
	// TF32 is one product of rounded operands: errors are up to some 1e-3 of the largest element of the result.
	TF32 Accuracy = 1
	// TF32x3 is three products, of each element rounded and of what rounding left: errors are below 1e-5, for three times
	// the work (3xTF32). Infinities, and numbers that round to one, from 2047/1024 * 2^127 on, give NaN: what rounding left
	// of them is no number.
	TF32x3 Accuracy = 3
	// TF32Cut is one product of operands as they are, by a warpgroup: numbers that RoundTF32 has made, or of others what is
	// left without the lower 13 bits. Nothing is copied: B lies in shared memory with rows along k, and so does A, or it is
	// in registers.
	TF32Cut Accuracy = ir.TF32Cut
)

func (a Accuracy) mmaOption(o *mmaOptions) { o.terms = int(a) }
