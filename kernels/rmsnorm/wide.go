package rmsnorm

import "github.com/gotile/gotile/tile"

// Rows that no block holds at once are read in chunks of columns, twice: first for the sum over the row, then for what
// depends on it. The second time much of it comes from the L2 cache.

// chunkSpan is the distribution of the columns that a block works on at a time.
func (c Config) chunkSpan(block tile.Block) tile.Span { return block.Striped(c.chunk(), c.vec()) }

// rowSum adds up what term gives for each chunk of a row, in a fixed order: the chunks by each thread, then the threads.
// What term gives is zero past the end of the row, or filled with zeros.
func rowSum(c Config, block tile.Block, n tile.Index, term func(col tile.Index) tile.Reg[tile.F32]) tile.Reg[tile.F32] {
	acc := tile.NewVar(block, tile.Full(block, c.chunkSpan(block), tile.F32(0)))
	for col := range tile.Range(block, 0, n, c.chunk()) {
		acc.Set(acc.Get().Add(term(col).Fill(tile.F32(0))))
	}
	return acc.Get().Sum()
}

// rstdOf is rstd for the sum of a row's squares.
func rstdOf(squares tile.Reg[tile.F32], n tile.Index, eps tile.Scalar[tile.F32]) tile.Reg[tile.F32] {
	return squares.Div(n.Float()).Add(eps).Rsqrt()
}

// chunk loads the columns of a row from col on, in f32.
func chunk[T tile.Float](c Config, block tile.Block, src tile.Global[T], at ...any) tile.Reg[tile.F32] {
	return tile.Cast[tile.F32](tile.Load(block, src.At(at...), c.chunkSpan(block)))
}

func wideForward[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a forwardArgs[T, W]) {
		defer c.overlap(k)()
		block, n := k.Block(), a.X.Dim(1)
		for row := range tile.Persistent(k, a.X.Dim(0), tile.OneBlockEach()) {
			rstd := rstdOf(rowSum(c, block, n, func(col tile.Index) tile.Reg[tile.F32] {
				x := chunk(c, block, a.X, row, col)
				return x.Mul(x)
			}), n, a.Eps)
			tile.Store(block, a.Rstd.At(row), rstd)
			for col := range tile.Range(block, 0, n, c.chunk()) {
				x, w := chunk(c, block, a.X, row, col), chunk(c, block, a.W, col)
				tile.Store(block, a.Y.At(row, col), tile.Cast[T](x.Mul(rstd).Mul(w)))
			}
		}
	}, c.options("RMSNorm forward of wide rows: y = x * rstd * w, rstd = 1/sqrt(mean(x^2) + eps).")...)
}

func wideForwardAdd[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a forwardAddArgs[T, W]) {
		defer c.overlap(k)()
		block, n, span := k.Block(), a.X.Dim(1), c.chunkSpan(k.Block())
		for row := range tile.Persistent(k, a.X.Dim(0), tile.OneBlockEach()) {
			rstd := rstdOf(rowSum(c, block, n, func(col tile.Index) tile.Reg[tile.F32] {
				s := tile.Load(block, a.X.At(row, col), span).Add(tile.Load(block, a.R.At(row, col), span))
				tile.Store(block, a.S.At(row, col), s)
				x := tile.Cast[tile.F32](s)
				return x.Mul(x)
			}), n, a.Eps)
			tile.Store(block, a.Rstd.At(row), rstd)
			for col := range tile.Range(block, 0, n, c.chunk()) {
				s, w := chunk(c, block, a.S, row, col), chunk(c, block, a.W, col)
				tile.Store(block, a.Y.At(row, col), tile.Cast[T](s.Mul(rstd).Mul(w)))
			}
		}
	}, c.options("RMSNorm forward of a sum of wide rows: s = x + r, y = s * rstd * w, rstd = 1/sqrt(mean(s^2) + eps).")...)
}

func wideGatedForward[T, W tile.Float](k *tile.Builder, c Config, a gatedForwardArgs[T, W]) {
	block, n := k.Block(), a.X.Dim(1)
	for row := range tile.Persistent(k, a.X.Dim(0), tile.OneBlockEach()) {
		rstd := rstdOf(rowSum(c, block, n, func(col tile.Index) tile.Reg[tile.F32] {
			x := chunk(c, block, a.X, row, col)
			return x.Mul(x)
		}), n, a.Eps)
		tile.Store(block, a.Rstd.At(row), rstd)
		for col := range tile.Range(block, 0, n, c.chunk()) {
			x, z, w := chunk(c, block, a.X, row, col), chunk(c, block, a.Z, row, col), chunk(c, block, a.W, col)
			tile.Store(block, a.Y.At(row, col), tile.Cast[T](c.gated(block, x.Mul(rstd).Mul(w), z)))
		}
	}
}
