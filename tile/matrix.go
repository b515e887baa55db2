package tile

import "github.com/gotile/gotile/internal/ir"

// LoadMatrix loads a tile of 16-bit elements from a shared tile, a warp's or a warpgroup's Fragment or the Transpose of
// one, with whole-warp instructions (ldmatrix; ldmatrix.trans for a transpose): a thread gives addresses of rows, 16
// bytes each, and gets the elements that the span says. The tile may have any swizzle; its rows are multiples of 16
// bytes, and what is loaded lies inside it.
func LoadMatrix[T Number](s TensorScope, src Source[T], span Span) Reg[T] {
	b, scope := scopeOf(s)
	p := place(b, ir.LoadMatrix, src)
	if p == nil || !sameScope(b, ir.LoadMatrix, scope, span) {
		return Reg[T]{b: b}
	}
	return Reg[T]{b: b, v: b.LoadMatrix(scope, *p, span.s)}
}

// StoreMatrix stores a tile of 16-bit elements, a Fragment or the Transpose of one, to a shared tile, as LoadMatrix loads
// it (stmatrix, sm_90a and later).
func StoreMatrix[T Number](s TensorScope, dst Source[T], x Reg[T]) {
	b, scope := scopeOf(s)
	p, v := place(b, ir.StoreMatrix, dst), owned(b, ir.StoreMatrix, "the tile of StoreMatrix", x.b, x.v)
	if p == nil || v == nil {
		return
	}
	if v.Type.Span != nil && v.Type.Span.Scope != scope {
		b.Errorf(ir.StoreMatrix, ErrScope, "StoreMatrix at scope %v of a tile of scope %v; name one scope for both", scope, v.Type.Span.Scope)
		return
	}
	b.StoreMatrix(scope, *p, v)
}

// MoveMatrix is the same tile of 16-bit elements with the other spread of tensor cores over its warp: of a Fragment the
// Transpose of Fragment(cols, rows), and back. Elements move among the lanes (movmatrix). Both sides are multiples of 16.
func MoveMatrix[T Number](x Reg[T]) Reg[T] {
	if x.b == nil {
		return x
	}
	return Reg[T]{b: x.b, v: x.b.MoveMatrix(x.v)}
}
