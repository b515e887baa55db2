package rmsnorm

import "github.com/gotile/gotile/tile"

// Rows of 16-bit types that a multiprocessor holds three of: they pass through a ring of slots in shared memory, one
// row of x and dy each, which bulk copies fill and from which others store dx. While a block works on a row the next
// ones are on their way. A cluster of blocks shares a longer row.

// stages is how many slots a ring has: one that is worked on, one that is being stored, and one that is filled.
const stages = 3

// ring is the slots of a block. Slot s is the tiles s*chunks, s*chunks+1, ... of x and dy.
type ring[T tile.Float] struct {
	c     Config
	k     *tile.Builder
	in    rowOf[T]
	x, dy tile.Shared[T] // dx takes the place of x
	full  tile.MBarriers // a slot's x and dy have come

	parts tile.Shared[tile.F32] // of two rows in turn, the sums of the blocks of a cluster
	told  tile.MBarriers        // they have come
}

func newRing[T tile.Float](k *tile.Builder, c Config, in rowOf[T]) *ring[T] {
	slots := func() tile.Shared[T] { return tile.NewShared[T](k, stages*c.chunks(), c.chunk()).Manual() }
	r := &ring[T]{c: c, k: k, in: in, x: slots(), dy: slots(), full: tile.NewMBarriers(k, stages, 1)}
	if c.Cluster > 1 {
		r.parts, r.told = tile.NewShared[tile.F32](k, 2, c.Cluster, 1).Manual(), tile.NewMBarriers(k, 2, 1)
	}
	return r
}

// total is the sum over the blocks that share a row, in the order of their ranks. Each block tells all of them its own.
// It does so for the next row but one only when all have told theirs of the next row, and so have read these.
func (r *ring[T]) total(turn tile.Index, sum tile.Reg[tile.F32]) tile.Reg[tile.F32] {
	if r.c.Cluster <= 1 {
		return sum
	}
	block, side := r.k.Block(), turn.RemInt(2)
	told, rank := r.told.At(side), r.k.Cluster().Rank()
	one := tile.Full(block, block.Striped(1, 1), sum)
	for i := range r.c.Cluster {
		tile.StoreAsync(block, tile.Peer(r.parts.At(side, rank), i), one, told.Peer(i))
	}
	told.ArriveExpect(block, 4*r.c.Cluster)
	told.Wait(block, turn.DivInt(2).RemInt(2))
	return r.c.addUp(block, func(i int) tile.View[tile.F32] { return r.parts.At(side, i, 0) })
}

// at is chunk i of a slot, an int or an Index.
func (r *ring[T]) at(slot any, i int) any {
	if s, ok := slot.(int); ok {
		return s*r.c.chunks() + i
	}
	return slot.(tile.Index).Scale(r.c.chunks()).AddInt(i)
}

// mover runs f in the warp that begins all bulk copies: the last, as the first has more to do.
func (r *ring[T]) mover(f func(warp tile.Warp)) {
	warp := r.k.Warp()
	tile.If(warp, warp.Index().EqInt(r.k.Warps()-1), func() { f(warp) })
}

// fill begins to copy a row, if there is one, into a slot that nobody uses.
func (r *ring[T]) fill(warp tile.Warp, slot any, row tile.Index) {
	full := r.full.At(slot)
	tile.If(warp, row.Lt(r.in.x.Dim(0)), func() {
		for i := range r.c.chunks() {
			to, col := r.at(slot, i), r.column(i)
			bytes := tile.CopyBulk(warp, r.x.At(to), r.in.x.At(row, col), full)
			bytes = bytes.Add(tile.CopyBulk(warp, r.dy.At(to), r.in.dy.At(row, col), full))
			full.Expect(warp, bytes)
		}
		full.ArriveExpect(warp, 0)
	})
}

// next fills the slot of the row before with a row, when dx of all but so many of the newest rows has left its slot.
func (r *ring[T]) next(turn, row tile.Index, newest int) {
	r.mover(func(warp tile.Warp) {
		tile.WaitBulkRead(warp, newest)
		r.fill(warp, turn.AddInt(stages-1).RemInt(stages), row)
	})
}

// load is chunk i of a slot's x or dy, zero past the end of a row.
func (r *ring[T]) load(tiles tile.Shared[T], slot tile.Index, i int) tile.Reg[tile.F32] {
	return tile.Cast[tile.F32](tile.Load(r.k.Block(), tiles.At(r.at(slot, i)), r.within(i)))
}

// column is the first column of chunk i of this block, whose columns are neighbours.
func (r *ring[T]) column(i int) any {
	if r.c.Cluster > 1 {
		return r.k.Cluster().Rank().Scale(r.c.chunks()).AddInt(i).Scale(r.c.chunk())
	}
	return i * r.c.chunk()
}

// within is the distribution of chunk i, as far as a row goes.
func (r *ring[T]) within(i int) tile.Span {
	left := r.in.x.Dim(1)
	switch col := r.column(i).(type) {
	case tile.Index:
		left = left.Sub(col)
	case int:
		left = left.SubInt(col)
	}
	return r.c.chunkSpan(r.k.Block()).Clip(left.MaxInt(0).MinInt(r.c.chunk()))
}

// ringGradient is the backward pass of blocks whose rows pass through a ring. w and the block's share of dw are in
// registers.
func ringGradient[T, W tile.Float](k *tile.Builder, c Config, in rowOf[T], w tile.Global[W], rstds, part tile.Global[tile.F32]) {
	block, n, rows := k.Block(), in.x.Dim(1), in.x.Dim(0)
	n.AtMost(c.Cap)
	r := newRing(k, c, in)
	first, stride := c.share(k)
	r.mover(func(warp tile.Warp) {
		for s := range stages - 1 { // the last slot is filled in the loop, as are all later
			r.fill(warp, s, first.Add(stride.Scale(s)))
		}
	})
	var ws []tile.Reg[W]
	var dw []tile.Var[tile.F32]
	for i := range c.chunks() {
		ws = append(ws, tile.Load(block, w.At(r.column(i)), r.within(i)))
		dw = append(dw, tile.NewVar(block, tile.Full(block, r.within(i), tile.F32(0))))
	}
	count := tile.NewVar(block, tile.I32(0))
	for row := range tile.Persistent(c.blocks(k), rows, tile.Blocks(part.Dim(0))) {
		turn := tile.AsIndex(count.Get())
		slot := turn.RemInt(stages)
		rstd := tile.LoadScalar(block, rstds.At(row))
		r.full.At(slot).Wait(block, turn.DivInt(stages).RemInt(2))
		sum := newPartial(k)
		for i := range c.chunks() {
			x, dy := r.load(r.x, slot, i), r.load(r.dy, slot, i)
			sum.add(x.Mul(dy.Mul(tile.Cast[tile.F32](ws[i]))))
		}
		total := sum.Get().Sum() // all threads are done with the row before
		if c.Cluster > 1 {
			r.next(turn, row.Add(stride.Scale(stages-1)), 0)
		}
		mean := r.total(turn, total).Mul(rstd).Mul(rstd).Div(n.Float())
		for i := range c.chunks() {
			x, dy := r.load(r.x, slot, i), r.load(r.dy, slot, i)
			dw[i].Set(dw[i].Get().Add(dy.Mul(x.Mul(rstd))))
			dx := dy.Mul(tile.Cast[tile.F32](ws[i])).Sub(x.Mul(mean)).Mul(rstd)
			if in.ds != nil {
				dx = dx.Add(tile.Cast[tile.F32](tile.Load(block, in.ds.At(row, r.column(i)), r.within(i))))
			}
			tile.Store(block, r.x.At(r.at(slot, i)), tile.Cast[T](dx))
		}
		tile.FenceAsync(block)
		block.Sync()
		r.mover(func(warp tile.Warp) {
			for i := range c.chunks() {
				tile.StoreBulk(warp, in.dx.At(row, r.column(i)), r.x.At(r.at(slot, i)))
			}
			tile.CommitBulk(warp)
		})
		if c.Cluster <= 1 { // measured: later is faster
			r.next(turn, row.Add(stride.Scale(stages-1)), 1)
		}
		count.Set(count.Get().Add(tile.I32(1)))
	}
	r.mover(func(warp tile.Warp) { tile.WaitBulkRead(warp, 0) })
	for i := range c.chunks() {
		tile.Store(block, part.At(first, r.column(i)), dw[i].Get())
	}
}
