package optest

import (
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile"
)

// scans are the four, in the order of the outputs.
var scans = []ir.Op{ir.CumSum, ir.CumMax, ir.CumMin, ir.CumProd}

// scanWays are how each scan goes along each axis: the outputs of one op and axis.
var scanWays = [][]tile.ScanOption{{}, {tile.Exclusive, tile.Reverse}, {tile.Exclusive}, {tile.Reverse}}

// scanArgs: the scans of the tiles X[g], two ways each along both axes.
type scanArgs[T tile.Number] struct {
	X tile.Global[T] `tile:"groups,rows,n"`
	Y tile.Global[T] `tile:"groups,16,rows,n"`
}

// scanOutput is where a scan lies in Y: op o along an axis, the first or the second of its ways.
func scanOutput(o, axis, nth int) int { return 4*o + 2*axis + nth }

// scanWay is the nth way of op o: sums and minima go the first two ways, the others the last two.
func scanWay(o, nth int) []tile.ScanOption { return scanWays[o%2*2+nth] }

// scanGroupArgs are those of kernels of warpgroups, whose grid is another.
type scanGroupArgs[T tile.Number] scanArgs[T]

func scanTiles[T tile.Number](k *tile.Builder, a scanArgs[T], p spread) {
	p.tiles(k, a.X.Dim(0), func(s tile.Scope, g tile.Index, span func(rows, cols int) tile.Span) {
		x := tile.Load(s, a.X.At(g), span(p.rows, p.cols))
		for o, scan := range []func(axis int, opts ...tile.ScanOption) tile.Reg[T]{x.CumSum, x.CumMax, x.CumMin, x.CumProd} {
			for axis := range 2 {
				for nth := range 2 {
					tile.Store(s, a.Y.At(g, scanOutput(o, axis, nth)), scan(axis, scanWay(o, nth)...))
				}
			}
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
		family(scanKernel[tile.F32]("f32", frag16x16), scanKernel[tile.F32]("f32", frag16x64), scanKernel[tile.F32]("f32", frag32x48),
			scanKernel[tile.BF16]("bf16", frag48x32), scanKernel[tile.F16]("f16", frag64x16), scanKernel[tile.I32]("i32", blockwise), scanKernel[tile.I64]("i64", striped)),
		family(scanKernel[tile.F32]("f32", group64x64), scanKernel[tile.BF16]("bf16", group64x32)))
}
