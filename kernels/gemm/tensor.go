package gemm

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// slot has the operands of one step along k.
type slot[T tile.Float] struct {
	tile.Slot
	A, B tile.Shared[T]
}

// product is a kernel for tensor cores being recorded: a producer warp copies tiles of the operands into a pipeline's
// slots, and each consumer, a warp or a warpgroup, adds up its part of the block's tile of D.
type product[T tile.Float] struct {
	Config
	operands[T]
	block tile.Block
	pipe  tile.Pipeline[slot[T]]
	work  tile.Work
}

func record[T tile.Float](k *tile.Builder, c Config, a operands[T]) {
	p := product[T]{Config: c, operands: a, block: k.Block()}
	p.pipe = tile.NewPipeline(k, c.Stages, slot[T]{A: shared[T](k, c.M, c.K, c.Form.TransA()), B: shared[T](k, c.K, c.N, c.Form.TransB())})
	down, right := p.tiles()
	p.work = k.Schedule(tile.Linear(a.D.Dim(0).Add(a.Wide.Dim(0)).Mul(down.Mul(right)), 1))
	consumers := tile.ConsumerWarps(c.Down*c.Right, c.ConsumerRegs, func(w tile.Warp) { p.consume(w, w.Index()) })
	if c.Group {
		consumers = tile.Consumers(c.Down*c.Right, c.ConsumerRegs, func(g tile.Warpgroup) { p.consume(g, g.Index()) })
	}
	k.Roles(consumers, tile.Producer(c.ProducerRegs, p.produce))
}

// shared is a tile of rows x cols as it is multiplied, with the widest swizzle that its rows have.
func shared[T tile.Float](k *tile.Builder, rows, cols int, trans bool) tile.Shared[T] {
	if trans {
		rows, cols = cols, rows
	}
	const size = 2 // bytes of an element
	swizzle := layout.Swizzle128
	switch {
	case cols*size%128 == 0:
	case cols*size%64 == 0:
		swizzle = layout.Swizzle64
	default:
		swizzle = layout.Swizzle32
	}
	return tile.NewShared[T](k, rows, cols).Swizzle(swizzle)
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
	return up(m, p.M), up(n, p.N)
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
		row: top.Add(inRow.Rem(high)).Scale(p.M), col: inRow.Div(high).Scale(p.N),
		first: first, end: depth.Min(first.Add(share)),
	}
}

// produce fills the slots.
func (p *product[T]) produce(w tile.Warp) {
	for t := range p.work.Tiles(w) {
		at := p.piece(t.Item)
		for k := range tile.Range(w, at.first, at.end, p.K) {
			s := p.pipe.Acquire(w)
			tile.CopyAsync(s, s.A, view(p.A, at.batch, at.row, k, p.Form.TransA()))
			tile.CopyAsync(s, s.B, view(p.B, at.batch, k, at.col, p.Form.TransB()))
		}
	}
}

// view is an operand from an element on, as it is multiplied.
func view[T tile.Float](g tile.Global[T], batch, row, col tile.Index, trans bool) tile.View[T] {
	if trans {
		row, col = col, row
	}
	return g.At(batch, row, col)
}

// consume computes the part of the tiles that consumer number i has. What is added to a product is what its accumulator
// begins with, so that it needs registers before the products have theirs.
func (p *product[T]) consume(c tile.TensorScope, i tile.Index) {
	m, n := p.M/p.Down, p.N/p.Right
	down, right := i.DivInt(p.Right).Scale(m), i.RemInt(p.Right).Scale(n)
	for t := range p.work.Tiles(c) {
		at := p.piece(t.Item)
		row, col := at.row.Add(down), at.col.Add(right)
		acc := tile.NewAcc[tile.F32](c, m, n)
		p.begin(c, acc, at, row, col)
		for range tile.Range(c, at.first, at.end, p.K) {
			s := p.pipe.Wait(c)
			tile.MMA(acc, part(s.A, down, m, p.K, p.Form.TransA()), part(s.B, right, n, p.K, !p.Form.TransB()), p.Form.mma())
			s.Release(c)
		}
		tile.If(c, p.D.Dim(0).GtInt(0), func() {
			tile.Store(c, p.D.At(at.part, row, col), tile.Cast[T](acc.Get()))
		}, func() {
			tile.Store(c, p.Wide.At(at.part, row, col), acc.Get())
		})
	}
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

// part is the part of an operand's tile that a consumer multiplies: n of its rows along m or n, whole along k. across says
// that they are columns of the tile as it is stored.
func part[T tile.Float](s tile.Shared[T], first tile.Index, n, k int, across bool) tile.MatrixView[T] {
	if across {
		return s.At(0, first).Matrix(k, n)
	}
	return s.At(first).Matrix(n, k)
}
