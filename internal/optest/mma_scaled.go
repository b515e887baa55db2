package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// mmaScaledArgs: P = A Bt, scaled by rows and added to, scaled by columns and added to; D = P V with P in bf16.
type mmaScaledArgs struct {
	A    tile.Global[tile.BF16] `tile:"m,k"`
	B    tile.Global[tile.BF16] `tile:"n,k"`
	V    tile.Global[tile.BF16] `tile:"n,e"`
	Rows tile.Global[tile.F32]  `tile:"m"`
	Cols tile.Global[tile.F32]  `tile:"n"`
	P    tile.Global[tile.F32]  `tile:"m,n"`
	D    tile.Global[tile.F32]  `tile:"m,e"`
}

// wgmmaScaledArgs are mmaScaledArgs, of another family.
type wgmmaScaledArgs mmaScaledArgs

// mmaScaledSide are n, k and e, and m of a warpgroup; a warp has 16 rows.
const mmaScaledSide = 64

// mmaScaled scales a live accumulator in place between products. The factors end where A and B do, and are 0 past that.
func mmaScaled(s tile.TensorScope, m int, sa, sb, sv tile.Shared[tile.BF16], a mmaScaledArgs) {
	p := tile.NewAcc[tile.F32](s, m, mmaScaledSide)
	span := s.Fragment(m, mmaScaledSide)
	rows := tile.Load(s, a.Rows, span.Axis(0)).Fill(tile.F32(0))
	cols := tile.Load(s, a.Cols, span.Axis(1)).Fill(tile.F32(0))
	tile.MMA(p, sa, sb, tile.ABt)
	tile.ScaleRows(p, rows)
	tile.MMA(p, sa, sb, tile.ABt)
	tile.ScaleCols(p, cols)
	tile.MMA(p, sa, sb, tile.ABt)
	d := tile.NewAcc[tile.F32](s, m, mmaScaledSide)
	tile.MMA(d, tile.Cast[tile.BF16](p.Get()), sv)
	tile.Store(s, a.P, p.Get())
	tile.Store(s, a.D, d.Get())
}

func mmaScaledTile(k *tile.Builder, rows int) tile.Shared[tile.BF16] {
	return tile.NewShared[tile.BF16](k, rows, mmaScaledSide).Swizzle(layout.Swizzle128)
}

const mmaScaledDoc = "Products into an accumulator that is scaled in between, which is an operand in bf16 then."

func mmaScaledWarp(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a mmaScaledArgs) {
		fill := func(rows int, g tile.Global[tile.BF16]) tile.Shared[tile.BF16] {
			return mmaTile(k, g, rows, mmaScaledSide)
		}
		mmaScaled(k.Warp(), 16, fill(16, a.A), fill(mmaScaledSide, a.B), fill(mmaScaledSide, a.V), a)
	}, tile.Threads(32), tile.Doc(mmaScaledDoc))
}

func mmaScaledGroup(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a wgmmaScaledArgs) {
		sa, sb, sv := mmaScaledTile(k, mmaScaledSide), mmaScaledTile(k, mmaScaledSide), mmaScaledTile(k, mmaScaledSide)
		k.Roles(tile.Consumers(1, 0, func(c tile.Warpgroup) {
			fill := func(s tile.Shared[tile.BF16], g tile.Global[tile.BF16]) {
				tile.Store(c, s, tile.Load(c, g, c.Striped2(mmaScaledSide, mmaScaledSide, 2, 32)).Fill(tile.Const[tile.BF16](0)))
			}
			fill(sa, a.A)
			fill(sb, a.B)
			fill(sv, a.V)
			mmaScaled(c, mmaScaledSide, sa, sb, sv, mmaScaledArgs(a))
		}))
	}, tile.Threads(128), tile.Doc(mmaScaledDoc))
}

func mmaScaledKernels() tile.Set {
	return tile.Sets(family(kernel{"op_mma_scaled", mmaScaledWarp}), family(kernel{"op_wgmma_scaled", mmaScaledGroup}))
}
