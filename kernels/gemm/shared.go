package gemm

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// sidesOf are the sides of a matrix, of rows x cols as it is multiplied, as it is given.
func sidesOf(rows, cols int, trans bool) (int, int) {
	if trans {
		return cols, rows
	}
	return rows, cols
}

// swizzle is the widest that rows of 16-bit elements have.
func swizzle(cols int) layout.Swizzle {
	const size = 2 // bytes of an element
	switch {
	case cols*size%128 == 0:
		return layout.Swizzle128
	case cols*size%64 == 0:
		return layout.Swizzle64
	}
	return layout.Swizzle32
}

// part is the part of an operand's tile that a consumer multiplies: n of its rows along m or n, whole along k. across says
// that they are columns of the tile as it is stored.
func part[T tile.Float](s func(offsets ...any) tile.View[T], first tile.Index, n, k int, across bool) tile.MatrixView[T] {
	if across {
		return s(0, first).Matrix(k, n)
	}
	return s(first, 0).Matrix(n, k)
}
