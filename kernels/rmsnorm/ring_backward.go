package rmsnorm

import "github.com/gotile/gotile/tile"

// Rows pass through a ring of slots in shared memory, which bulk copies fill and from which others store the gradients
// that took the inputs' places. While a block works on a row the next ones are on their way. A cluster of blocks shares
// a longer row: each has 16 KB of it or, of the longest, 32.

// inRing is the first bytes of shared memory that a ring may take, and slotBytes what one row takes of a slot.
const (
	inRing    = 192 << 10
	slotBytes = 16 << 10
)

// ring is the slots of a block. Slot s is the tiles s*chunks, s*chunks+1, ... of each input.
type ring[T tile.Float] struct {
	c       Config
	k       *tile.Builder
	rows, n tile.Index
	in      []tile.Global[T] // what is copied of a row
	held    []tile.Shared[T] // by input
	full    tile.MBarriers   // all of a slot has come

	parts tile.Shared[tile.F32] // of two rows in turn, the sums of the blocks of a cluster
	told  tile.MBarriers        // they have come, and all blocks have read those of the row before
}

func newRing[T tile.Float](k *tile.Builder, c Config, in ...tile.Global[T]) *ring[T] {
	r := &ring[T]{c: c, k: k, rows: in[0].Dim(0), n: in[0].Dim(1), in: in, full: tile.NewMBarriers(k, c.Stages, 1)}
	for range in {
		r.held = append(r.held, tile.NewShared[T](k, c.Stages*c.chunks(), c.chunk()).Manual())
	}
	if c.Cluster > 1 {
		r.parts, r.told = tile.NewShared[tile.F32](k, 2, c.Cluster, 1).Manual(), tile.NewMBarriers(k, 2, 1+c.Cluster)
	}
	return r
}

// total is the sum over the blocks that share a row, in the order of their ranks. Each block tells all of them its own:
// of the next row but one, in the same places, only when all have said that they are done with these.
func (r *ring[T]) total(turn tile.Index, sum tile.Reg[tile.F32]) tile.Reg[tile.F32] {
	if r.c.Cluster <= 1 {
		return sum
	}
	block, side := r.k.Block(), turn.RemInt(2)
	told, rank := r.told.At(side), r.k.Cluster().Rank()
	bytes := tile.BroadcastAsync(block, r.parts.At(side, rank, 0), sum, told)
	told.ArriveExpect(block, bytes.Scale(r.c.Cluster))
	told.Wait(block, turn.DivInt(2).RemInt(2))
	return r.c.addUp(block, func(i int) tile.View[tile.F32] { return r.parts.At(side, i, 0) })
}

// done tells the blocks that share rows that this one has read all of them that was told of the rows before turn.
func (r *ring[T]) done(warp tile.Warp, turn any) {
	if r.c.Cluster > 1 {
		r.told.At(turn).ArriveEverywhere(warp)
	}
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
	tile.If(warp, row.Lt(r.rows), func() {
		for i := range r.c.chunks() {
			to, col := r.at(slot, i), r.column(i)
			bytes := tile.CopyBulk(warp, r.held[0].At(to), r.in[0].At(row, col), full)
			for j := range r.in[1:] {
				bytes = bytes.Add(tile.CopyBulk(warp, r.held[1+j].At(to), r.in[1+j].At(row, col), full))
			}
			full.Expect(warp, bytes)
		}
		full.ArriveExpect(warp, 0)
	})
}

// next fills the slot of the row before with a row, when what took the inputs' places has left the slots of all but so
// many of the newest rows.
func (r *ring[T]) next(turn, row tile.Index, newest int) {
	r.mover(func(warp tile.Warp) {
		tile.WaitBulkRead(warp, newest)
		r.fill(warp, turn.AddInt(r.c.Stages-lag).RemInt(r.c.Stages), row)
	})
}

// load is chunk i of a slot's row of an input, zero past the row's end.
func (r *ring[T]) load(input int, slot tile.Index, i int) tile.Reg[T] {
	return tile.Load(r.k.Block(), r.held[input].At(r.at(slot, i)), r.within(i))
}

// put replaces it.
func (r *ring[T]) put(input int, slot tile.Index, i int, x tile.Reg[tile.F32]) {
	tile.Store(r.k.Block(), r.held[input].At(r.at(slot, i)), tile.Cast[T](x))
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
	left := r.n
	switch col := r.column(i).(type) {
	case tile.Index:
		left = left.Sub(col)
	case int:
		left = left.SubInt(col)
	}
	return r.c.chunkSpan(r.k.Block()).Clip(left.MaxInt(0).MinInt(r.c.chunk()))
}

// The inputs of a ring, by number: x, dy, and ds or z.
const ringX, ringDY, ringThird = 0, 1, 2

// ringGradient is the backward pass of blocks whose rows pass through a ring. w and the block's share of dw are in
// registers and, where a block has one chunk of a row, that too until its sum is known; else it is read again. dx takes
// the place of x, dz that of z.
func ringGradient[T, W tile.Float](k *tile.Builder, c Config, in rowOf[T], w tile.Global[W], rstds, part tile.Global[tile.F32]) {
	in.x.Dim(1).AtMost(c.Cap)
	block, n, rows := k.Block(), in.x.Dim(1), in.x.Dim(0)
	inputs := in.inputs()
	if in.ds != nil && c.chunks() > 1 { // there is no room for ds, which is read from global memory
		inputs = inputs[:ringThird]
	}
	r := newRing(k, c, inputs...)
	first, stride := c.share(k)
	r.mover(func(warp tile.Warp) {
		for s := range c.Stages - lag { // the last slots are filled in the loop, as are all later
			r.fill(warp, s, first.Add(stride.Scale(s)))
		}
		r.done(warp, 0)
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
		slot := turn.RemInt(c.Stages)
		rstd := tile.LoadScalar(block, rstds.At(row))
		r.full.At(slot).Wait(block, turn.DivInt(c.Stages).RemInt(2))
		f32 := func(input, i int) tile.Reg[tile.F32] { return tile.Cast[tile.F32](r.load(input, slot, i)) }
		// read gives x and the gradient of u, of which y is u*act(z). The last time dz takes the place of z.
		read := func(i int, w tile.Reg[tile.F32], last bool) (x, g tile.Reg[tile.F32]) {
			x, g = f32(ringX, i), f32(ringDY, i)
			if in.z != nil {
				act, slope := c.slope(block, f32(ringThird, i))
				if last {
					r.put(ringThird, slot, i, g.Mul(x.Mul(rstd)).Mul(w).Mul(slope))
				}
				g = g.Mul(act)
			}
			return x, g
		}
		once := c.chunks() == 1
		var ds []tile.Reg[T]
		if in.ds != nil && !once {
			for i := range c.chunks() {
				ds = append(ds, tile.Load(block, in.ds.At(row, r.column(i)), r.within(i)))
			}
		}
		sum := newPartial(k)
		var x, g tile.Reg[tile.F32]
		for i := range c.chunks() {
			w := tile.Cast[tile.F32](ws[i])
			x, g = read(i, w, once)
			sum.add(x.Mul(g.Mul(w)))
		}
		total := sum.Get().Sum() // all threads are done with the row before
		if c.Cluster > 1 {
			r.next(turn, row.Add(stride.Scale(c.Stages-lag)), lag-1)
		}
		mean := r.total(turn, total).Mul(rstd).Mul(rstd).Div(n.Float())
		for i := range c.chunks() {
			w := tile.Cast[tile.F32](ws[i])
			if !once {
				x, g = read(i, w, true)
			}
			dw[i].Set(dw[i].Get().Add(g.Mul(x.Mul(rstd))))
			dx := g.Mul(w).Sub(x.Mul(mean)).Mul(rstd)
			switch {
			case ds != nil:
				dx = dx.Add(tile.Cast[tile.F32](ds[i]))
			case in.ds != nil:
				dx = dx.Add(f32(ringThird, i))
			}
			r.put(ringX, slot, i, dx)
		}
		tile.FenceAsync(block)
		block.Sync()
		r.mover(func(warp tile.Warp) {
			for i := range c.chunks() {
				tile.StoreBulk(warp, in.dx.At(row, r.column(i)), r.held[ringX].At(r.at(slot, i)))
				if in.dz != nil {
					tile.StoreBulk(warp, in.dz.At(row, r.column(i)), r.held[ringThird].At(r.at(slot, i)))
				}
			}
			tile.CommitBulk(warp)
			r.done(warp, turn.AddInt(1).RemInt(2))
		})
		if c.Cluster <= 1 { // measured: later is faster
			r.next(turn, row.Add(stride.Scale(c.Stages-lag)), lag)
		}
		count.Set(count.Get().Add(tile.I32(1)))
	}
	r.mover(func(warp tile.Warp) { tile.WaitBulkRead(warp, 0) })
	if c.Cluster > 1 {
		k.Cluster().Sync() // what has been told of a row that does not come reaches blocks that are there
	}
	for i := range c.chunks() {
		tile.Store(block, part.At(first, r.column(i)), dw[i].Get())
	}
}
