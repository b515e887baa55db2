package optest

import "github.com/gotile/gotile/tile"

// maskArgs: masks and maps of tiles X[g], and an accumulator whose rows and columns are scaled between additions.
type maskArgs[T tile.Float] struct {
	X      tile.Global[T]        `tile:"groups,rows,n"`
	R      tile.Global[T]        `tile:"rows"`
	C      tile.Global[T]        `tile:"n"`
	Y      tile.Global[T]        `tile:"groups,4,rows,n"`
	Scaled tile.Global[tile.F32] `tile:"groups,rows,n"`
}

type maskGroupArgs[T tile.Float] maskArgs[T]

func maskTiles[T tile.Float](k *tile.Builder, a maskArgs[T], p spread) {
	p.tiles(k, a.X.Dim(0), func(s tile.Scope, g tile.Index, span func(rows, cols int) tile.Span) {
		whole := span(p.rows, p.cols)
		x := tile.Load(s, a.X.At(g), whole)
		fill := tile.Const[T](-7)
		tile.Store(s, a.Y.At(g, 0), tile.Causal(x, g, fill)) // each tile has another diagonal
		tile.Store(s, a.Y.At(g, 1), tile.CausalStrict(x, 0, fill))
		tile.Store(s, a.Y.At(g, 2), tile.Mask(x, x.Gt(tile.Const[T](0)), tile.Const[T](0)))
		tile.Store(s, a.Y.At(g, 3), tile.Map(x, func(row, col tile.Reg[tile.I32], v tile.Reg[T]) tile.Reg[T] {
			return v.Add(tile.Cast[T](row.Mul(tile.I32(2)).Sub(col)))
		}))
		r := tile.Cast[tile.F32](tile.Load(s, a.R, whole.Axis(0))).Fill(tile.F32(0))
		c := tile.Cast[tile.F32](tile.Load(s, a.C, whole.Axis(1))).Fill(tile.F32(0))
		acc := tile.NewVar(s, tile.Operand[tile.F32](tile.Full(s, whole, tile.F32(0))))
		for range tile.Range(s, 0, 2, 1) {
			acc.Set(acc.Get().Add(tile.Cast[tile.F32](x).Fill(tile.F32(0))))
			tile.ScaleRows(acc, r)
			tile.ScaleCols(acc, c)
		}
		tile.Store(s, a.Scaled.At(g), acc.Get())
	})
}

func maskKernel[T tile.Float](t string, p spread) kernel {
	doc := tile.Doc("Masks and maps of tiles, and scaled accumulators.")
	return kernel{p.kernel("mask", t), func(name string) (*tile.Kernel, error) {
		if p.group {
			return tile.Define(name, func(k *tile.Builder, a maskGroupArgs[T]) { maskTiles(k, maskArgs[T](a), p) }, tile.Threads(p.threads()), doc)
		}
		return tile.Define(name, func(k *tile.Builder, a maskArgs[T]) { maskTiles(k, a, p) }, tile.Threads(p.threads()), doc)
	}}
}

func maskKernels() tile.Set {
	return tile.Sets(
		family(maskKernel[tile.F32]("f32", frag32x48), maskKernel[tile.BF16]("bf16", frag16x64), maskKernel[tile.F16]("f16", frag48x32)),
		family(maskKernel[tile.F32]("f32", group64x32), maskKernel[tile.BF16]("bf16", group64x64)))
}
