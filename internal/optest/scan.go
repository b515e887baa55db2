package optest

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile"
)

// scans are the four, in the order of the outputs.
var scans = []ir.Op{ir.CumSum, ir.CumMax, ir.CumMin, ir.CumProd}

// scanWays are how scans go: sums and minima the first two ways, the others the last two.
var scanWays = [][]tile.ScanOption{{}, {tile.Exclusive, tile.Reverse}, {tile.Exclusive}, {tile.Reverse}}

// scanArgs: the scans of the tiles X[g], of each op one along rows and one along columns.
type scanArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"groups,rows,n"`
	Y tile.Global[T] `tile:"groups,8,rows,n"`
}

// scanOutput is what output i of Y is: of op i/2 the first or the second way, along axis 0 or 1.
func scanOutput(i int) (axis int, way []tile.ScanOption) {
	o, nth := i/2, i%2
	return (o + nth) % 2, scanWays[o%2*2+nth]
}

// scanGroupArgs are those of kernels of warpgroups, whose grid is another.
type scanGroupArgs[T tile.Number] scanArgs[T]

func scanTiles[T tile.Number](k *tile.Builder, a scanArgs[T], p spread) {
	p.tiles(k, a.X.Dim(0), func(s tile.Scope, g tile.Index, span func(rows, cols int) tile.Span) {
		x := tile.Load(s, a.X.At(g), span(p.rows, p.cols))
		all := []func(axis int, opts ...tile.ScanOption) tile.Reg[T]{x.CumSum, x.CumMax, x.CumMin, x.CumProd}
		for i := range 2 * len(all) {
			axis, way := scanOutput(i)
			tile.Store(s, a.Y.At(g, i), all[i/2](axis, way...))
		}
	})
}

func scanKernel[T tile.Number](t string, p spread) kernel {
	doc := tile.Doc("Scans of tiles along rows and along columns.")
	return kernel{p.kernel("scan", t), func(name string) (*tile.Kernel, error) {
		if p.group {
			return tile.Define(name, func(k *tile.Builder, a scanGroupArgs[T]) { scanTiles(k, scanArgs[T](a), p) }, tile.Threads(p.threads()), doc)
		}
		return tile.Define(name, func(k *tile.Builder, a scanArgs[T]) { scanTiles(k, a, p) }, tile.Threads(p.threads()), doc)
	}}
}

func scanKernels() tile.Set {
	return tile.Sets(
		family(scanKernel[tile.F32]("f32", frag16x16), scanKernel[tile.F32]("f32", frag32x32), scanKernel[tile.BF16]("bf16", frag16x64), scanKernel[tile.F16]("f16", frag64x16),
			scanKernel[tile.I32]("i32", blockwise), scanKernel[tile.I64]("i64", striped)),
		family(scanKernel[tile.F32]("f32", group64x32), scanKernel[tile.BF16]("bf16", group64x64)))
}
