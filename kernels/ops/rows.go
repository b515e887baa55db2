package ops

import (
	"math"

	"github.com/gotile/gotile/internal/elementwise"
	"github.com/gotile/gotile/tile"
)

// The kernels whose results need a whole row first: a block walks over a row twice, and finds it in L2 the second time.
type (
	rowArgs[T tile.Float] struct {
		X, Y tile.Global[T] `tile:"rows,n"`
	}
	softmaxArgs[T tile.Float]    rowArgs[T]
	logSoftmaxArgs[T tile.Float] rowArgs[T]

	rowBwdArgs[T tile.Float] struct {
		DY, Y, DX tile.Global[T] `tile:"rows,n"`
	}
	softmaxBwdArgs[T tile.Float]    rowBwdArgs[T]
	logSoftmaxBwdArgs[T tile.Float] rowBwdArgs[T]
)

type (
	rowLike[T tile.Float] interface {
		~struct {
			X, Y tile.Global[T] `tile:"rows,n"`
		}
	}
	rowBwdLike[T tile.Float] interface {
		~struct {
			DY, Y, DX tile.Global[T] `tile:"rows,n"`
		}
	}
)

// Of a row: forward, x has x, its largest element and the sum of e^(x - largest); backward, dy, y, and the sum of a term
// of them.
var (
	softmaxExpr = expr{"softmax", "e^x over its sum, row by row", func(x []f32, _ f32) f32 {
		return x[0].Sub(x[1]).Exp().Div(x[2])
	}}
	logSoftmaxExpr = expr{"log_softmax", "x minus the log of the sum of e^x, row by row", func(x []f32, _ f32) f32 {
		return x[0].Sub(x[1]).Sub(x[2].Log())
	}}
	softmaxBwdExpr = expr{"softmax_bwd", "y (dy - the sum of dy*y), row by row", func(x []f32, _ f32) f32 {
		return x[1].Mul(x[0].Sub(x[2]))
	}}
	logSoftmaxBwdExpr = expr{"log_softmax_bwd", "dy - e^y times the sum of dy, row by row", func(x []f32, _ f32) f32 {
		return x[0].Sub(x[1].Exp().Mul(x[2]))
	}}
)

// What the backward passes add up over a row.
func productTerm(dy, y f32) f32  { return dy.Mul(y) }
func gradientTerm(dy, _ f32) f32 { return dy }

func buildRow[T tile.Float, A rowLike[T]](c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, args A) {
		a := rowArgs[T](args)
		block := k.Block()
		for row := range tile.Persistent(k, a.X.Dim(0)) {
			largest, sum := exponentials(k, a, row, c)
			columns(k, a.X.Dim(1), c.t, func(col tile.Index, span tile.Span) {
				x := elementwise.Load(block, a.X.At(row, col), span)
				y := c.expr.of([]f32{x, tile.Full[tile.F32](block, span, largest), tile.Full[tile.F32](block, span, sum)}, f32{})
				tile.Store(block, a.Y.At(row, col), tile.Cast[T](y))
			})
		}
	}, tile.Threads(threads), c.doc())
}

// exponentials is the largest element of a row and the sum of e^(x - largest), in one walk: each thread keeps both of the
// elements that it has seen, and scales its sum when a larger one comes. The first largest is the least number of f32, not
// -Inf, so that elements of -Inf count nothing.
func exponentials[T tile.Float](k *tile.Builder, a rowArgs[T], row tile.Index, c config) (largest, sum f32) {
	block := k.Block()
	all := block.Striped(chunk, elementwise.Vec(c.t))
	m, s := tile.NewVar(block, tile.Full(block, all, tile.F32(-math.MaxFloat32))), tile.NewVar(block, tile.Full(block, all, tile.F32(0)))
	columns(k, a.X.Dim(1), c.t, func(col tile.Index, span tile.Span) {
		x := elementwise.Load(block, a.X.At(row, col), span).Fill(tile.F32(math.Inf(-1)), 0)
		before := m.Get()
		now := before.Max(x)
		s.Set(s.Get().Mul(before.Sub(now).Exp()).Add(x.Sub(now).Exp()))
		m.Set(now)
	})
	largest = m.Get().MaxOf()
	return largest, s.Get().Mul(m.Get().Sub(tile.Full[tile.F32](block, all, largest)).Exp()).Sum()
}

func buildRowBwd[T tile.Float, A rowBwdLike[T]](term func(dy, y f32) f32) build {
	return func(c config) (*tile.Kernel, error) { return defineRowBwd[T, A](c, term) }
}

func defineRowBwd[T tile.Float, A rowBwdLike[T]](c config, term func(dy, y f32) f32) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, args A) {
		a := rowBwdArgs[T](args)
		block := k.Block()
		load := func(row, col tile.Index, span tile.Span) (dy, y f32) {
			return elementwise.Load(block, a.DY.At(row, col), span), elementwise.Load(block, a.Y.At(row, col), span)
		}
		for row := range tile.Persistent(k, a.DX.Dim(0)) {
			sum := rowSum(k, a.DX.Dim(1), c.t, func(col tile.Index, span tile.Span) f32 {
				dy, y := load(row, col, span)
				return term(dy, y)
			})
			columns(k, a.DX.Dim(1), c.t, func(col tile.Index, span tile.Span) {
				dy, y := load(row, col, span)
				dx := c.expr.of([]f32{dy, y, tile.Full[tile.F32](block, span, sum)}, f32{})
				tile.Store(block, a.DX.At(row, col), tile.Cast[T](dx))
			})
		}
	}, tile.Threads(threads), c.doc())
}
