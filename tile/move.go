package tile

import "github.com/gotile/gotile/internal/ir"

// Transpose exchanges the rows and columns of a 2-D tile. Each thread keeps its values, so nothing moves; the result is
// spread in another way than x. Redistribute spreads it like another tile:
//
//	t := tile.Redistribute(x.Transpose(), x.Span()) // of a square tile
func (x Reg[T]) Transpose() Reg[T] {
	if x.b == nil {
		return x
	}
	return Reg[T]{b: x.b, v: x.b.Transpose(x.v)}
}

// Subtile is the n elements of x along an axis from start on, a multiple of n. Each thread has its part of them already,
// so nothing moves: n is at least what the threads cover of the axis at once (8 columns of a fragment, 64 rows of one of
// a warpgroup).
func (x Reg[T]) Subtile(axis, start, n int) Reg[T] {
	if x.b == nil {
		return x
	}
	return Reg[T]{b: x.b, v: x.b.Subtile(x.v, axis, start, n)}
}

// Redistribute moves the elements of x to the threads that hold them in a span of its shape and scope: by shuffles where
// they stay within a warp and few values meet, otherwise through shared memory. It records nothing where x lies so
// already. Extents stay.
func Redistribute[T Number](x Reg[T], span Span) Reg[T] {
	switch {
	case x.b == nil:
		return x
	case span.b != nil && span.b != x.b:
		x.b.Errorf(ir.Redistribute, ErrScope, "the span belongs to kernel %s: spans end with their Define; make it in this one", span.b.Kernel.Name)
		return Reg[T]{b: x.b}
	case span.b == nil:
		x.b.Errorf(ir.Redistribute, ErrScope, "the span was never assigned: it is the zero value of its type; assign it first")
		return Reg[T]{b: x.b}
	}
	return Reg[T]{b: x.b, v: x.b.Redistribute(x.v, span.s)}
}

// LoadShifted reads a 2-D tile whose rows lie rows above those that Load would read: element (i, j) is the view's at
// (i-rows, j). Rows outside the buffer are zero, so a causal convolution reads its halo with rows = 1, 2, 3 at any place
// of a sequence; rows below 0 reach ahead. The result has the extents that Load's would have.
func LoadShifted[T Number](s Scope, src Source[T], span Span, rows int) Reg[T] {
	b, scope := scopeOf(s)
	p := place(b, ir.Load, src)
	if p == nil || !sameScope(b, ir.Load, scope, span) {
		return Reg[T]{b: b}
	}
	return Reg[T]{b: b, v: b.LoadShifted(scope, *p, span.s, rows)}
}
