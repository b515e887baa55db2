package sim

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// The ops that kernels spend their time in get loops without a call a lane: 0.5 to 1 ns instead of 2. A test compares
// each with its scalar form, which stays the definition.
func init() {
	const F, I, U, Q, B = dtype.F32, dtype.I32, dtype.U32, dtype.I64, dtype.Bool
	hot := func(op ir.Op, t, r dtype.Type, v func(d, a, b, c *lanes)) {
		s := sig{t, r}
		f, ok := ops[op].by[s]
		if !ok {
			panic("sim: loop for a missing op " + op.String())
		}
		ops[op].by[s] = f.with(v)
	}
	hot(ir.Add, F, F, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = fbits(float(a[l]) + float(b[l]))
		}
	})
	hot(ir.Sub, F, F, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = fbits(float(a[l]) - float(b[l]))
		}
	})
	hot(ir.Mul, F, F, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = fbits(float32(float(a[l]) * float(b[l])))
		}
	})
	hot(ir.Div, F, F, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = fbits(float(a[l]) / float(b[l]))
		}
	})
	hot(ir.Fma, F, F, func(d, a, b, c *lanes) {
		for l := range d {
			d[l] = fbits(fma32(float(a[l]), float(b[l]), float(c[l])))
		}
	})
	hot(ir.Min, F, F, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = fbits(min32(float(a[l]), float(b[l])))
		}
	})
	hot(ir.Max, F, F, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = fbits(max32(float(a[l]), float(b[l])))
		}
	})
	for _, t := range []dtype.Type{I, U} { // addition and multiplication do not know signs
		hot(ir.Add, t, t, func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = uint64(uint32(a[l] + b[l]))
			}
		})
		hot(ir.Sub, t, t, func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = uint64(uint32(a[l] - b[l]))
			}
		})
		hot(ir.Mul, t, t, func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = uint64(uint32(a[l] * b[l]))
			}
		})
	}
	hot(ir.Add, Q, Q, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = a[l] + b[l]
		}
	})
	hot(ir.Mul, Q, Q, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = a[l] * b[l]
		}
	})
	for _, t := range []dtype.Type{I, U, Q, B} {
		hot(ir.And, t, t, func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = a[l] & b[l]
			}
		})
		hot(ir.Or, t, t, func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = a[l] | b[l]
			}
		})
		hot(ir.Xor, t, t, func(d, a, b, _ *lanes) {
			for l := range d {
				d[l] = a[l] ^ b[l]
			}
		})
	}
	hot(ir.Shl, U, U, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = uint64(uint32(a[l]) << (b[l] & 31))
		}
	})
	hot(ir.Shr, U, U, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = uint64(uint32(a[l]) >> (b[l] & 31))
		}
	})
	hot(ir.Lt, I, B, func(d, a, b, _ *lanes) {
		for l := range d {
			d[l] = put(int32(a[l]) < int32(b[l]))
		}
	})
	hot(ir.Cast, I, Q, func(d, a, _, _ *lanes) {
		for l := range d {
			d[l] = uint64(int32(a[l]))
		}
	})
	for _, t := range registerTypes {
		hot(ir.Select, t, t, func(d, c, a, b *lanes) {
			for l := range d {
				x := b[l] // d may be any of the operands
				if c[l] != 0 {
					x = a[l]
				}
				d[l] = x
			}
		})
	}
}
