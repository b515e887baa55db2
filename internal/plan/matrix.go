package plan

import (
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// Matrices of 8x8 16-bit elements, of which ldmatrix, stmatrix and mma.sync take some at once. A fragment is blocks of
// 16x16 or 16x8 elements; within one, bit 0 of a register's number is the lower half of the rows, bit 1 the right half
// of the columns.

// matrixBlock says where the matrices of one instruction lie in a fragment: what each bit of a matrix's number moves.
type matrixBlock struct{ rows, cols [2]int }

var (
	block16x16 = matrixBlock{rows: [2]int{8, 0}, cols: [2]int{0, 8}} // four matrices
	blockPairs = matrixBlock{rows: [2]int{0, 8}, cols: [2]int{8, 0}} // the same four, those beside one another first
	block16x8  = matrixBlock{rows: [2]int{8, 0}}                     // two, one below the other
	block8x16  = matrixBlock{cols: [2]int{8, 0}}                     // two, side by side
	block8x8   = matrixBlock{}                                       // one
)

// lanes are the row and the column, in the shared tile, of the address that a lane gives: of row lane%8 of matrix lane/8.
// Of a transposed fragment rows of the tile are columns of the fragment. Elements of 8 bits are moved two by two.
func (m matrixBlock) lanes(l *lowering, trans bool, size int) (row, col thr.Expr) {
	lane := call(thr.Lane, dtype.I32)
	bit := func(i int) thr.Expr { return bin(ir.And, bin(ir.Shr, lane, i32(3+i)), i32(1)) }
	rows, cols := m.rows, m.cols
	if trans {
		rows, cols = cols, rows
	}
	for i := range cols {
		cols[i] = cols[i] * 2 / size
	}
	row, col = bin(ir.And, lane, i32(7)), i32(0)
	for i := range 2 {
		row, col = add(row, mul(bit(i), i32(rows[i]))), add(col, mul(bit(i), i32(cols[i])))
	}
	row = l.atTop("matrix_row", row)
	if !isInt(col, 0) {
		col = l.atTop("matrix_col", col)
	}
	return row, col
}

// matrixAccess is an access of matrices in rows x cols of a shared tile, of a fragment or of the transpose of one.
type matrixAccess struct {
	*access
	trans bool
}

func (l *lowering) openMatrix(tile *ir.SharedTile, s ir.Scope, rows, cols int, trans bool, offsets []*ir.Value) *matrixAccess {
	box := &ir.Span{Scope: s, Dist: &layout.Dist{Shape: []int{rows, cols}}}
	a := l.openAccess(&ir.Access{Shared: tile}, s, tile.DT, box, offsets)
	if last := len(a.at) - 1; !l.flow.isMultiple(a.at[last], 16/tile.DT.Size()) {
		l.fail(l.cur.Pos, "%s at a column of %s that is not known to be a multiple of %d: a row of a matrix is 16 bytes, at a multiple of 16; use a constant, or the variable of a loop with such a step",
			ir.Table[l.cur.Op].Go, a.label(), 16/tile.DT.Size())
	}
	return &matrixAccess{a, trans}
}

// move emits a load or a store of the block of matrices at row and column of the fragment.
func (a *matrixAccess) move(fn thr.Fn, frag thr.Frag, b matrixBlock, row, col thr.Expr) {
	l := a.l
	if a.trans {
		fn++ // the form with .trans
		row, col = col, row
	}
	r, c := b.lanes(l, a.trans, a.dt.Size())
	at := slices.Clone(a.offsets)
	at[a.first], at[a.first+1] = add(at[a.first], row), add(at[a.first+1], add(col, c))
	l.emit(thr.Do{At: l.at(), Fn: fn, Args: []thr.Expr{a.placeIn(at, r)}, Frags: []thr.Frag{frag}, Buf: a.shared, Scope: a.Scope})
}

// placeIn is the address of the row with number r from a block's place on. What lies before the block in whole periods of
// the swizzle, 8 rows, is added behind the swizzle: the rest is the same in all blocks below one another and in all slots,
// so it is computed once.
func (a *matrixAccess) placeIn(at []thr.Expr, r thr.Expr) thr.Expr {
	sw, tile := a.Shared.Swizzle, a.Shared
	rows := tile.Shape[len(tile.Shape)-2]
	if sw.Bits() == 0 || rows%8 != 0 || !a.l.flow.isMultiple(a.at[len(a.at)-2], 8) {
		at[a.first] = add(at[a.first], r)
		return a.place(at)
	}
	var before thr.Expr = i32(0)
	for d := range a.first + 1 {
		before = add(before, a.step(d, at[d]))
	}
	panels, col := a.split(at[a.first+1])
	size := i32(a.dt.Size())
	within := mul(add(a.step(a.first, r), col), size)
	return address(a.shared, add(mul(add(before, panels), size), swizzled(sw, within)))
}

// warpRow is the first row of a warp in each 16*warps rows of a fragment; 0 for that of a warp.
func (l *lowering) warpRow(s *ir.Span) thr.Expr {
	if s.Scope != ir.ScopeGroup {
		return i32(0)
	}
	return l.atTop("warp_row", mul(l.threadDigit(&ir.Span{Scope: s.Scope, Dist: layout.Striped(32*ir.WarpgroupWarps, 32*ir.WarpgroupWarps, 1)}, 32, ir.WarpgroupWarps), i32(16)))
}

// matrices visits the blocks of a fragment over warps: f gets the first register, their number, the block and its place.
func (l *lowering) matrices(s *ir.Span, rows, cols, warps int, f func(frag func(*thr.Local) thr.Frag, b matrixBlock, row, col thr.Expr)) {
	below := l.warpRow(s)
	l.unrolled(rows/(16*warps), func(i thr.Expr) {
		row := add(mul(i, i32(16*warps)), below)
		first := mul(i, i32(cols/4))
		at := func(first thr.Expr, n int) func(*thr.Local) thr.Frag {
			return func(x *thr.Local) thr.Frag { return thr.Frag{Local: x, First: first, N: n, Step: 1} }
		}
		if cols >= 16 {
			l.unrolled(cols/16, func(j thr.Expr) { f(at(add(first, mul(j, i32(4))), 4), block16x16, row, mul(j, i32(16))) })
		}
		if cols%16 != 0 {
			f(at(add(first, i32(cols/16*4)), 2), block16x8, row, i32(cols/16*16))
		}
	})
}

// fragmentOf is the shape of a tile's fragment, as it is or transposed, and over how many warps it is.
func fragmentOf(s *ir.Span) (rows, cols, warps int, trans bool) {
	rows, cols, trans = s.Dist.Shape[0], s.Dist.Shape[1], !s.IsFragment()
	if trans {
		rows, cols = cols, rows
	}
	return rows, cols, s.Dist.Threads() / 32, trans
}

// loadMatrix lowers a load of a fragment.
func (l *lowering) loadMatrix(v *ir.Value) {
	s := v.Type.Span
	rows, cols, warps, trans := fragmentOf(s)
	a := l.openMatrix(v.Attr.(*ir.Access).Shared, v.Scope, s.Dist.Shape[0], s.Dist.Shape[1], trans, v.Args)
	l.comment("load %s", a.label())
	x := l.tileArray(v)
	l.tiles[v] = x
	l.matrices(s, rows, cols, warps, func(frag func(*thr.Local) thr.Frag, b matrixBlock, row, col thr.Expr) {
		a.move(thr.LdMatrix, frag(x), b, row, col)
	})
}

// storeMatrix lowers a store of a fragment.
func (l *lowering) storeMatrix(v *ir.Value) {
	src := l.flow.canonical(v.Args[0])
	l.materialise(src)
	l.cur = v
	s := src.Type.Span
	rows, cols, warps, trans := fragmentOf(s)
	a := l.openMatrix(v.Attr.(*ir.Access).Shared, v.Scope, s.Dist.Shape[0], s.Dist.Shape[1], trans, v.Args[1:])
	l.comment("store %s", a.label())
	l.matrices(s, rows, cols, warps, func(frag func(*thr.Local) thr.Frag, b matrixBlock, row, col thr.Expr) {
		a.move(thr.StMatrix, frag(l.tiles[src]), b, row, col)
	})
}

// moveMatrix lowers the change between a fragment and the transpose of one: matrix (i, j) of both is the same.
func (l *lowering) moveMatrix(v *ir.Value) {
	src := l.flow.canonical(v.Args[0])
	l.materialise(src)
	l.cur = v
	shape := v.Type.Span.Dist.Shape
	x, y := l.tiles[src], l.tileArray(v)
	l.tiles[v] = y
	// The register of matrix (i, j) in a fragment with so many matrices a row, and in the transpose of one.
	register := func(i, j thr.Expr, cols int) thr.Expr {
		return add(mul(add(mul(div(i, 2), i32(cols)), j), i32(2)), rem(i, 2))
	}
	l.unrolled(shape[0]/8, func(i thr.Expr) {
		l.unrolled(shape[1]/8, func(j thr.Expr) {
			from, to := register(i, j, shape[1]/8), register(j, i, shape[0]/8)
			if v.Type.Span.IsFragment() {
				from, to = to, from
			}
			l.emit(thr.Assign{At: l.at(), Dst: at(y, to), Src: call(thr.MovMatrix, dtype.U32, at(x, from))})
		})
	})
}
