//go:build !gotilegen

package optest

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// Changes of recorded kernels, in place.

// eachRegion visits all regions of a kernel.
func eachRegion(r *ir.Region, f func(r *ir.Region)) {
	if r == nil {
		return
	}
	f(r)
	for _, v := range r.Ops {
		for _, in := range v.Regions {
			eachRegion(in, f)
		}
	}
}

// eachOp visits the ops of all regions in program order.
func eachOp(k *ir.Kernel, f func(v *ir.Value)) {
	eachRegion(k.Body, func(r *ir.Region) {
		for _, v := range slices.Clone(r.Ops) {
			f(v)
		}
	})
}

// every changes each op of one kind; change returns nil where it does not fit.
func every(op ir.Op, change func(k *ir.Kernel, v *ir.Value) undo) func(k *ir.Kernel) undo {
	return func(k *ir.Kernel) (u undo) {
		eachOp(k, func(v *ir.Value) {
			if v.Op == op {
				u = append(u, change(k, v)...)
			}
		})
		return u
	}
}

// becomes makes an op another one of the same operands, where that has their type.
func becomes(op, other ir.Op) func(k *ir.Kernel) undo {
	return every(op, func(_ *ir.Kernel, v *ir.Value) undo {
		if len(v.Args) > 0 && !ir.Table[other].Domain.Has(v.Args[0].Type.DT) {
			return nil
		}
		return set(&v.Op, other)
	})
}

// operand replaces operand i of each op of one kind; by returns nil where it does not fit.
func operand(op ir.Op, i func(v *ir.Value) int, by func(v, old *ir.Value) *ir.Value) func(k *ir.Kernel) undo {
	return every(op, func(_ *ir.Kernel, v *ir.Value) undo {
		if x := by(v, v.Args[i(v)]); x != nil {
			return set(&v.Args[i(v)], x)
		}
		return nil
	})
}

func at(i int) func(*ir.Value) int { return func(*ir.Value) int { return i } }

// users replaces, in elementwise ops, shapes, variables and stored values, the operands that are op.
func users(op ir.Op, by func(old *ir.Value) *ir.Value) func(k *ir.Kernel) undo {
	return func(k *ir.Kernel) (u undo) {
		eachOp(k, func(v *ir.Value) {
			n := len(v.Args)
			switch class := ir.Table[v.Op].Class; {
			case v.Op == ir.Store:
				n = 1
			case class == ir.Memory || class == ir.Control:
				n = 0
			}
			for i, a := range v.Args[:n] {
				if a.Op == op {
					u = append(u, set(&v.Args[i], by(a))...)
				}
			}
		})
		return u
	}
}

// replaced puts a value in the place of another one everywhere.
func replaced(k *ir.Kernel, old, by *ir.Value) (u undo) {
	eachRegion(k.Body, func(r *ir.Region) {
		if r.Yield == old {
			u = append(u, set(&r.Yield, by)...)
		}
		for _, v := range r.Ops {
			for i, a := range v.Args {
				if a == old {
					u = append(u, set(&v.Args[i], by)...)
				}
			}
		}
	})
	return u
}

// set assigns until it is undone.
func set[T any](p *T, x T) undo {
	old := *p
	*p = x
	return undo{func() { *p = old }}
}

// number is a constant 0 or 1.
func number(t dtype.Type, n int) *ir.Value {
	one := map[dtype.Type]ir.Bits{dtype.F32: 0x3f800000, dtype.BF16: 0x3f80, dtype.F16: 0x3c00}
	bits := ir.Bits(n)
	if b, ok := one[t]; ok && n == 1 {
		bits = b
	}
	return constant(t, bits)
}

func constant(t dtype.Type, bits ir.Bits) *ir.Value {
	return &ir.Value{ID: -1, Op: ir.Const, Type: ir.Type{DT: t}, Attr: bits, Scope: ir.ScopeCluster}
}

// another is a constant of rank 0 that a value is not.
func another(v *ir.Value) *ir.Value {
	if v.Op == ir.Const && v.Attr.(ir.Bits) == 0 {
		return number(v.Type.DT, 1)
	}
	return number(v.Type.DT, 0)
}
