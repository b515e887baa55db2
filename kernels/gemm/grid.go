package gemm

import "github.com/gotile/gotile/tile"

// grid deals the tiles of products to the blocks.
type grid struct {
	m, n, k             tile.Index
	splits              tile.Index // parts of k
	tileM, tileN, tileK int        // of a block's tile, and of a step along k
	height              int        // of a super-row
}

// up is n in pieces of so many, rounded up.
func up(n tile.Index, size int) tile.Index { return n.AddInt(size - 1).DivInt(size) }

// tiles is the number of tiles of a part.
func (g grid) tiles() tile.Index { return up(g.m, g.tileM).Mul(up(g.n, g.tileN)) }

// piece is a tile of D, and the part of k that it adds up.
type piece struct {
	part, batch tile.Index
	row, col    tile.Index
	first, end  tile.Index // of k
}

// piece finds the tile of a number. Tiles of a part go down in super-rows before they go right, so that blocks that run at
// the same time share rows and columns of the operands in L2. Parts of k are whole steps.
func (g grid) piece(item tile.Index) piece {
	down, right := up(g.m, g.tileM), up(g.n, g.tileN)
	all := down.Mul(right)
	part, within := item.Div(all), item.Rem(all)
	each := right.Scale(g.height)
	top := within.Div(each).Scale(g.height)
	high, inRow := down.Sub(top).MinInt(g.height), within.Rem(each)
	share := up(g.k, g.tileK).Add(g.splits.SubInt(1)).Div(g.splits).Scale(g.tileK)
	first := part.Rem(g.splits).Mul(share)
	return piece{
		part: part, batch: part.Div(g.splits),
		row: top.Add(inRow.Rem(high)).Scale(g.tileM), col: inRow.Div(high).Scale(g.tileN),
		first: first, end: g.k.Min(first.Add(share)),
	}
}
