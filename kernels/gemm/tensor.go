package gemm

import "github.com/gotile/gotile/tile"

// product is a kernel for tensor cores being recorded.
type product[T tile.Float] struct {
	config
	operands[T]
	work tile.Work
}

// record records the kernel of a config.
func record[T tile.Float](k *tile.Builder, c config, a operands[T]) {
	p := &product[T]{config: c, operands: a}
	down, right := p.tiles()
	p.work = k.Schedule(tile.Linear(a.D.Dim(0).Max(a.Wide.Dim(0)).Mul(down.Mul(right)), 1))
	switch {
	case c.Way == blockwide:
		p.blockwide(k)
	case c.Way == ringed:
		p.ring(k)
	case c.Cluster > 0:
		p.clustered(k)
	default:
		p.pipelined(k)
	}
}

// sides are m, n and k.
func (p *product[T]) sides() (m, n, k tile.Index) {
	m, k, n = p.A.Dim(1), p.A.Dim(2), p.B.Dim(2)
	if p.Form.TransA() {
		m, k = k, m
	}
	if p.Form.TransB() {
		n = p.B.Dim(1)
	}
	return m, n, k
}

// tiles are the numbers of tiles of a part, below and beside one another.
func (p *product[T]) tiles() (down, right tile.Index) {
	m, n, _ := p.sides()
	return up(m, p.M), up(n, p.width())
}

// up is n in pieces of so many, rounded up.
func up(n tile.Index, size int) tile.Index { return n.AddInt(size - 1).DivInt(size) }

// piece is a tile of D, and the part of k that it adds up.
type piece struct {
	part, batch tile.Index
	row, col    tile.Index
	first, end  tile.Index // of k
}

// piece finds the tile of a number. Tiles of a part go down in super-rows of Height before they go right, so that blocks
// that run at the same time share rows and columns of the operands in L2. Parts of k are whole steps of the pipeline.
func (p *product[T]) piece(item tile.Index) piece {
	down, right := p.tiles()
	all := down.Mul(right)
	part, within := item.Div(all), item.Rem(all)
	each := right.Scale(p.Height)
	top := within.Div(each).Scale(p.Height)
	high, inRow := down.Sub(top).MinInt(p.Height), within.Rem(each)
	splits := tile.AsIndex(p.Splits.Reg())
	_, _, depth := p.sides()
	share := up(depth, p.K).Add(splits.SubInt(1)).Div(splits).Scale(p.K)
	first := part.Rem(splits).Mul(share)
	return piece{
		part: part, batch: part.Div(splits),
		row: top.Add(inRow.Rem(high)).Scale(p.M), col: inRow.Div(high).Scale(p.width()),
		first: first, end: depth.Min(first.Add(share)),
	}
}

// view is an operand from an element on, as it is multiplied.
func view[T tile.Float](g tile.Global[T], batch, row, col tile.Index, trans bool) tile.View[T] {
	if trans {
		row, col = col, row
	}
	return g.At(batch, row, col)
}

// begin sets an accumulator to what is added to the product.
func (p *product[T]) begin(c tile.TensorScope, acc tile.Var[tile.F32], at piece, row, col tile.Index) {
	span := acc.Get().Span()
	tile.If(c, p.C.Dim(0).GtInt(0), func() {
		acc.Set(tile.Cast[tile.F32](tile.Load(c, p.C.At(at.batch, row, col), span).Fill(tile.Const[T](0))))
	})
	tile.If(c, p.WideC.Dim(0).GtInt(0), func() {
		acc.Set(tile.Load(c, p.WideC.At(at.batch, row, col), span).Fill(tile.F32(0)))
	})
	tile.If(c, p.Bias.Dim(0).GtInt(0), func() {
		bias := tile.Cast[tile.F32](tile.Load(c, p.Bias.At(col), span.Axis(1)).Fill(tile.Const[T](0)))
		acc.Set(acc.Get().Add(tile.Expand(bias, span, 0)))
	})
}
