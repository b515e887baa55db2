package rmsnorm

import "github.com/gotile/gotile/tile"

// rowOf gives the tensors of one row to a staged backward pass.
type rowOf[T tile.Float] struct {
	x, dy, dx tile.Global[T]
	ds        *tile.Global[T] // the gradient of the sum; nil without a residual
	z, dz     *tile.Global[T] // the gate and its gradient; nil without one
}

// inputs are what is read of a row: x, dy, and ds or z.
func (in rowOf[T]) inputs() []tile.Global[T] {
	all := []tile.Global[T]{in.x, in.dy}
	for _, third := range []*tile.Global[T]{in.ds, in.z} {
		if third != nil {
			all = append(all, *third)
		}
	}
	return all
}

// stagedGradient is the backward pass of blocks that hold their rows of x and dy, and w, in shared memory, and their
// share of dw in registers. As soon as all has been read of a chunk the next row's is copied in its place, so that loads
// are under way while gradients are stored.
func stagedGradient[T, W tile.Float](k *tile.Builder, c Config, in rowOf[T], w tile.Global[W], rstds, part tile.Global[tile.F32]) {
	if c.Ring {
		ringGradient(k, c, in, w, rstds, part)
		return
	}
	block, n, rows := k.Block(), in.x.Dim(1), in.x.Dim(0)
	n.AtMost(c.Cap)
	x, dy, ws := hold[T](k, c, n), hold[T](k, c, n), hold[W](k, c, n)
	first, stride := c.share(k)
	var dw []tile.Var[tile.F32]
	for i := range c.Shared {
		tile.CopyAsync(block, ws.shared[i], w.At(c.column(k, i)))
		dw = append(dw, tile.NewVar(block, tile.Full(block, c.within(k, n, i), tile.F32(0))))
	}
	tile.If(block, first.Lt(rows), func() {
		for i := range c.Shared {
			x.copy(in.x, first, i)
			dy.copy(in.dy, first, i)
		}
	})
	tile.Commit(block)
	for row := range tile.Persistent(c.blocks(k), rows, tile.Blocks(part.Dim(0))) {
		rstd := tile.LoadScalar(block, rstds.At(row))
		tile.WaitGroup(block, 0)
		sum := newPartial(k)
		share := func(i int, x, dy tile.Reg[tile.F32]) { dw[i].Set(dw[i].Get().Add(dy.Mul(x.Mul(rstd)))) }
		for i := range c.Shared {
			x, dy, w := tile.Cast[tile.F32](x.chunk(i)), tile.Cast[tile.F32](dy.chunk(i)), tile.Cast[tile.F32](ws.chunk(i))
			if c.Cluster <= 1 {
				share(i, x, dy)
			}
			sum.add(x.Mul(dy.Mul(w)))
		}
		total := c.total(k, sum.Get().Sum(), func() {
			for i := range c.Shared { // in a cluster only now: while its blocks wait for one another
				if c.Cluster > 1 {
					share(i, tile.Cast[tile.F32](x.chunk(i)), tile.Cast[tile.F32](dy.chunk(i)))
				}
			}
		})
		mean := total.Mul(rstd).Mul(rstd).Div(n.Float())
		next := row.Add(stride)
		for i := range c.Shared {
			col := c.column(k, i)
			gx, gdy, gw := tile.Cast[tile.F32](x.chunk(i)), tile.Cast[tile.F32](dy.chunk(i)), tile.Cast[tile.F32](ws.chunk(i))
			dx := gdy.Mul(gw).Sub(gx.Mul(mean)).Mul(rstd)
			if in.ds != nil {
				dx = dx.Add(loadChunk(k, c, *in.ds, n, i, row))
			}
			tile.Store(block, in.dx.At(row, col), tile.Cast[T](dx), tile.Streaming)
			tile.If(block, next.Lt(rows), func() {
				x.copy(in.x, next, i)
				dy.copy(in.dy, next, i)
			})
		}
		tile.Commit(block)
	}
	tile.WaitGroup(block, 0) // for w, in a block without rows
	for i := range c.Shared {
		tile.Store(block, part.At(first, c.column(k, i)), dw[i].Get())
	}
}

func stagedBackward[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a backwardArgs[T, W]) {
		defer c.overlap(k)()
		stagedGradient(k, c, rowOf[T]{x: a.X, dy: a.DY, dx: a.DX}, a.W, a.Rstd, a.Part)
	}, c.options("RMSNorm backward: dx, and the share of dw of each block or cluster in f32.")...)
}

func stagedBackwardAdd[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a backwardAddArgs[T, W]) {
		defer c.overlap(k)()
		stagedGradient(k, c, rowOf[T]{x: a.S, dy: a.DY, dx: a.DX, ds: &a.DS}, a.W, a.Rstd, a.Part)
	}, c.options("RMSNorm backward of a sum: dx = dr, and the share of dw of each block or cluster in f32.")...)
}
