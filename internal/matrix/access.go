package matrix

import "github.com/gotile/gotile/tile"

// accesses read tiles from global memory and write them there: of rows at multiples of 16 bytes, of rows that are not,
// and from an odd element on.
var accesses = &family{
	name: "global", doc: "loads from global memory and stores to it.", ways: allWays, results: toGlobal,
	bodies: bodies{f32: access[tile.F32], bf16: access[tile.BF16]},
	want: func(p *problem) {
		p.each(func(_, _ int, x float64) float64 { return x + x })
	},
}

func access[T tile.Number](e *env[T]) {
	x := tile.Load(e.scope, e.a.X.At(e.worker), e.span)
	tile.Store(e.scope, e.a.Y.At(e.worker), tile.Operand[T](x.Add(x)))
}

// A place is how a tensor of the accesses lies in memory.
type place struct {
	name       string
	pad, shift int // elements after each row, and before the first
}

var places = []place{{"", 0, 0}, {"/unaligned rows", 3, 0}, {"/shifted", 0, 1}}
