package gemm

import "github.com/gotile/gotile/tile"

// clustered is pipelined for two blocks side by side, which share the rows of A: each block copies the rows of one consumer,
// to both of them by multicast, and columns of B of its own. That takes a third of the traffic from L2. Slots are
// handed over by mbarriers of both blocks, since a block fills those of the other too.
func (p *product[T]) clustered(k *tile.Builder) {
	rows, cols := sidesOf(p.M/p.Down, p.K, p.Form.TransA())
	as := tile.NewShared[T](k, p.Stages, p.Down, rows, cols).Swizzle(swizzle(cols)).Manual() // by consumer
	rows, cols = sidesOf(p.K, p.N, p.Form.TransB())
	bs := tile.NewShared[T](k, p.Stages, rows, cols).Swizzle(swizzle(cols)).Manual()
	full, empty := tile.NewMBarriers(k, p.Stages, 1), tile.NewMBarriers(k, p.Stages, p.Down*p.Cluster)
	rank, out := k.Cluster().Rank(), p.panels(k)
	k.Cluster().Sync() // the mbarriers of both blocks are there

	k.Roles(tile.Consumers(p.Down, p.ConsumerRegs, func(c tile.Warpgroup) {
		count := tile.NewVar(c, tile.I32(0)) // of the slots so far
		for t := range p.work.Tiles(c) {
			at := p.piece(t.Item)
			m := p.M / p.Down
			row, col := at.row.Add(c.Index().Scale(m)), at.col.Add(rank.Scale(p.N))
			acc := tile.NewAcc[tile.F32](c, m, p.N)
			for step := range tile.Range(c, at.first, at.end, p.K) {
				n := tile.AsIndex(count.Get())
				i := n.RemInt(p.Stages)
				full.At(i).Wait(c, n.DivInt(p.Stages).RemInt(2))
				tile.MMA(acc, as.At(i, c.Index()).Matrix(sidesOf(m, p.K, p.Form.TransA())), bs.At(i).Matrix(sidesOf(p.K, p.N, p.Form.TransB())), p.Form.mma())
				tile.WaitMMA(c, 1) // the products of the step before are over
				tile.If(c, step.Gt(at.first), func() { empty.At(n.AddInt(p.Stages - 1).RemInt(p.Stages)).ArriveEverywhere(c) })
				count.Set(n.AddInt(1).Int())
			}
			tile.WaitMMA(c, 0)
			tile.If(c, at.end.Gt(at.first), func() {
				empty.At(tile.AsIndex(count.Get()).AddInt(p.Stages - 1).RemInt(p.Stages)).ArriveEverywhere(c)
			})
			out.end(c, acc, at, row, col)
		}
		tile.WaitBulk(c, 0)
	}), tile.Producer(p.ProducerRegs, func(w tile.Warp) {
		count := tile.NewVar(w, tile.I32(0))
		for t := range p.work.Tiles(w) {
			at := p.piece(t.Item)
			for step := range tile.Range(w, at.first, at.end, p.K) {
				n := tile.AsIndex(count.Get())
				i := n.RemInt(p.Stages)
				bar := full.At(i)
				empty.At(i).Wait(w, n.DivInt(p.Stages).AddInt(1).RemInt(2))
				own := tile.CopyTensor(w, bs.At(i), view(p.B, at.batch, step, at.col.Add(rank.Scale(p.N)), p.Form.TransB()), bar)
				row := at.row.Add(rank.Scale(p.M / p.Down))
				shared := tile.MulticastTensor(w, as.At(i, rank), view(p.A, at.batch, row, step, p.Form.TransA()), bar, 1<<p.Cluster-1)
				bar.ArriveExpect(w, own.Add(shared.Scale(p.Cluster))) // the other block's rows come too
				count.Set(n.AddInt(1).Int())
			}
		}
		for i := range p.Stages { // until the other block is done with what is in this one
			n := tile.AsIndex(count.Get()).AddInt(i)
			empty.At(n.RemInt(p.Stages)).Wait(w, n.DivInt(p.Stages).AddInt(1).RemInt(2))
		}
	}))
}
