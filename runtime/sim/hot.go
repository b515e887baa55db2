package sim

import (
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// The ops that kernels spend their time in get loops without a call a lane: 0.4 to 1.5 ns instead of 3 to 4. A test
// compares each with its scalar form, which stays the definition. Those of integers are in hotint.go.

// hot gives an op on operands of type t with a result of type r a loop of its own.
func hot(op ir.Op, t, r dtype.Type, v func(d, a, b, c *lanes)) {
	s := sig{t, r}
	f, ok := ops[op].by[s]
	if !ok {
		panic("sim: loop for a missing op " + op.String())
	}
	ops[op].by[s] = f.with(v)
}

func init() {
	const F, I = dtype.F32, dtype.I32
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
	hot(ir.Fma, F, F, fmaLoop)
	hot(ir.Min, F, F, minLoop)
	hot(ir.Max, F, F, maxLoop)
	hot(ir.Neg, F, F, func(d, a, _, _ *lanes) {
		for l := range d {
			d[l] = fbits(-float(a[l]))
		}
	})
	hot(ir.Abs, F, F, func(d, a, _, _ *lanes) {
		for l := range d {
			d[l] = fbits(float(a[l] &^ (1 << 31)))
		}
	})
	hot(ir.Sqrt, F, F, func(d, a, _, _ *lanes) {
		for l := range d {
			d[l] = fbits(float32(math.Sqrt(float64(float(a[l])))))
		}
	})
	hot(ir.Rsqrt, F, F, func(d, a, _, _ *lanes) {
		for l := range d {
			d[l] = fbits(float32(rsqrt64(float64(float(a[l])))))
		}
	})
	for _, op := range []ir.Op{ir.Exp, ir.ExpApprox} {
		hot(op, F, F, func(d, a, _, _ *lanes) {
			for l := range d {
				d[l] = fbits(float32(math.Exp(float64(float(a[l])))))
			}
		})
	}
	hot(ir.Cast, I, F, func(d, a, _, _ *lanes) {
		for l := range d {
			d[l] = fbits(float32(int32(a[l])))
		}
	})
	compareLoops[float32](F)
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

// fmaLoop rounds twice where that is known to be right and leaves the rest to fma32. The operands are read again there:
// then the conversions can work in place, and x86's, which keep half of the register they write, do not wait for the
// lane before.
func fmaLoop(d, a, b, c *lanes) {
	_, _, _, _ = *d, *a, *b, *c // so that nil is not checked for each lane
	for l := range d {
		p := float64(float64(float(a[l])) * float64(float(b[l]))) // exact; the conversion keeps Go from fusing it
		if s := p + float64(float(c[l])); !doubtful(s) {
			d[l] = fbits(float32(s))
		} else {
			d[l] = fbits(fma32(float(a[l]), float(b[l]), float(c[l])))
		}
	}
}

// minLoop and maxLoop compare the bits: they are ordered like the floats, -0 before +0, once those of negative numbers
// are turned around.
func minLoop(d, a, b, _ *lanes) {
	for l := range d {
		if x, y := uint32(a[l]), uint32(b[l]); isNaN(x) || isNaN(y) {
			d[l] = fbits(min32(float(a[l]), float(b[l])))
		} else {
			d[l] = uint64(unordered(min(ordered(x), ordered(y))))
		}
	}
}

func maxLoop(d, a, b, _ *lanes) {
	for l := range d {
		if x, y := uint32(a[l]), uint32(b[l]); isNaN(x) || isNaN(y) {
			d[l] = fbits(max32(float(a[l]), float(b[l])))
		} else {
			d[l] = uint64(unordered(max(ordered(x), ordered(y))))
		}
	}
}
