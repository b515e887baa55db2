package matrix

import (
	"github.com/gotile/gotile/tile"
)

var transposes = &family{
	name: "transpose", doc: "transposed tiles.", ways: allWays,
	bodies: bodies{f32: transpose[tile.F32], bf16: transpose[tile.BF16]},
	want: func(p *problem) {
		for i := range p.m {
			for j := range p.n {
				p.y[j][i] = p.x[i][j] + 1
			}
		}
	},
}

func transpose[T tile.Number](e *env[T]) { e.store(e.load().Transpose().Add(tile.Const[T](1))) }

// redistributions go to another spread and back.
var redistributions = &family{
	name: "redistribute", doc: "tiles that move to other spreads.", ways: []way{warpwise, groupwise, stripes[0], stripes[1]},
	bodies: bodies{f32: redistribute[tile.F32], bf16: redistribute[tile.BF16]},
	fits:   func(_ *module, rows, cols int) bool { return rows*cols <= 32*32 },
	want: func(p *problem) {
		p.each(func(_, _ int, x float64) float64 { return 2*x + 1 })
	},
}

func redistribute[T tile.Number](e *env[T]) {
	x := e.load()
	other := e.scope.Striped2(e.rows, e.cols, 1, 8)
	y := tile.Redistribute(x, other)
	e.store(tile.Redistribute(y.Add(y), x.Span()).Add(tile.Const[T](1)))
}

// subtiles are pieces, to each of which its number is added.
var subtiles = &family{
	name: "subtile", doc: "pieces of tiles.", ways: []way{warpwise, groupwise, stripes[0], stripes[1]}, ends: never,
	bodies: bodies{f32: subtile[tile.F32], bf16: subtile[tile.BF16]},
	want: func(p *problem) {
		axis, step := p.module.piece(p.body)
		p.each(func(i, j int, x float64) float64 { return x + float64([2]int{i, j}[axis]/step) })
	},
}

// piece is along which axis the tiles of a body are cut, and how large the pieces are: what the threads cover at once.
func (m *module) piece(b body) (axis, step int) {
	axis = b.pick(2)
	switch {
	case m.way.kind == perBlock:
		vec, across := stripe(b.rows, b.cols)
		return axis, [2]int{max(base, 32*m.way.warps/across), vec * across}[axis]
	case m.way.kind == perGroup && (b.layout == "turned") == (axis == 1):
		return axis, side
	}
	return axis, 8
}

func subtile[T tile.Number](e *env[T]) {
	x := e.load()
	axis, step := e.m.piece(e.body)
	for i := range [2]int{e.rows, e.cols}[axis] / step {
		at := [2]int{}
		at[axis] = i * step
		e.store(x.Subtile(axis, i*step, step).Add(tile.Const[T](float64(i))), at[0], at[1])
	}
}

// shifts read rows that lie before or behind: those of the tile and those around it, and zeros beyond the buffer.
var shifts = &family{
	name: "shift", doc: "tiles whose rows lie before or behind.", ways: allWays,
	bodies: bodies{f32: shift[tile.F32], bf16: shift[tile.BF16]},
	want: func(p *problem) {
		by := shifted(p.body)
		p.each(func(i, j int, _ float64) float64 {
			if i -= by; i < 0 || i >= side {
				return 0
			}
			return p.x[i][j]
		})
	},
}

func shifted(b body) int { return []int{1, 2, 3, -1, -2}[b.pick(5)] }

func shift[T tile.Number](e *env[T]) {
	e.store(tile.LoadShifted(e.scope, e.at(), e.span, shifted(e.body)))
}
