package gemm

import "github.com/gotile/gotile/tile"

// slot has the operands of one step along k.
type slot[T tile.Float] struct {
	tile.Slot
	A, B tile.Shared[T]
}

// pipelined has a producer warp copy tiles of the operands into the slots of a pipeline by tensor copies, and consumers,
// warps or warpgroups, each add up its part of the block's tile.
func (p *product[T]) pipelined(k *tile.Builder) {
	member := func(rows, cols int, trans bool) tile.Shared[T] {
		rows, cols = sidesOf(rows, cols, trans)
		return tile.NewShared[T](k, rows, cols).Swizzle(swizzle(cols))
	}
	pipe := tile.NewPipeline(k, p.Stages, slot[T]{A: member(p.M, p.K, p.Form.TransA()), B: member(p.K, p.N, p.Form.TransB())})
	if p.Way == warpgroups { // the beginning of a block, some steps of a small product, overlaps with the kernel ahead
		k.WaitPrerequisites()
		k.LaunchDependents()
	}
	k.Roles(p.consumers(k, pipe), tile.Producer(p.ProducerRegs, func(w tile.Warp) {
		for t := range p.work.Tiles(w) {
			at := p.piece(t.Item)
			for k := range tile.Range(w, at.first, at.end, p.K) {
				s := pipe.Acquire(w)
				tile.CopyTensor(w, s.A, view(p.A, at.batch, at.row, k, p.Form.TransA()), s)
				tile.CopyTensor(w, s.B, view(p.B, at.batch, k, at.col, p.Form.TransB()), s)
			}
		}
	}))
}

// consumers are the role that multiplies.
func (p *product[T]) consumers(k *tile.Builder, pipe tile.Pipeline[slot[T]]) tile.Role {
	if p.Way == warps {
		return tile.ConsumerWarps(p.Down*p.Right, p.ConsumerRegs, func(w tile.Warp) { p.consume(w, w.Index(), pipe, p.end) })
	}
	out := p.panels(k)
	return tile.Consumers(p.Down*p.Right, p.ConsumerRegs, func(g tile.Warpgroup) {
		p.consume(g, g.Index(), pipe, func(_ tile.TensorScope, acc tile.Var[tile.F32], at piece, row, col tile.Index) {
			out.end(g, acc, at, row, col)
		})
		tile.WaitBulk(g, 0)
	})
}

// consume computes the part of the tiles that consumer number i has, which end writes.
func (p *product[T]) consume(c tile.TensorScope, i tile.Index, pipe tile.Pipeline[slot[T]], end func(c tile.TensorScope, acc tile.Var[tile.F32], at piece, row, col tile.Index)) {
	m, n := p.M/p.Down, p.N/p.Right
	down, right := i.DivInt(p.Right).Scale(m), i.RemInt(p.Right).Scale(n)
	for t := range p.work.Tiles(c) {
		at := p.piece(t.Item)
		row, col := at.row.Add(down), at.col.Add(right)
		acc := tile.NewAcc[tile.F32](c, m, n)
		for range tile.Range(c, at.first, at.end, p.K) {
			s := pipe.Wait(c)
			tile.MMA(acc, part(s.A.At, down, m, p.K, p.Form.TransA()), part(s.B.At, right, n, p.K, !p.Form.TransB()), p.Form.mma())
			s.Release(c)
		}
		end(c, acc, at, row, col)
	}
}
