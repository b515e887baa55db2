package rmsnorm

import "github.com/gotile/gotile/tile"

// Rows pass through a ring of slots in shared memory. One warp fills them by bulk copies, and by others stores from them
// the gradients that took the inputs' places; the others compute, and never wait for one another but to add up a row.
// A cluster of blocks shares a row: each has 16 KB of it, a chunk, or several. A slot holds a chunk of each input, so that
// of a long row the first chunks give way to those of the next row while the last ones are in use.

// inRing is the bytes of shared memory that a ring may take, and slotBytes a chunk of one input.
const (
	inRing    = 192 << 10
	slotBytes = 16 << 10
)

// ringRegs and moverRegs are the registers of a thread that computes, and of one of the warpgroup of the warp that moves.
const (
	ringRegs  = 112
	moverRegs = 24
)

// ring is the slots of a block. The chunks of its rows, one row after the other, go through them in turn.
type ring[T tile.Float] struct {
	c       Config
	k       *tile.Builder
	rows, n tile.Index
	in      []tile.Global[T] // what is copied of a row
	held    []tile.Shared[T] // by input
	full    tile.MBarriers   // a chunk has come
	done    tile.MBarriers   // its gradients have taken its place

	parts tile.Shared[tile.F32] // of two rows in turn, the sums of the blocks of a cluster
	told  tile.MBarriers        // they have come, and all blocks have read those of the row before
}

func newRing[T tile.Float](k *tile.Builder, c Config, in ...tile.Global[T]) *ring[T] {
	r := &ring[T]{c: c, k: k, rows: in[0].Dim(0), n: in[0].Dim(1), in: in, full: tile.NewMBarriers(k, c.Stages, 1), done: tile.NewMBarriers(k, c.Stages, c.Min)}
	for range in {
		r.held = append(r.held, tile.NewShared[T](k, c.Stages, c.chunk()).Manual())
	}
	r.parts, r.told = tile.NewShared[tile.F32](k, 2, c.Cluster, 1).Manual(), tile.NewMBarriers(k, 2, 1+c.Cluster)
	return r
}

// total is the sum over the blocks that share a row, in the order of their ranks. Each block tells all of them its own:
// of the next row but one, in the same places, only when all have said that they are done with these.
func (r *ring[T]) total(g tile.Group, turn tile.Index, sum tile.Reg[tile.F32]) tile.Reg[tile.F32] {
	side := turn.RemInt(2)
	told, rank := r.told.At(side), r.k.Cluster().Rank()
	bytes := tile.BroadcastAsync(g, r.parts.At(side, rank, 0), sum, told)
	told.ArriveExpect(g, bytes.Scale(r.c.Cluster))
	told.Wait(g, turn.DivInt(2).RemInt(2))
	return r.c.addUp(g, func(i int) tile.View[tile.F32] { return r.parts.At(side, i, 0) })
}

// place is the slot of chunk i of the row that is the turn's, and the parity of the phases that its barriers wait for. The
// chunks of the rows after it count on.
func (r *ring[T]) place(turn tile.Index, i int) (slot, parity tile.Index) {
	nth := turn.Scale(r.c.chunks()).AddInt(i)
	return nth.RemInt(r.c.Stages), nth.DivInt(r.c.Stages).RemInt(2)
}

// fill begins to copy chunk i of a row, if there is one, into a slot that nobody uses.
func (r *ring[T]) fill(warp tile.Warp, slot any, row tile.Index, i int) {
	full, col := r.full.At(slot), r.column(i)
	tile.If(warp, row.Lt(r.rows), func() {
		bytes := tile.CopyBulk(warp, r.held[0].At(slot), r.in[0].At(row, col), full)
		for j := range r.in[1:] {
			bytes = bytes.Add(tile.CopyBulk(warp, r.held[1+j].At(slot), r.in[1+j].At(row, col), full))
		}
		full.ArriveExpect(warp, bytes)
	})
}

// load is chunk i of an input from its slot, zero past the row's end.
func (r *ring[T]) load(g tile.Group, input int, slot tile.Index, i int) tile.Reg[T] {
	return tile.Load(g, r.held[input].At(slot), r.within(g, i))
}

// put replaces it.
func (r *ring[T]) put(g tile.Group, input int, slot tile.Index, x tile.Reg[tile.F32]) {
	tile.Store(g, r.held[input].At(slot), tile.Cast[T](x))
}

// column is the first column of chunk i of this block, whose columns are neighbours.
func (r *ring[T]) column(i int) tile.Index {
	return r.k.Cluster().Rank().Scale(r.c.chunks()).AddInt(i).Scale(r.c.chunk())
}

// within is the distribution of chunk i, as far as a row goes.
func (r *ring[T]) within(g tile.Group, i int) tile.Span {
	left := r.n.Sub(r.column(i))
	return g.Striped(r.c.chunk(), r.c.vec()).Clip(left.MaxInt(0).MinInt(r.c.chunk()))
}

// ready tells the blocks of the cluster that this one has read all that it was told of the rows before one, if that comes:
// they wait for it, so that none leaves before it knows.
func (r *ring[T]) ready(warp tile.Warp, side any, row tile.Index) {
	tile.If(warp, row.Lt(r.rows), func() { r.told.At(side).ArriveEverywhere(warp) })
}

// gradientOf is where the gradient goes that takes an input's place.
type gradientOf[T tile.Float] struct {
	input int
	to    tile.Global[T]
}

// move is what the mover does: it keeps the slots full. When gradients have taken a chunk's place it stores them, and
// fills the slot of the chunk before, whose gradients have left it by then, with the next chunk to come.
func (r *ring[T]) move(warp tile.Warp, first, stride tile.Index, stored []gradientOf[T]) {
	c := r.c
	ahead := c.Stages - 1
	for i := range ahead {
		r.fill(warp, i, first.Add(stride.Scale(i/c.chunks())), i%c.chunks())
	}
	r.ready(warp, 0, first)
	count := tile.NewVar(warp, tile.I32(0))
	for row := range tile.Range(warp, first, r.rows, stride) {
		turn := tile.AsIndex(count.Get())
		for i := range c.chunks() {
			refill := func(newest int) {
				tile.WaitBulkRead(warp, newest)
				next := i + ahead
				slot, _ := r.place(turn, next)
				r.fill(warp, slot, row.Add(stride.Scale(next/c.chunks())), next%c.chunks())
			}
			// Measured: before the gradients are done is slower, where a whole row is on its way.
			early := ahead < 2*c.chunks()
			if early {
				refill(0)
			}
			slot, parity := r.place(turn, i)
			r.done.At(slot).Wait(warp, parity)
			for _, s := range stored {
				tile.StoreBulk(warp, s.to.At(row, r.column(i)), r.held[s.input].At(slot))
			}
			tile.CommitBulk(warp)
			if i == 0 { // all have read the sums
				r.ready(warp, turn.AddInt(1).RemInt(2), row.Add(stride))
			}
			if !early {
				refill(1)
			}
		}
		count.Set(count.Get().Add(tile.I32(1)))
	}
	tile.WaitBulkRead(warp, 0)
}

// The inputs of a ring, by number: x, dy, and ds or z.
const ringX, ringDY, ringThird = 0, 1, 2

// ringGradient is the backward pass of clusters of blocks whose rows pass through rings. w, or its
// first chunks, and the block's share of dw are in registers and, where a block has one chunk of a row, that too until its
// sum is known; else it is read again. dx takes
// the place of x, dz that of z.
func ringGradient[T, W tile.Float](k *tile.Builder, c Config, in rowOf[T], w tile.Global[W], rstds, part tile.Global[tile.F32]) {
	in.x.Dim(1).AtMost(c.Cap)
	inputs, stored := in.inputs(), []gradientOf[T]{{ringX, in.dx}}
	if in.ds != nil && c.chunks() > 1 { // there is no room for ds, which is read from global memory
		inputs = inputs[:ringThird]
	}
	if in.dz != nil {
		stored = append(stored, gradientOf[T]{ringThird, *in.dz})
	}
	r := newRing(k, c, inputs...)
	first, stride := c.share(k)
	k.Schedule(tile.Linear(r.rows, 1), tile.Blocks(part.Dim(0)))
	k.Roles(tile.ConsumerGroup(c.Min, ringRegs, func(g tile.Group) {
		share := func(i int, dw tile.Reg[tile.F32]) { tile.Store(g, part.At(first, r.column(i)), dw) }
		gradients(g, r, in, w, rstds, first, stride, share)
	}), tile.Producer(moverRegs, func(p tile.Warp) { r.move(p, first, stride, stored) }))
}

// gradients is what the other warps do.
func gradients[T, W tile.Float](g tile.Group, r *ring[T], in rowOf[T], w tile.Global[W], rstds tile.Global[tile.F32],
	first, stride tile.Index, share func(i int, dw tile.Reg[tile.F32])) {
	c, once := r.c, r.c.chunks() == 1
	weight := func(i int) tile.Reg[W] { return tile.Load(g, w.At(r.column(i)), r.within(g, i)) }
	keep := min(c.chunks(), 2) // chunks of w for which there are registers
	if in.z != nil && !once {
		keep = 0
	}
	var ws []tile.Reg[W]
	var dw []tile.Var[tile.F32]
	for i := range c.chunks() {
		if i < keep {
			ws = append(ws, weight(i))
		}
		dw = append(dw, tile.NewVar(g, tile.Full(g, r.within(g, i), tile.F32(0))))
	}
	held := func(i int) tile.Reg[tile.F32] {
		if i >= keep {
			return tile.Cast[tile.F32](weight(i))
		}
		return tile.Cast[tile.F32](ws[i])
	}
	count := tile.NewVar(g, tile.I32(0))
	for row := range tile.Range(g, first, r.rows, stride) {
		turn := tile.AsIndex(count.Get())
		rstd := tile.LoadScalar(g, rstds.At(row))
		f32 := func(input, i int) tile.Reg[tile.F32] {
			slot, _ := r.place(turn, i)
			return tile.Cast[tile.F32](r.load(g, input, slot, i))
		}
		put := func(input, i int, x tile.Reg[tile.F32]) {
			slot, _ := r.place(turn, i)
			r.put(g, input, slot, x)
		}
		// read gives x and the gradient of u, of which y is u*act(z). The last time dz takes the place of z.
		read := func(i int, w tile.Reg[tile.F32], last bool) (x, du tile.Reg[tile.F32]) {
			x, du = f32(ringX, i), f32(ringDY, i)
			if in.z != nil {
				act, slope := c.slope(g, f32(ringThird, i))
				if last {
					put(ringThird, i, du.Mul(x.Mul(rstd)).Mul(w).Mul(slope))
				}
				du = du.Mul(act)
			}
			return x, du
		}
		var ds []tile.Reg[T] // under way meanwhile
		if in.ds != nil && !once {
			for i := range c.chunks() {
				ds = append(ds, tile.Load(g, in.ds.At(row, r.column(i)), r.within(g, i)))
			}
		}
		sum := partial{tile.NewVar(g, tile.Full(g, g.Striped(g.Threads(), 1), tile.F32(0)))}
		var x, du tile.Reg[tile.F32]
		for i := range c.chunks() {
			w := held(i)
			slot, parity := r.place(turn, i)
			r.full.At(slot).Wait(g, parity)
			x, du = read(i, w, once)
			sum.add(x.Mul(du.Mul(w)))
		}
		mean := r.total(g, turn, sum.Get().Sum()).Mul(rstd).Mul(rstd).Div(r.n.Float())
		for i := range c.chunks() {
			w := held(i)
			if !once {
				x, du = read(i, w, true)
			}
			dw[i].Set(dw[i].Get().Add(du.Mul(x.Mul(rstd))))
			dx := du.Mul(w).Sub(x.Mul(mean)).Mul(rstd)
			switch {
			case ds != nil:
				dx = dx.Add(tile.Cast[tile.F32](ds[i]))
			case in.ds != nil:
				dx = dx.Add(f32(ringThird, i))
			}
			put(ringX, i, dx)
			tile.FenceAsync(g)
			slot, _ := r.place(turn, i)
			r.done.At(slot).Arrive(g)
		}
		count.Set(count.Get().Add(tile.I32(1)))
	}
	for i := range c.chunks() {
		share(i, dw[i].Get())
	}
}
