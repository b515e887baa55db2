package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// wgmmaBytesArgs: D[0] is A Bt by a warpgroup, D[1] the same of 64 of k from the 32nd on; E is A times 8 rows of B, from the
// 16th on, added to 1.
type wgmmaBytesArgs[T tile.Number, C accumulator] struct {
	A tile.Global[T] `tile:"64,128"`
	B tile.Global[T] `tile:"96,128"`
	D tile.Global[C] `tile:"2,64,96"`
	E tile.Global[C] `tile:"64,8"`
}

// The sides of the products of bytes, and what is taken of k and of B.
const (
	wgmmaBytesM, wgmmaBytesN, wgmmaBytesK = 64, 96, 128
	wgmmaBytesAt, wgmmaBytesDepth         = 32, 64
	wgmmaBytesRow                         = 16
)

func wgmmaBytes[T tile.Number, C accumulator](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a wgmmaBytesArgs[T, C]) {
			member := func(rows int) tile.Shared[T] {
				return tile.NewShared[T](k, rows, wgmmaBytesK).Swizzle(layout.Swizzle128)
			}
			sa, sb := member(wgmmaBytesM), member(wgmmaBytesN)
			k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
				tile.Store(c, sa, tile.Load(c, a.A, c.Striped2(wgmmaBytesM, wgmmaBytesK, 16, 8)))
				tile.Store(c, sb, tile.Load(c, a.B, c.Striped2(wgmmaBytesN, wgmmaBytesK, 16, 8)))
				acc := tile.NewAcc[C](c, wgmmaBytesM, wgmmaBytesN)
				tile.MMA(acc, sa, sb, tile.ABt)
				tile.Store(c, a.D.At(0), acc.Get())
				tile.MMA(acc, sa.At(0, wgmmaBytesAt).Matrix(wgmmaBytesM, wgmmaBytesDepth), sb.At(0, wgmmaBytesAt).Matrix(wgmmaBytesN, wgmmaBytesDepth), tile.ABt, tile.Overwrite)
				tile.Store(c, a.D.At(1), acc.Get())
				some := tile.NewVar(c, tile.Full(c, c.Fragment(wgmmaBytesM, 8), tile.Const[C](1)))
				tile.MMA(some, sa, sb.Rows(wgmmaBytesRow, 8), tile.ABt)
				tile.Store(c, a.E, some.Get())
			}))
		}, tile.Threads(128), tile.Targets("sm_90a"), tile.Doc("Products of bytes by a warpgroup."))
	}}
}

func wgmmaBytesKernels() tile.Set {
	return family(wgmmaBytes[tile.E4M3, tile.F32]("op_wgmma_bytes_e4m3"), wgmmaBytes[tile.E5M2, tile.F32]("op_wgmma_bytes_e5m2"), wgmmaBytes[tile.I8, tile.I32]("op_wgmma_bytes_i8"))
}
