package rmsnorm

import "github.com/gotile/gotile/tile"

type forwardArgs[T, W tile.Float] struct {
	X, Y tile.Global[T]        `tile:"rows,n"`
	W    tile.Global[W]        `tile:"n"`
	Rstd tile.Global[tile.F32] `tile:"rows"`
	Eps  tile.Scalar[tile.F32]
}

type forwardAddArgs[T, W tile.Float] struct {
	X, R tile.Global[T]        `tile:"rows,n"`
	S, Y tile.Global[T]        `tile:"rows,n"` // S = X + R
	W    tile.Global[W]        `tile:"n"`
	Rstd tile.Global[tile.F32] `tile:"rows"`
	Eps  tile.Scalar[tile.F32]
}

func forward[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a forwardArgs[T, W]) {
		defer c.overlap(k)()
		block := k.Block()
		span := c.span(block)
		w := weightOf(c, block, a.W, span.Axis(1))
		var hint tile.Hint // none for the shortest rows, as measured
		if c.Cap > 512 {
			hint = tile.EvictFirst
		}
		for row := range tile.Persistent(k, a.X.Dim(0), c.each(tile.Step(c.rows()))...) {
			x := tile.Cast[tile.F32](tile.Load(block, a.X.Row(row), span, hint))
			y, rstd := normalise(block, x, w, a.X.Dim(1), a.Eps)
			tile.Store(block, a.Y.Row(row), tile.Cast[T](y), hint)
			tile.Store(block, a.Rstd.At(row), rstd)
		}
	}, c.options("RMSNorm forward: y = x * rstd * w, rstd = 1/sqrt(mean(x^2) + eps).")...)
}

// forwardAgain reads a row twice. What the first reading leaves in the caches stays there for the second, which is the
// last: so the caches have room for y. The hints are what makes it fast.
func forwardAgain[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a forwardArgs[T, W]) {
		defer c.overlap(k)()
		block, n := k.Block(), a.X.Dim(1)
		n.AtMost(c.Cap)
		for row := range tile.Persistent(k, a.X.Dim(0), c.each()...) {
			load := func(i int, hint tile.Hint) tile.Reg[tile.F32] {
				return tile.Cast[tile.F32](tile.Load(block, a.X.At(row, c.column(k, i)), c.within(k, n, i), hint))
			}
			sum := newPartial(k)
			for i := range c.chunks() {
				x := load(i, tile.EvictLast)
				sum.add(x.Mul(x))
			}
			rstd := rstdOf(sum.Get().Sum(), n, a.Eps)
			for i := range c.chunks() {
				x := load(i, tile.EvictFirst)
				w := tile.Cast[tile.F32](tile.Load(block, a.W.At(c.column(k, i)), c.within(k, n, i), tile.EvictLast))
				tile.Store(block, a.Y.At(row, c.column(k, i)), tile.Cast[T](x.Mul(rstd).Mul(w)))
			}
			tile.Store(block, a.Rstd.At(row), rstd)
		}
	}, c.options("RMSNorm forward: y = x * rstd * w, rstd = 1/sqrt(mean(x^2) + eps).")...)
}

// forwardAdd normalises the sum as it is stored, rounded, so that backward starts from the numbers that forward used.
func forwardAdd[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a forwardAddArgs[T, W]) {
		defer c.overlap(k)()
		block := k.Block()
		span := c.span(block)
		w := weightOf(c, block, a.W, span.Axis(1))
		for row := range tile.Persistent(k, a.X.Dim(0), c.each(tile.Step(c.rows()))...) {
			s := tile.Load(block, a.X.Row(row), span).Add(tile.Load(block, a.R.Row(row), span))
			tile.Store(block, a.S.Row(row), s)
			y, rstd := normalise(block, tile.Cast[tile.F32](s), w, a.X.Dim(1), a.Eps)
			tile.Store(block, a.Y.Row(row), tile.Cast[T](y))
			tile.Store(block, a.Rstd.At(row), rstd)
		}
	}, c.options("RMSNorm forward of a sum: s = x + r, y = s * rstd * w, rstd = 1/sqrt(mean(s^2) + eps).")...)
}

// normalise gives x*rstd*w and rstd of each row of a rows x n tile.
func normalise(block tile.Block, x tile.Reg[tile.F32], w func() tile.Reg[tile.F32], n tile.Index, eps tile.Scalar[tile.F32]) (y, rstd tile.Reg[tile.F32]) {
	sum := x.Mul(x).Sum(1)
	rstd = sum.Div(tile.Full(block, sum.Span(), n.Float())).Add(eps).Rsqrt()
	return x.Mul(tile.Expand(rstd, x.Span(), 1)).Mul(tile.Expand(w(), x.Span(), 0)), rstd
}

// weightOf loads w in f32: here, or, where registers are short, at each call.
func weightOf[W tile.Float](c Config, block tile.Block, src tile.Global[W], span tile.Span) func() tile.Reg[tile.F32] {
	load := func() tile.Reg[tile.F32] { return tile.Cast[tile.F32](tile.Load(block, src, span)) }
	if c.Tight {
		return load
	}
	w := load()
	return func() tile.Reg[tile.F32] { return w }
}
