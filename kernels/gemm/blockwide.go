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
		p.add(warp, acc, at, row, col)
		fetch := func(stage any, k tile.Index) {
			tile.CopyAsync(block, as.At(stage), view(p.A, at.batch, at.row, k, p.Form.TransA()))
			tile.CopyAsync(block, bs.At(stage), view(p.B, at.batch, k, at.col, p.Form.TransB()))
			tile.Commit(block)
		}
		for i := range p.Stages - 1 {
			fetch(i, at.first.AddInt(i*p.K))
		}
		for k := range tile.Range(block, at.first, at.end, p.K) {
			tile.WaitGroup(block, p.Stages-2) // the copies of this step are there,
			block.Sync()                      // for all, and all have read what the next ones write over
			step := k.Sub(at.first).DivInt(p.K)
			fetch(step.AddInt(p.Stages-1).RemInt(p.Stages), k.AddInt((p.Stages-1)*p.K))
			stage := func(s tile.Shared[T]) func(offsets ...any) tile.View[T] {
				return func(offsets ...any) tile.View[T] { return s.At(append([]any{step.RemInt(p.Stages)}, offsets...)...) }
			}
			tile.MMA(acc, part(stage(as), down, m, p.K, p.Form.TransA()), part(stage(bs), right, n, p.K, !p.Form.TransB()), p.Form.mma())
		}
		tile.WaitGroup(block, 0)
		block.Sync()
		p.end(warp, acc, at, row, col)
	}
}
