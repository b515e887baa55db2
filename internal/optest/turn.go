package optest

import "github.com/gotile/gotile/tile"

// turnArgs: what moves in tiles X[g]. Turned is the transposed tile, as its registers have it and spread like a tile of
// its own; Parts is X cut into pieces along columns and along rows, each piece plus its number; Spread is X after a way
// through another distribution, where it was doubled.
type turnArgs[T tile.Number] struct {
	X      tile.Global[T] `tile:"groups,rows,n"`
	Turned tile.Global[T] `tile:"groups,2,n,rows"`
	Parts  tile.Global[T] `tile:"groups,2,rows,n"`
	Spread tile.Global[T] `tile:"groups,rows,n"`
}

type turnGroupArgs[T tile.Number] turnArgs[T]

// piece is how large the pieces are: what the threads cover at once of each axis.
func (p spread) piece() [2]int {
	switch {
	case p.group:
		return [2]int{64, 8}
	case p.fragment:
		return [2]int{8, 8}
	}
	return [2]int{p.threads() / p.across, p.vec * p.across}
}

func turnTiles[T tile.Number](k *tile.Builder, a turnArgs[T], p spread) {
	p.tiles(k, a.X.Dim(0), func(s tile.Scope, g tile.Index, span func(rows, cols int) tile.Span) {
		x := tile.Load(s, a.X.At(g), span(p.rows, p.cols))
		t := x.Transpose()
		tile.Store(s, a.Turned.At(g, 0), t)
		tile.Store(s, a.Turned.At(g, 1), tile.Redistribute(t, span(p.cols, p.rows)))
		other := s.(striper).Striped2(p.rows, p.cols, 4, 4)
		y := tile.Redistribute(x, other)
		tile.Store(s, a.Spread.At(g), tile.Redistribute(y.Add(y), span(p.rows, p.cols)))
		for along, size := range [2]int{p.cols, p.rows} {
			axis := 1 - along
			step := p.piece()[axis]
			for i := range size / step {
				part := x.Subtile(axis, i*step, step).Add(tile.Const[T](float64(i)))
				at := [2]int{}
				at[axis] = i * step
				tile.Store(s, a.Parts.At(g, along, at[0], at[1]), part)
			}
		}
	})
}

func turnKernel[T tile.Number](t string, p spread) kernel {
	doc := tile.Doc("Transposes, pieces and other distributions of tiles.")
	return kernel{p.kernel("turn", t), func(name string) (*tile.Kernel, error) {
		if p.group {
			return tile.Define(name, func(k *tile.Builder, a turnGroupArgs[T]) { turnTiles(k, turnArgs[T](a), p) }, tile.Threads(p.threads()), doc)
		}
		return tile.Define(name, func(k *tile.Builder, a turnArgs[T]) { turnTiles(k, a, p) }, tile.Threads(p.threads()), doc)
	}}
}

// turnStriped is what is left of a tile whose sizes are no powers of two: it goes through shared memory.
var turnStriped = spread{name: "striped", warps: 2, rows: 24, cols: 40, vec: 1, across: 8}

func turnKernels() tile.Set {
	return tile.Sets(
		family(turnKernel[tile.F32]("f32", frag16x16), turnKernel[tile.F32]("f32", frag16x64),
			turnKernel[tile.BF16]("bf16", frag16x16), turnKernel[tile.BF16]("bf16", frag48x32), turnKernel[tile.F16]("f16", frag64x16), turnKernel[tile.I64]("i64", turnStriped)),
		family(turnKernel[tile.F32]("f32", group64x64), turnKernel[tile.BF16]("bf16", group64x64)))
}
