package axpy

import (
	"github.com/gotile/gotile/tile"
)

// pairsArgs: Y = Type*Half + Count, two rows an iteration. It has what generated code must take care of: names that Go
// reserves, any strides, a fixed size, scalars of 2 and 8 bytes, and a grid from index arithmetic.
type pairsArgs struct {
	Type  tile.Global[tile.F32] `tile:"func,4 strided"`
	Y     tile.Global[tile.F32] `tile:"func,4"`
	Half  tile.Scalar[tile.F16]
	Count tile.Scalar[tile.I64]
	First tile.Scalar[tile.I32] // rows before it are left alone
}

func pairs(c config) (*tile.Kernel, error) {
	return tile.Define(c.KernelName(), func(k *tile.Builder, a pairsArgs) {
		block, rows := k.Block(), a.Type.Dim(0)
		first := tile.AsIndex(a.First.Reg())
		cols := block.Striped(4, 1)
		half, count := tile.Cast[tile.F32](a.Half.Reg()), tile.Cast[tile.F32](a.Count.Reg())
		for pair := range tile.Persistent(k, rows.Sub(first).AddInt(1).DivInt(2)) {
			for i := range 2 {
				row := first.Add(pair.Scale(2)).AddInt(i).Min(rows.SubInt(1))
				tile.Store(block, a.Y.Row(row), tile.Load(block, a.Type.Row(row), cols).Fma(half, count))
			}
		}
	}, tile.Threads(32))
}
