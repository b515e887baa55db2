package plan

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/layout"
)

// place is the address of an element of a shared tile, by the coordinates of all its dimensions. The swizzle permutes
// offsets in the tile, which itself begins at a multiple of what it repeats after.
func (a *access) place(at []thr.Expr) thr.Expr {
	offset := a.offset(at)
	if sw := a.Shared.Swizzle; sw.Bits() > 0 {
		offset = swizzled(sw, offset)
	}
	return address(a.shared, offset)
}

// offset is how many bytes of the tile lie before an element, but for the swizzle.
func (a *access) offset(at []thr.Expr) thr.Expr {
	var linear thr.Expr = i32(0)
	for d, n := range at {
		linear = add(linear, a.step(d, n))
	}
	return mul(linear, i32(a.dt.Size()))
}

// step is how many elements of a shared tile n steps along a dimension skip. The last one may be cut into panels.
func (a *access) step(dim int, n thr.Expr) thr.Expr {
	cols := a.Shared.PanelCols()
	if dim < len(a.Shared.Shape)-1 || a.Shared.Shape[dim] == cols {
		return mul(n, i32(a.rowElems(dim)))
	}
	panels, col := a.split(n)
	return add(col, panels)
}

// split is a column as the elements of the panels before that which has it, and the column in that.
func (a *access) split(n thr.Expr) (panels, col thr.Expr) {
	cols := a.Shared.PanelCols()
	if a.Shared.Shape[len(a.Shared.Shape)-1] == cols {
		return i32(0), n
	}
	if v, ok := intOf(n); ok {
		return i32(v / cols * a.panelElems()), i32(v % cols)
	}
	shift := 0 // a panel's width is a power of two
	for 1<<shift < cols {
		shift++
	}
	return mul(bin(ir.Shr, n, i32(shift)), i32(a.panelElems())), bin(ir.And, n, i32(cols-1))
}

// panelElems is the size of a panel of a shared tile: all rows of its columns.
func (a *access) panelElems() int {
	rows := 1
	if last := len(a.Shared.Shape) - 1; last > 0 {
		rows = a.Shared.Shape[last-1]
	}
	return rows * a.Shared.PanelCols()
}

// swizzled is an offset with its 16-byte chunk exchanged for that of a swizzle of tensor copies.
func swizzled(sw layout.Swizzle, offset thr.Expr) thr.Expr {
	if v, ok := intOf(offset); ok {
		return i32(sw.Apply(v))
	}
	return call(thr.Swizzle, dtype.I32, offset, i32(1<<sw.Bits()-1))
}

// rowElems is how many elements of a shared tile one step along a dimension skips; of the last one within a panel.
func (a *access) rowElems(dim int) int {
	stride := a.Shared.Layout().Modes()[dim].Stride()
	if parts := stride.Parts(); len(parts) > 0 {
		stride = parts[0]
	}
	n, _ := stride.Int()
	return n
}
