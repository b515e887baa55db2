package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// wgmmaTF32Args: the products of A and B by a warpgroup, given as the four forms take them, as TF32 and TF32x3: D[0] to
// D[3] and D[4] to D[7] with operands in shared memory, D[8] to D[11] and D[12] to D[15] with A in registers, or the second
// half of k added to the first.
type wgmmaTF32Args struct {
	A tile.Global[tile.F32] `tile:"64,64"`
	B tile.Global[tile.F32] `tile:"64,64"`
	D tile.Global[tile.F32] `tile:"16,64,64"`
}

const wgmmaTF32Side = 64

func wgmmaTF32(name string) (*tile.Kernel, error) {
	const side = wgmmaTF32Side
	return tile.Define(name, func(k *tile.Builder, a wgmmaTF32Args) {
		// A's rows have no swizzle, and B's another than a copy for wgmma: they are loaded as they lie.
		sa, sb := tile.NewShared[tile.F32](k, side, side), tile.NewShared[tile.F32](k, side, side).Swizzle(layout.Swizzle64)
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			span := c.Striped2(side, side, 4, 16)
			tile.Store(c, sa, tile.Load(c, a.A, span))
			tile.Store(c, sb, tile.Load(c, a.B, span))
			acc, plain := tile.NewAcc[tile.F32](c, side, side), c.Fragment(side, side)
			for i, accuracy := range tf32Accuracies {
				for j, form := range tf32Forms {
					tile.MMA(acc, sa, sb, form, accuracy, tile.Overwrite)
					tile.Store(c, a.D.At(4*i+j), acc.Get())
					if j < 3 {
						tile.MMA(acc, tile.Load(c, a.A, mmaSpanOf(plain, transposedA(form))), sb, form, accuracy, tile.Overwrite)
					} else { // of AtBt
						tile.MMA(acc, sa.At(0, 0).Matrix(side/2, side), sb.At(0, 0).Matrix(side, side/2), form, accuracy, tile.Overwrite)
						tile.MMA(acc, sa.At(side/2, 0).Matrix(side/2, side), sb.At(0, side/2).Matrix(side, side/2), form, accuracy)
					}
					tile.Store(c, a.D.At(8+4*i+j), acc.Get())
				}
			}
		}))
	}, tile.Threads(128), tile.Targets("sm_90a"), tile.Doc("Products of f32 by a warpgroup, with tf32."))
}

// wgmmaCutArgs: D = A Bt by two warpgroups, from shared memory as it lies, with A in shared memory and in registers, and by
// copies; E is A times the first 8 rows of B.
type wgmmaCutArgs struct {
	A tile.Global[tile.F32] `tile:"128,40"`
	B tile.Global[tile.F32] `tile:"256,40"`
	D tile.Global[tile.F32] `tile:"3,128,256"`
	E tile.Global[tile.F32] `tile:"2,128,8"`
}

// The sides of the products as they lie. Rows are whole panels of no swizzle but the 32-byte one.
const (
	wgmmaCutM = 128
	wgmmaCutN = 256
	wgmmaCutK = 40
)

func wgmmaCut(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a wgmmaCutArgs) {
		member := func(rows int) tile.Shared[tile.F32] {
			return tile.NewShared[tile.F32](k, rows, wgmmaCutK).Swizzle(layout.Swizzle32)
		}
		sa, sb := member(wgmmaCutM), member(wgmmaCutN)
		block := k.Block()
		tile.Store(block, sa, tile.Load(block, a.A, block.Striped2(wgmmaCutM, wgmmaCutK, 4, 2)))
		tile.Store(block, sb, tile.Load(block, a.B, block.Striped2(wgmmaCutN, wgmmaCutK, 4, 2)))
		k.Roles(tile.Consumers(2, 0, func(c tile.Warpgroup) {
			row := c.Index().Scale(wgmmaCutM / 2)
			rows, ra := sa.Rows(row, wgmmaCutM/2), tile.Load(c, a.A.At(row), c.Fragment(wgmmaCutM/2, wgmmaCutK))
			acc := tile.NewAcc[tile.F32](c, wgmmaCutM/2, wgmmaCutN)
			tile.MMA(acc, rows, sb, tile.ABt, tile.TF32Cut)
			tile.Store(c, a.D.At(0, row), acc.Get())
			tile.MMA(acc, ra, sb, tile.ABt, tile.TF32Cut, tile.Overwrite)
			tile.Store(c, a.D.At(1, row), acc.Get())
			tile.MMA(acc, rows, sb, tile.ABt, tile.TF32, tile.Overwrite)
			tile.Store(c, a.D.At(2, row), acc.Get())
			part := tile.NewAcc[tile.F32](c, wgmmaCutM/2, 8)
			tile.MMA(part, rows, sb.Rows(0, 8), tile.ABt, tile.TF32Cut)
			tile.Store(c, a.E.At(0, row), part.Get())
			tile.MMA(part, ra, sb.Rows(0, 8), tile.ABt, tile.TF32x3, tile.Overwrite)
			tile.Store(c, a.E.At(1, row), part.Get())
		}))
	}, tile.Threads(256), tile.Targets("sm_90a"), tile.Doc("Products of f32 by warpgroups, of what shared memory holds."))
}

// roundTF32Args: Y is X as tf32.
type roundTF32Args struct {
	X tile.Global[tile.F32] `tile:"n"`
	Y tile.Global[tile.F32] `tile:"n"`
}

func roundTF32(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a roundTF32Args) {
		block := k.Block()
		for at := range tile.Persistent(k, a.X.Dim(0), tile.Step(arithThreads)) {
			tile.Store(block, a.Y.At(at), tile.Load(block, a.X.At(at), block.Striped(arithThreads, 1)).RoundTF32())
		}
	}, tile.Threads(arithThreads), tile.Doc("Numbers as tensor cores take them."))
}

// wgmmaWideArgs: the most and the fewest columns: D[0] and D[1] are A B, with rows of B along n and along k; E[0] and E[1]
// their first 8 columns.
type wgmmaWideArgs struct {
	A tile.Global[tile.BF16] `tile:"64,64"`
	B tile.Global[tile.BF16] `tile:"64,256"`
	D tile.Global[tile.F32]  `tile:"2,64,256"`
	E tile.Global[tile.F32]  `tile:"3,64,8"`
}

const (
	wgmmaWideSide = 64
	wgmmaWideN    = 256
)

func wgmmaWide(name string) (*tile.Kernel, error) {
	const side = wgmmaWideSide
	return tile.Define(name, func(k *tile.Builder, a wgmmaWideArgs) {
		member := func(rows, cols int, sw layout.Swizzle) tile.Shared[tile.BF16] {
			return tile.NewShared[tile.BF16](k, rows, cols).Swizzle(sw)
		}
		sa, sb, turned := member(side, side, layout.Swizzle128), member(side, wgmmaWideN, layout.Swizzle128), member(wgmmaWideN, side, layout.Swizzle128)
		few := member(side, 16, layout.Swizzle32) // 8 columns are half a panel
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			tile.Store(c, sa, tile.Load(c, a.A, c.Striped2(side, side, 8, 8)))
			b := tile.Load(c, a.B, c.Striped2(side, wgmmaWideN, 8, 32))
			tile.Store(c, sb, b)
			tile.Store(c, turned, b.Transpose())
			tile.Store(c, few, tile.Load(c, a.B, c.Striped2(side, 16, 8, 2)))
			acc, part := tile.NewAcc[tile.F32](c, side, wgmmaWideN), tile.NewAcc[tile.F32](c, side, 8)
			tile.MMA(acc, sa, sb)
			tile.Store(c, a.D.At(0), acc.Get())
			tile.MMA(acc, sa, turned, tile.ABt, tile.Overwrite)
			tile.Store(c, a.D.At(1), acc.Get())
			for i, multiply := range []func(){
				func() { tile.MMA(part, sa, sb.At().Matrix(side, 8)) },
				func() { tile.MMA(part, sa, turned.Rows(0, 8), tile.ABt, tile.Overwrite) },
				func() { tile.MMA(part, sa, few.At().Matrix(side, 8), tile.Overwrite) },
			} {
				multiply()
				tile.Store(c, a.E.At(i), part.Get())
			}
		}))
	}, tile.Threads(128), tile.Doc("Products of a warpgroup with the most and the fewest columns."))
}

func wgmmaTF32Kernels() tile.Set {
	return tile.Sets(family(kernel{"op_wgmma_tf32", wgmmaTF32}), family(kernel{"op_wgmma_cut", wgmmaCut}),
		family(kernel{"op_wgmma_wide", wgmmaWide}), family(kernel{"op_round_tf32", roundTF32}), wgmmaBytesKernels())
}
