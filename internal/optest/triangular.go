package optest

import "github.com/gotile/gotile/tile"

// triangularArgs: the inverses of I plus what is below the diagonals of L[g].
type triangularArgs struct {
	L tile.Global[tile.F32] `tile:"groups,n,n"`
	Y tile.Global[tile.F32] `tile:"groups,n,n"`
}

func triangularKernel(p spread) kernel {
	return kernel{p.kernel("triangular", "f32"), func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a triangularArgs) {
			p.tiles(k, a.L.Dim(0), func(s tile.Scope, g tile.Index, span func(rows, cols int) tile.Span) {
				l := tile.Load(s, a.L.At(g), span(p.rows, p.cols))
				// A smaller matrix is one with rows and columns of the unit matrix.
				tile.Store(s, a.Y.At(g), tile.InverseUnitLower(l.Fill(tile.F32(0))))
			})
		}, tile.Threads(p.threads()), tile.Doc("Inverses of unit lower triangular matrices."))
	}}
}

var (
	triangular8  = spread{name: "w1_8x8", warps: 1, rows: 8, cols: 8, vec: 2, across: 4}
	triangular16 = spread{name: "w2_16x16", fragment: true, warps: 2, rows: 16, cols: 16}
	triangular32 = spread{name: "w4_32x32", fragment: true, warps: 4, rows: 32, cols: 32}
)

func triangularKernels() tile.Set {
	return family(triangularKernel(triangular8), triangularKernel(triangular16), triangularKernel(triangular32))
}
