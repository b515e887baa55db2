package tile

import "github.com/gotile/gotile/internal/ir"

// Map computes a tile from the coordinates and the values of a 2-D tile: f is called once, with the rows, the columns
// and x, all tiles of x's span. Rows and columns count from the tile's first element; add what the tile's place adds.
//
//	alibi := tile.Map(s, func(row, col tile.Reg[tile.I32], v tile.Reg[tile.F32]) tile.Reg[tile.F32] {
//		return v.Sub(tile.Cast[tile.F32](row.Sub(col)).Mul(slope))
//	})
func Map[D, S Elem](x Reg[S], f func(row, col Reg[I32], v Reg[S]) Reg[D]) Reg[D] {
	row, col, ok := coords(x, "Map")
	if !ok {
		return Reg[D]{b: x.b}
	}
	if f == nil {
		x.b.Errorf(ir.Coord, ErrControl, "Map with a nil function; give one of rows, columns and values")
		return Reg[D]{b: x.b}
	}
	return f(row, col, x)
}

// coords are the coordinates of a 2-D tile.
func coords[T Elem](x Reg[T], what string) (row, col Reg[I32], ok bool) {
	switch {
	case x.v == nil:
		return row, col, false
	case x.Rank() != 2:
		x.b.Errorf(ir.Coord, ErrShape, "%s of a tile of rank %d: it has no rows and columns; use tile.Coord, or give a tile of rank 2", what, x.Rank())
		return row, col, false
	}
	s := Span{b: x.b, s: x.v.Type.Span}
	return Coord(s, 0), Coord(s, 1), true
}

// Mask keeps the elements of x for which keep holds, and puts fill in the place of the others: 0 before a product, the
// identity of a maximum before a softmax.
func Mask[T Elem](x Reg[T], keep Reg[Bool], fill Operand[T]) Reg[T] { return Select(keep, x, fill) }

// Causal keeps the elements of x on and below a diagonal, col <= row + shift, and puts fill in the place of the others.
// shift, an int or an Index, is how much further the tile's first row is in its sequence than its first column.
func Causal[T Elem, I Int](x Reg[T], shift I, fill Operand[T]) Reg[T] {
	return diagonal(x, "Causal", shift, fill, Reg[I32].Le)
}

// CausalStrict keeps the elements of x below a diagonal, col < row + shift, and puts fill in the place of the others.
func CausalStrict[T Elem, I Int](x Reg[T], shift I, fill Operand[T]) Reg[T] {
	return diagonal(x, "CausalStrict", shift, fill, Reg[I32].Lt)
}

func diagonal[T Elem, I Int](x Reg[T], what string, shift I, fill Operand[T], keep func(col Reg[I32], row Operand[I32]) Reg[Bool]) Reg[T] {
	row, col, ok := coords(x, what)
	if !ok {
		return Reg[T]{b: x.b}
	}
	by := indexOf(x.b, ir.Coord, "the shift of "+what, shift)
	if by == nil {
		return Reg[T]{b: x.b}
	}
	if n, ok := any(shift).(int); !ok || n != 0 {
		row = row.Add(Reg[I32]{b: x.b, v: by})
	}
	return Select(keep(col, row), x, fill)
}
