package tile

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// Index is an i32 that all threads of a scope share: a loop variable, a dimension, an offset. Arithmetic on constants
// is done while building.
type Index struct {
	_ [0]func()
	b *ir.Builder
	v *ir.Value // nil: poisoned
}

// Int is what functions take as an index: a Go int or an Index.
type Int interface{ int | Index }

func (x Index) traced() (*ir.Builder, *ir.Value) { return x.b, x.v }

// indexOf is the value of an int or an Index.
func indexOf(b *ir.Builder, op ir.Op, what string, x any) *ir.Value {
	switch x := x.(type) {
	case int:
		return b.Int(x)
	case Index:
		return owned(b, op, what, x.b, x.v)
	}
	b.Errorf(op, ErrDType, "%s is a %T: give an int or a tile.Index", what, x)
	return nil
}

func (x Index) binary(op ir.Op, y Index) Index {
	b := x.b
	if b == nil {
		b = y.b
	}
	if b == nil {
		return Index{}
	}
	return Index{b: b, v: b.Index(op, owned(b, op, operandOf(op), x.b, x.v), owned(b, op, operandOf(op), y.b, y.v))}
}

func (x Index) binaryInt(op ir.Op, y int) Index {
	if x.b == nil {
		return x
	}
	return Index{b: x.b, v: x.b.Index(op, x.v, x.b.Int(y))}
}

func (x Index) compare(op ir.Op, y Index) Reg[Bool] { return x.Int().compare(op, y.Int()) }

func (x Index) compareInt(op ir.Op, y int) Reg[Bool] {
	if x.b == nil {
		return Reg[Bool]{}
	}
	return Reg[Bool]{b: x.b, v: x.b.Apply(op, nil, 0, x.v, x.b.Int(y))}
}

// AtMost says that a run-time dimension, which the index must be, is at most n: a launch with more is refused, or served
// by another kernel of the family. Spans that begin at 0 of a dimension say so by themselves.
func (x Index) AtMost(n int) {
	switch {
	case x.b == nil || x.v == nil:
	case x.v.Op != ir.Dim:
		x.b.Errorf(ir.Dim, ErrLimit, "AtMost of what is no run-time dimension itself; give one such as a.X.Dim(1)")
	case n < 1:
		x.b.Errorf(ir.Dim, ErrLimit, "AtMost(%d): no launch would be left; give at least 1", n)
	default:
		ir.LimitSymbol(x.v, n)
	}
}

// Float is the index as an f32 of rank 0, rounded to nearest.
func (x Index) Float() Reg[F32] {
	if x.b == nil {
		return Reg[F32]{}
	}
	return Reg[F32]{b: x.b, v: x.b.Apply(ir.Cast, nil, dtype.F32, x.v)}
}

// Int is the index as an i32 of rank 0.
func (x Index) Int() Reg[I32] { return Reg[I32]{b: x.b, v: x.v} }

// AsIndex takes an i32 of rank 0, such as a row number read from data, as an index. Nothing checks its range but the
// simulator.
func AsIndex(x Reg[I32]) Index {
	if x.v != nil && x.v.Type.Span != nil {
		x.b.Errorf(ir.Invalid, ErrShape, "AsIndex of a tile of rank %d: an index is one value; reduce it, or LoadScalar", x.Rank())
		return Index{b: x.b}
	}
	return Index{b: x.b, v: x.v}
}
