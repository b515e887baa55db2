package tile

import (
	"slices"

	"github.com/gotile/gotile/internal/ir"
)

// matrixPart is the view of the elements of a buffer from some rows and columns further on, along its last two dimensions.
func matrixPart[T Number, R, C Int](b *ir.Builder, src Source[T], row R, col C) View[T] {
	p := place(b, ir.Load, src)
	if p == nil {
		return View[T]{b: b}
	}
	dims := len(p.Dims())
	if dims < 2 {
		b.Errorf(ir.Load, ErrShape, "a matrix of %s, which has %s; give a buffer of two dimensions or more", p.Name(), ir.Count(dims, "dimension"))
		return View[T]{b: b}
	}
	q := *p
	q.Offs = slices.Clone(p.Offs)
	for len(q.Offs) < dims {
		q.Offs = append(q.Offs, b.Int(0))
	}
	for i, by := range []any{row, col} {
		at := &q.Offs[dims-2+i]
		if *at = b.Index(ir.Add, *at, indexOf(b, ir.Load, "an offset", by)); *at == nil {
			return View[T]{b: b}
		}
	}
	return View[T]{b: b, p: &q}
}
