package matrix

import (
	"github.com/gotile/gotile/tile"
)

// columns are those of the swizzled tiles.
var columns = []int{base, 2 * base, 3 * base, side}

// swizzled write a tile to shared memory in one spread and read it in another.
var swizzled = &family{
	name: "swizzle", doc: "loads and stores of swizzled tiles.", ways: []way{onewarp, groupwise, stripes[0], stripes[1], stripes[2]}, more: columns, variants: swizzles,
	bodies: bodies{f32: swizzle[tile.F32], bf16: swizzle[tile.BF16]},
	fits:   func(m *module, _, cols int) bool { return m.variant.serves(m.dt, cols) },
	want: func(p *problem) {
		p.each(func(_, _ int, x float64) float64 { return 3 * x })
	},
}

func swizzle[T tile.Number](e *env[T]) {
	t, x := e.more[e.cols].At(e.worker), e.load()
	tile.Store(e.scope, t, x.Fill(tile.Const[T](0)))
	y := tile.Load(e.scope, t, e.ends(e.scope.Striped2(e.rows, e.cols, 16/e.m.dt.Size()/2, 4)))
	tile.Store(e.scope, t, y.Add(y).Fill(tile.Const[T](0)))
	e.store(x.Add(tile.Load(e.scope, t, e.span)))
}

// matrixMoves go by ldmatrix and stmatrix; a turned tile takes their transposing forms.
var matrixMoves = &family{
	name: "matrix", doc: "matrix loads and stores of swizzled tiles.", ways: []way{onewarp, groupwise}, more: columns, variants: swizzles, ends: never,
	bodies: bodies{bf16: moveMatrix[tile.BF16], f16: moveMatrix[tile.F16]},
	fits:   func(m *module, _, cols int) bool { return m.variant.serves(m.dt, cols) },
	want: func(p *problem) {
		p.each(func(_, _ int, x float64) float64 { return 2*x + 1 })
	},
}

func moveMatrix[T tile.Float](e *env[T]) {
	s, t := e.scope.(tile.TensorScope), e.more[e.cols].At(e.worker)
	plain := e.scope.Striped2(e.rows, e.cols, 4, 4)
	tile.Store(e.scope, t, tile.Load(e.scope, e.at(), plain))
	x := tile.LoadMatrix(s, t, e.span)
	tile.StoreMatrix(s, t, x.Add(x))
	e.store(tile.Load(e.scope, t, plain).Add(tile.Const[T](1)))
}

// moves exchange the two spreads of tensor cores within a warp.
var moves = &family{
	name: "movmatrix", doc: "tiles that move between the spreads of tensor cores.", ways: []way{warpwise}, ends: never,
	bodies: bodies{bf16: exchange[tile.BF16], f16: exchange[tile.F16]},
	want: func(p *problem) {
		p.each(func(_, _ int, x float64) float64 { return x - 1 })
	},
}

func exchange[T tile.Float](e *env[T]) { e.store(tile.MoveMatrix(e.load()).Sub(tile.Const[T](1))) }
