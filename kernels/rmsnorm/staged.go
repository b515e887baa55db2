package rmsnorm

import "github.com/gotile/gotile/tile"

// Rows that registers do not hold, but a multiprocessor does: a block keeps the first chunks of a row in shared memory,
// into which they are copied asynchronously, and the others in registers, so that the row is read from memory once. A
// cluster of blocks shares a longer row: chunk i of it is one chunk of each block.

// held is a row in chunks.
type held[T tile.Float] struct {
	c      Config
	k      *tile.Builder
	block  tile.Block
	n      tile.Index // length of a row
	shared []tile.Shared[T]
	regs   []tile.Reg[T] // of the row that was fetched last
}

// hold reserves shared memory for the first chunks of a row.
func hold[T tile.Float](k *tile.Builder, c Config, n tile.Index) *held[T] {
	h := &held[T]{c: c, k: k, block: k.Block(), n: n}
	for range c.Shared {
		h.shared = append(h.shared, tile.NewShared[T](k, c.chunk()))
	}
	return h
}

// chunks is the number of chunks that a block works on of a row.
func (c Config) chunks() int {
	if c.Again || c.Ring {
		return c.Cap / c.chunk() / max(c.Cluster, 1)
	}
	return c.Shared + c.Regs
}

// column is the first column of chunk i of this block.
func (c Config) column(k *tile.Builder, i int) any {
	if c.Cluster > 1 {
		return k.Cluster().Rank().Scale(c.chunk()).AddInt(i * c.Cluster * c.chunk())
	}
	return i * c.chunk()
}

// within is the distribution of chunk i with its extent. That of the first is given, as it would otherwise say that a
// row is no longer than a chunk.
func (c Config) within(k *tile.Builder, n tile.Index, i int) tile.Span {
	span := c.chunkSpan(k.Block())
	if i == 0 && c.Cluster <= 1 {
		return span.Clip(n.MinInt(c.chunk()))
	}
	return span
}

// loadChunk loads chunk i of w, or of a row, in f32.
func loadChunk[T tile.Float](k *tile.Builder, c Config, src tile.Global[T], n tile.Index, i int, row ...any) tile.Reg[tile.F32] {
	return tile.Cast[tile.F32](tile.Load(k.Block(), src.At(append(row, c.column(k, i))...), c.within(k, n, i)))
}

// share is the first row of the block, or of its cluster, and how far apart its rows are.
func (c Config) share(k *tile.Builder) (first, stride tile.Index) {
	if c.Cluster > 1 {
		return k.ClusterID(), k.NumClusters()
	}
	return k.BlockID(), k.NumBlocks()
}

// blocks are who shares a row.
func (c Config) blocks(k *tile.Builder) tile.Scope {
	if c.Cluster > 1 {
		return k.Cluster()
	}
	return k.Block()
}

// once runs f in one block of those that share a row.
func (c Config) once(k *tile.Builder, f func()) {
	if c.Cluster > 1 {
		tile.If(k.Block(), k.Cluster().Rank().EqInt(0), f)
		return
	}
	f()
}

// total is the sum over the blocks that share a row, in the order of their ranks. What runs meanwhile is done while the
// others' parts are on their way.
func (c Config) total(k *tile.Builder, sum tile.Reg[tile.F32], meanwhile ...func()) tile.Reg[tile.F32] {
	block, total := k.Block(), sum
	var parts tile.Shared[tile.F32]
	if c.Cluster > 1 {
		rank := k.Cluster().Rank()
		parts = tile.NewShared[tile.F32](k, c.Cluster)
		for i := range c.Cluster {
			tile.Store(block, tile.Peer(parts.At(rank), i), sum)
		}
	}
	for _, f := range meanwhile {
		f()
	}
	if c.Cluster > 1 {
		total = c.addUp(block, func(i int) tile.View[tile.F32] { return parts.At(i) })
	}
	return total
}

// addUp is the sum of what the blocks that share a row have told, in the order of their ranks.
func (c Config) addUp(s tile.Scope, part func(rank int) tile.View[tile.F32]) tile.Reg[tile.F32] {
	total := tile.LoadScalar(s, part(0))
	for i := 1; i < c.Cluster; i++ {
		total = total.Add(tile.LoadScalar(s, part(i)))
	}
	return total
}

// copy begins to copy the shared chunk i of a row.
func (h *held[T]) copy(src tile.Global[T], row tile.Index, i int) {
	tile.CopyAsync(h.block, h.shared[i], src.At(row, h.c.column(h.k, i)))
}

// fetch begins to read a row. The shared part of it is there after a WaitGroup.
func (h *held[T]) fetch(src tile.Global[T], row tile.Index) {
	for i := range h.shared {
		h.copy(src, row, i)
	}
	tile.Commit(h.block)
	h.regs = nil
	for i := range h.c.Regs {
		h.regs = append(h.regs, tile.Load(h.block, src.At(row, h.c.column(h.k, len(h.shared)+i)), h.c.chunkSpan(h.block)))
	}
}

// chunk is chunk i of the row, zero past its end.
func (h *held[T]) chunk(i int) tile.Reg[T] {
	if i < len(h.shared) {
		return tile.Load(h.block, h.shared[i], h.c.within(h.k, h.n, i))
	}
	return h.regs[i-len(h.shared)]
}

// put replaces chunk i.
func (h *held[T]) put(i int, x tile.Reg[T]) {
	if i < len(h.shared) {
		tile.Store(h.block, h.shared[i], x)
		return
	}
	h.regs[i-len(h.shared)] = x
}

// partial is a sum of which each thread has the part that its own elements make.
type partial struct{ tile.Var[tile.F32] }

func newPartial(k *tile.Builder) partial {
	return partial{tile.NewVar(k.Block(), tile.Full(k.Block(), k.Block().Striped(k.Threads(), 1), tile.F32(0)))}
}

func (p partial) add(x tile.Reg[tile.F32]) { p.Set(p.Get().Add(x.Fold())) }

// squares is the sum of the squares of what the block holds of the row.
func (h *held[T]) squares() tile.Reg[tile.F32] {
	sum := newPartial(h.k)
	for i := range h.c.chunks() {
		x := tile.Cast[tile.F32](h.chunk(i))
		sum.add(x.Mul(x))
	}
	return sum.Get().Sum()
}

func stagedForward[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a forwardArgs[T, W]) {
		defer c.overlap(k)()
		block, n, x := k.Block(), a.X.Dim(1), hold[T](k, c, a.X.Dim(1))
		n.AtMost(c.Cap)
		for row := range tile.Persistent(c.blocks(k), a.X.Dim(0), c.each()...) {
			x.fetch(a.X, row)
			w := loadChunk(k, c, a.W, n, 0) // under way with the row
			tile.WaitGroup(block, 0)
			rstd := rstdOf(c.total(k, x.squares()), n, a.Eps)
			for i := range c.chunks() {
				if i > 0 {
					w = loadChunk(k, c, a.W, n, i)
				}
				tile.Store(block, a.Y.At(row, c.column(k, i)), tile.Cast[T](tile.Cast[tile.F32](x.chunk(i)).Mul(rstd).Mul(w)))
			}
			c.once(k, func() { tile.Store(block, a.Rstd.At(row), rstd) })
		}
	}, c.options("RMSNorm forward: y = x * rstd * w, rstd = 1/sqrt(mean(x^2) + eps).")...)
}

func stagedForwardAdd[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a forwardAddArgs[T, W]) {
		defer c.overlap(k)()
		block, n, x := k.Block(), a.X.Dim(1), hold[T](k, c, a.X.Dim(1))
		n.AtMost(c.Cap)
		for row := range tile.Persistent(c.blocks(k), a.X.Dim(0), c.each()...) {
			x.fetch(a.X, row)
			residual := func(i int) tile.Reg[T] { return tile.Load(block, a.R.At(row, c.column(k, i)), c.within(k, n, i)) }
			r := residual(0)
			tile.WaitGroup(block, 0)
			squares := newPartial(k)
			for i := range c.chunks() {
				if i > 0 {
					r = residual(i)
				}
				s := x.chunk(i).Add(r)
				tile.Store(block, a.S.At(row, c.column(k, i)), s)
				x.put(i, s)
				f := tile.Cast[tile.F32](s)
				squares.add(f.Mul(f))
			}
			rstd := rstdOf(c.total(k, squares.Get().Sum()), n, a.Eps)
			for i := range c.chunks() {
				w := loadChunk(k, c, a.W, n, i)
				tile.Store(block, a.Y.At(row, c.column(k, i)), tile.Cast[T](tile.Cast[tile.F32](x.chunk(i)).Mul(rstd).Mul(w)))
			}
			c.once(k, func() { tile.Store(block, a.Rstd.At(row), rstd) })
		}
	}, c.options("RMSNorm forward of a sum: s = x + r, y = s * rstd * w, rstd = 1/sqrt(mean(s^2) + eps).")...)
}
