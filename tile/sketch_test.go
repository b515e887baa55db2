package tile_test

import "github.com/gotile/gotile/tile"

type fwdArgs[T tile.Float] struct {
	X, Y tile.Global[T]        `tile:"rows,n"`
	W    tile.Global[T]        `tile:"n"`
	Rstd tile.Global[tile.F32] `tile:"rows"`
	Eps  tile.Scalar[tile.F32]
}

// forward is the sketch of the design: RMSNorm, a row a block.
func forward[T tile.Float](name string, capacity, vec int) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a fwdArgs[T]) {
		block, n := k.Block(), a.X.Dim(1)
		cols := block.Striped(capacity, vec).Clip(n)
		w := tile.Cast[tile.F32](tile.Load(block, a.W, cols))
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			x := tile.Cast[tile.F32](tile.Load(block, a.X.Row(row), cols))
			rstd := x.Mul(x).Sum().Div(n.Float()).Add(a.Eps).Rsqrt()
			tile.Store(block, a.Y.Row(row), tile.Cast[T](x.Mul(rstd).Mul(w)))
			tile.Store(block, a.Rstd.At(row), rstd)
		}
	}, tile.Threads(256))
}

// forward2 is RMSNorm of several rows a block.
func forward2[T tile.Float](name string, rows, capacity, vec, across int) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a fwdArgs[T]) {
		block, n := k.Block(), a.X.Dim(1)
		span := block.Striped2(rows, capacity, vec, across)
		w := tile.Cast[tile.F32](tile.Load(block, a.W, span.Axis(1)))
		for row := range tile.Persistent(k, a.X.Dim(0), tile.Step(rows)) {
			x := tile.Cast[tile.F32](tile.Load(block, a.X.Row(row), span))
			rstd := x.Mul(x).Sum(1).Div(n.Float()).Add(a.Eps).Rsqrt()
			y := x.Mul(tile.Expand(rstd, x.Span(), 1)).Mul(tile.Expand(w, x.Span(), 0))
			tile.Store(block, a.Y.Row(row), tile.Cast[T](y))
			tile.Store(block, a.Rstd.At(row), rstd)
		}
	}, tile.Threads(256))
}
