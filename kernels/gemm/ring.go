package gemm

import "github.com/gotile/gotile/tile"

// ring has the block fill the slots of a pipeline by tensor copies ahead of its own warps, which each add up its part of
// the block's tile: as pipelined, without a warp that only copies, so that two blocks fit on a multiprocessor.
func (p *product[T]) ring(k *tile.Builder) {
	member := func(rows, cols int, trans bool) tile.Shared[T] {
		rows, cols = sidesOf(rows, cols, trans)
		return tile.NewShared[T](k, rows, cols).Swizzle(swizzle(cols))
	}
	pipe := tile.NewPipeline(k, p.Stages, slot[T]{A: member(p.M, p.K, p.Form.TransA()), B: member(p.K, p.N, p.Form.TransB())})
	block, warp := k.Block(), k.Warp()
	m, n := p.M/p.Down, p.N/p.Right
	down, right := warp.Index().RemInt(p.Down).Scale(m), warp.Index().DivInt(p.Down).RemInt(p.Right).Scale(n)
	fetch := func(at piece, k tile.Index) {
		s := pipe.Acquire(block)
		tile.CopyTensor(block, s.A, view(p.A, at.batch, at.row, k, p.Form.TransA()), s)
		tile.CopyTensor(block, s.B, view(p.B, at.batch, k, at.col, p.Form.TransB()), s)
	}
	for t := range p.work.Tiles(block) {
		at := p.piece(t.Item)
		row, col := at.row.Add(down), at.col.Add(right)
		acc := tile.NewAcc[tile.F32](warp, m, n)
		p.begin(warp, acc, at, row, col)
		ahead := (p.Stages - 1) * p.K
		for k := range tile.Range(block, at.first, at.end.Min(at.first.AddInt(ahead)), p.K) {
			fetch(at, k)
		}
		for k := range tile.Range(block, at.first, at.end, p.K) {
			s := pipe.Wait(warp)
			tile.If(block, k.AddInt(ahead).Lt(at.end), func() { fetch(at, k.AddInt(ahead)) })
			tile.MMA(acc, part(s.A.At, down, m, p.K, p.Form.TransA()), part(s.B.At, right, n, p.K, !p.Form.TransB()), p.Form.mma())
			s.Release(warp)
		}
		p.end(warp, acc, at, row, col)
	}
}
