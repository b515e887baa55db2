package tile

import (
	"slices"

	"github.com/gotile/gotile/internal/ir"
)

// Global is an argument in global memory: a field of the Args struct, with its shape in the field's tag, such as
// `tile:"rows,n"` or `tile:"rows,128 strided"`. Define has the grammar.
type Global[T Number] struct {
	_ [0]func()
	b *ir.Builder
	a *ir.Arg // nil with b: poisoned by a mistake in the definition
}

// Scalar is an argument passed by value: a field of the Args struct, without a tag. It is an operand.
type Scalar[T Number] struct {
	_ [0]func()
	b *ir.Builder
	v *ir.Value
}

// Operand marks a Scalar as an operand.
func (s Scalar[T]) Operand(T) {}

func (s Scalar[T]) traced() (*ir.Builder, *ir.Value) { return s.b, s.v }

// Reg is the argument as a tile of rank 0.
func (s Scalar[T]) Reg() Reg[T] { return Reg[T]{b: s.b, v: s.v} }

// View is a buffer from an element on: what Load reads from and Store writes to.
type View[T Number] struct {
	_ [0]func()
	b *ir.Builder
	p *ir.Place // nil: poisoned
}

// Source is what Load and Store take: a Global, a Shared, or a View of one.
type Source[T Number] interface {
	view(T) View[T]
}

func (g Global[T]) view(T) View[T] {
	if g.a == nil { // poisoned, or never assigned
		return View[T]{b: g.b}
	}
	return View[T]{b: g.b, p: &ir.Place{Arg: g.a}}
}
func (v View[T]) view(T) View[T] { return v }

// Rank is the number of dimensions.
func (g Global[T]) Rank() int {
	if g.a == nil {
		return 0
	}
	return len(g.a.Dims)
}

// Dim is dimension i, from 0: a run-time value where the tag has a symbol, else a constant.
func (g Global[T]) Dim(i int) Index {
	if g.a == nil {
		return Index{b: g.b}
	}
	if i < 0 || i >= g.Rank() {
		g.b.Errorf(ir.Dim, ErrShape, "Dim(%d) of %s, which has %s; use Dim(%d) for the last", i, g.a.Field, ir.Count(g.Rank(), "dimension"), g.Rank()-1)
		return Index{b: g.b}
	}
	return Index{b: g.b, v: g.b.Dim(g.a.Dims[i])}
}

// Row is the view from the first element of row i on: At with one offset, and only an Index. A Store of a value of rank
// 0 to it writes one element, the row's first.
func (g Global[T]) Row(i Index) View[T] { return g.At(i) }

// At is the view from an element on: an offset (int or Index) for each leading dimension; missing ones are 0. A tile
// runs along the last dimensions, as many as it has axes, so g.At(row) of a 2-D argument holds row vectors and, for a
// 2-D tile, the rows from row on.
func (g Global[T]) At(offsets ...any) View[T] {
	var t T
	return at(g.view(t), offsets)
}

func at[T Number](v View[T], offsets []any) View[T] {
	if v.p == nil {
		return v
	}
	own := 0 // offsets that are not the author's: of a slot in its pipeline
	if v.p.Slot {
		own = 1
	}
	if n := len(v.p.Dims()) - own; len(offsets) > n {
		v.b.Errorf(ir.Invalid, ErrShape, "At with %s of %s, which has %s; give at most one each", ir.Count(len(offsets), "offset"), v.p.Name(), ir.Count(n, "dimension"))
		return View[T]{b: v.b}
	}
	p := *v.p
	p.Offs = slices.Clone(v.p.Offs[:own])
	for _, o := range offsets {
		p.Offs = append(p.Offs, indexOf(v.b, ir.Invalid, "an offset of At", o))
	}
	return View[T]{b: v.b, p: &p}
}
