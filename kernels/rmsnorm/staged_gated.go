package rmsnorm

import "github.com/gotile/gotile/tile"

// stagedGatedForward is the forward pass of blocks that hold their rows of x. z is read once, when the sum is known, a
// chunk ahead of its use.
func stagedGatedForward[T, W tile.Float](k *tile.Builder, c Config, a gatedForwardArgs[T, W]) {
	block, n, x := k.Block(), a.X.Dim(1), hold[T](k, c, a.X.Dim(1))
	n.AtMost(c.Cap)
	for row := range tile.Persistent(c.blocks(k), a.X.Dim(0), c.each()...) {
		gate := func(i int) tile.Reg[T] { return tile.Load(block, a.Z.At(row, c.column(k, i)), c.within(k, n, i)) }
		x.fetch(a.X, row)
		z := gate(0) // under way with the row
		tile.WaitGroup(block, 0)
		rstd := rstdOf(c.total(k, x.squares()), n, a.Eps)
		for i := range c.chunks() {
			now := z
			if i+1 < c.chunks() {
				z = gate(i + 1)
			}
			u := tile.Cast[tile.F32](x.chunk(i)).Mul(rstd).Mul(loadChunk(k, c, a.W, n, i))
			tile.Store(block, a.Y.At(row, c.column(k, i)), tile.Cast[T](c.gated(block, u, tile.Cast[tile.F32](now))))
		}
		c.once(k, func() { tile.Store(block, a.Rstd.At(row), rstd) })
	}
}

// stagedGatedBackward is stagedGradient with a gate: x, z and dy are in shared memory, and w is read for each row, from
// the L2 cache. dz does not wait for the sum, so it is stored before. act(z) is computed again afterwards: registers
// that would keep its product hold dw.
func stagedGatedBackward[T, W tile.Float](k *tile.Builder, c Config, a gatedBackwardArgs[T, W]) {
	block, n, rows := k.Block(), a.X.Dim(1), a.X.Dim(0)
	n.AtMost(c.Cap)
	x, z, dy := hold[T](k, c, n), hold[T](k, c, n), hold[T](k, c, n)
	copies := func(row tile.Index, i int) {
		x.copy(a.X, row, i)
		z.copy(a.Z, row, i)
		dy.copy(a.DY, row, i)
	}
	first, stride := c.share(k)
	var dw []tile.Var[tile.F32]
	for i := range c.Shared {
		dw = append(dw, tile.NewVar(block, tile.Full(block, c.within(k, n, i), tile.F32(0))))
	}
	tile.If(block, first.Lt(rows), func() {
		for i := range c.Shared {
			copies(first, i)
		}
	})
	tile.Commit(block)
	for row := range tile.Persistent(c.blocks(k), rows, tile.Blocks(a.Part.Dim(0))) {
		rstd := tile.LoadScalar(block, a.Rstd.At(row))
		tile.WaitGroup(block, 0)
		sum := newPartial(k)
		for i := range c.Shared {
			x, z, dy := tile.Cast[tile.F32](x.chunk(i)), tile.Cast[tile.F32](z.chunk(i)), tile.Cast[tile.F32](dy.chunk(i))
			w := loadChunk(k, c, a.W, n, i)
			act, slope := c.slope(block, z)
			g, xh := dy.Mul(act), x.Mul(rstd)
			dw[i].Set(dw[i].Get().Add(g.Mul(xh)))
			sum.add(x.Mul(g.Mul(w)))
			tile.Store(block, a.DZ.At(row, c.column(k, i)), tile.Cast[T](dy.Mul(xh).Mul(w).Mul(slope)), tile.Streaming)
		}
		mean := c.total(k, sum.Get().Sum()).Mul(rstd).Mul(rstd).Div(n.Float())
		next := row.Add(stride)
		for i := range c.Shared {
			gx, gz, gdy := tile.Cast[tile.F32](x.chunk(i)), tile.Cast[tile.F32](z.chunk(i)), tile.Cast[tile.F32](dy.chunk(i))
			act, _ := c.slope(block, gz)
			dx := gdy.Mul(act).Mul(loadChunk(k, c, a.W, n, i)).Sub(gx.Mul(mean)).Mul(rstd)
			tile.Store(block, a.DX.At(row, c.column(k, i)), tile.Cast[T](dx), tile.Streaming)
			tile.If(block, next.Lt(rows), func() { copies(next, i) })
		}
		tile.Commit(block)
	}
	for i := range c.Shared {
		tile.Store(block, a.Part.At(first, c.column(k, i)), dw[i].Get())
	}
}
