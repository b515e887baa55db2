package gemm

import "github.com/gotile/gotile/tile"

// product is a kernel for tensor cores being recorded.
type product[T tile.Float] struct {
	config
	operands[T]
	grid
	work tile.Work
}

// record records the kernel of a config.
func record[T tile.Float](k *tile.Builder, c config, a operands[T]) {
	p := &product[T]{config: c, operands: a}
	m, n, depth := p.sides()
	p.grid = grid{m: m, n: n, k: depth, splits: tile.AsIndex(a.Splits.Reg()), tileM: c.M, tileN: c.N, tileK: c.K, height: c.Height}
	p.work = k.Schedule(tile.Linear(a.D.Dim(0).Max(a.Wide.Dim(0)).Mul(p.tiles()), 1))
	if c.Way == blockwide {
		p.blockwide(k)
	} else {
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

// view is an operand from an element on, as it is multiplied.
func view[T tile.Float](g tile.Global[T], batch, row, col tile.Index, trans bool) tile.View[T] {
	if trans {
		row, col = col, row
	}
	return g.At(batch, row, col)
}

// add adds to a part of a product what is added to it.
func (p *product[T]) add(c tile.TensorScope, x tile.Var[tile.F32], at piece, row, col tile.Index) {
	span := x.Get().Span()
	tile.If(c, p.C.Dim(0).GtInt(0), func() {
		x.Set(x.Get().Add(tile.Cast[tile.F32](tile.Load(c, p.C.At(at.batch, row, col), span).Fill(tile.Const[T](0)))))
	})
	tile.If(c, p.WideC.Dim(0).GtInt(0), func() {
		x.Set(x.Get().Add(tile.Load(c, p.WideC.At(at.batch, row, col), span).Fill(tile.F32(0))))
	})
	tile.If(c, p.Bias.Dim(0).GtInt(0), func() {
		bias := tile.Cast[tile.F32](tile.Load(c, p.Bias.At(col), span.Axis(1)).Fill(tile.Const[T](0)))
		x.Set(x.Get().Add(tile.Expand(bias, span, 0)))
	})
}
