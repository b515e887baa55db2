package gemm

import "github.com/gotile/gotile/tile"

// blockwide has all warps copy tiles of the operands ahead, 16 bytes a thread by cp.async, and each add up its part of the
// block's tile. It takes any tensors on any target; what lies past the end of an operand is zero in shared memory.
func (p *product[T]) blockwide(k *tile.Builder) {
	ring := func(rows, cols int, trans bool) tile.Shared[T] {
		rows, cols = sidesOf(rows, cols, trans)
		return tile.NewShared[T](k, p.Stages, rows, cols).Swizzle(swizzle(cols))
	}
	block, warp := k.Block(), k.Warp()
	as, bs := ring(p.M, p.K, p.Form.TransA()), ring(p.K, p.N, p.Form.TransB())
	m, n := p.M/p.Down, p.N/p.Right
	down, right := warp.Index().RemInt(p.Down).Scale(m), warp.Index().DivInt(p.Down).RemInt(p.Right).Scale(n)
	for t := range p.work.Tiles(block) {
		at := p.piece(t.Item)
		row, col := at.row.Add(down), at.col.Add(right)
		acc := tile.NewAcc[tile.F32](warp, m, n)
		ahead(block, p.Stages, p.K, at, block.Sync, func(stage any, k tile.Index) {
			tile.CopyAsync(block, as.At(stage), view(p.A, at.batch, at.row, k, p.Form.TransA()))
			tile.CopyAsync(block, bs.At(stage), view(p.B, at.batch, k, at.col, p.Form.TransB()))
		}, func(stage tile.Index) {
			of := func(s tile.Shared[T]) func(offsets ...any) tile.View[T] {
				return func(offsets ...any) tile.View[T] { return s.At(append([]any{stage}, offsets...)...) }
			}
			tile.MMA(acc, part(of(as), down, m, p.K, p.Form.TransA()), part(of(bs), right, n, p.K, !p.Form.TransB()), p.Form.mma())
		})
		p.end(warp, acc, at, row, col)
	}
}
