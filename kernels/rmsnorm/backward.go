package rmsnorm

import "github.com/gotile/gotile/tile"

type backwardArgs[T, W tile.Float] struct {
	X, DY, DX tile.Global[T]        `tile:"rows,n"`
	W         tile.Global[W]        `tile:"n"`
	Rstd      tile.Global[tile.F32] `tile:"rows"`
	Part      tile.Global[tile.F32] `tile:"parts,n"` // each block's share of dw
}

type backwardAddArgs[T, W tile.Float] struct {
	S, DY, DS, DX tile.Global[T]        `tile:"rows,n"` // DS: the gradient of S; DX: of both x and r
	W             tile.Global[W]        `tile:"n"`
	Rstd          tile.Global[tile.F32] `tile:"rows"`
	Part          tile.Global[tile.F32] `tile:"parts,n"`
}

// rows is what one step of the backward pass reads.
type rows[T, W tile.Float] struct {
	x, dy tile.View[T]
	rstd  tile.View[tile.F32]
}

// gradient adds a block's rows to its share of dw and gives their dx in f32.
func gradient[T, W tile.Float](block tile.Block, span tile.Span, in rows[T, W], w func() tile.Reg[tile.F32], n tile.Index, dw tile.Var[tile.F32]) tile.Reg[tile.F32] {
	x := tile.Cast[tile.F32](tile.Load(block, in.x, span))
	dy := tile.Cast[tile.F32](tile.Load(block, in.dy, span))
	rstd := tile.Load(block, in.rstd, span.Axis(0))
	wdy := dy.Mul(tile.Expand(w(), dy.Span(), 0))
	sum := x.Mul(wdy).Sum(1)
	mean := sum.Mul(rstd).Mul(rstd).Div(tile.Full(block, sum.Span(), n.Float()))
	r := tile.Expand(rstd, x.Span(), 1)
	dw.Set(dw.Get().Add(dy.Mul(x.Mul(r)).Fill(tile.F32(0), 0)))
	return wdy.Sub(x.Mul(tile.Expand(mean, x.Span(), 1))).Mul(r)
}

// backwardRows stores dx of the block's rows and gives its share of dw.
func backwardRows[T, W tile.Float](k *tile.Builder, c Config, a backwardArgs[T, W]) tile.Reg[tile.F32] {
	block, n := k.Block(), a.X.Dim(1)
	span := c.span(block)
	w := weightOf(c, block, a.W, span.Axis(1))
	dw := tile.NewVar(block, tile.Full(block, span.Clip(nil, n), tile.F32(0)))
	for row := range c.shares(k, a.X.Dim(0), a.Part.Dim(0)) {
		dx := gradient(block, span, rows[T, W]{a.X.Row(row), a.DY.Row(row), a.Rstd.At(row)}, w, n, dw)
		tile.Store(block, a.DX.Row(row), tile.Cast[T](dx), tile.Streaming)
	}
	return dw.Get().Sum(0)
}

func backward[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a backwardArgs[T, W]) {
		defer c.overlap(k)()
		tile.Store(k, a.Part.Row(k.BlockID()), backwardRows(k, c, a))
	}, c.options("RMSNorm backward: dx, and each block's share of dw in f32.")...)
}

// backwardAddRows is backwardRows with the gradient of the sum added.
func backwardAddRows[T, W tile.Float](k *tile.Builder, c Config, a backwardAddArgs[T, W]) tile.Reg[tile.F32] {
	block, n := k.Block(), a.S.Dim(1)
	span := c.span(block)
	w := weightOf(c, block, a.W, span.Axis(1))
	dw := tile.NewVar(block, tile.Full(block, span.Clip(nil, n), tile.F32(0)))
	for row := range c.shares(k, a.S.Dim(0), a.Part.Dim(0)) {
		ds := func() tile.Reg[tile.F32] { return tile.Cast[tile.F32](tile.Load(block, a.DS.Row(row), span)) }
		if !c.Tight { // under way with the others
			early := ds()
			ds = func() tile.Reg[tile.F32] { return early }
		}
		dx := gradient(block, span, rows[T, W]{a.S.Row(row), a.DY.Row(row), a.Rstd.At(row)}, w, n, dw)
		tile.Store(block, a.DX.Row(row), tile.Cast[T](dx.Add(ds())), tile.Streaming)
	}
	return dw.Get().Sum(0)
}

func backwardAdd[T, W tile.Float](c Config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a backwardAddArgs[T, W]) {
		defer c.overlap(k)()
		tile.Store(k, a.Part.Row(k.BlockID()), backwardAddRows(k, c, a))
	}, c.options("RMSNorm backward of a sum: dx = dr, and each block's share of dw in f32.")...)
}
