package optest

import "github.com/gotile/gotile/tile"

// scalarArgs: a scalar argument of every type, stored as it is and added to a tile of ones.
type scalarArgs struct {
	F  tile.Scalar[tile.F32]
	BF tile.Scalar[tile.BF16]
	H  tile.Scalar[tile.F16]
	I  tile.Scalar[tile.I32]
	U  tile.Scalar[tile.U32]
	L  tile.Scalar[tile.I64]

	YF  tile.Global[tile.F32]  `tile:"2,n"`
	YBF tile.Global[tile.BF16] `tile:"2,n"`
	YH  tile.Global[tile.F16]  `tile:"2,n"`
	YI  tile.Global[tile.I32]  `tile:"2,n"`
	YU  tile.Global[tile.U32]  `tile:"2,n"`
	YL  tile.Global[tile.I64]  `tile:"2,n"`
}

func scalarOf[T tile.Number](k *tile.Builder, s tile.Scalar[T], y tile.Global[T]) {
	block := k.Block()
	one := tile.Full(block, block.Striped(40, 1), tile.Const[T](1))
	tile.Store(block, y.At(0), tile.Full(block, block.Striped(40, 1), s.Reg()))
	tile.Store(block, y.At(1), one.Add(s))
	tile.Store(block, y.At(1, 0), s) // one value
}

func scalars(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a scalarArgs) {
		scalarOf(k, a.F, a.YF)
		scalarOf(k, a.BF, a.YBF)
		scalarOf(k, a.H, a.YH)
		scalarOf(k, a.I, a.YI)
		scalarOf(k, a.U, a.YU)
		scalarOf(k, a.L, a.YL)
	}, tile.Threads(32), tile.Doc("Scalar arguments of every type."))
}

func scalarKernels() tile.Set { return family(kernel{"op_scalar", scalars}) }

// ptxArgs: instructions that no op of the table prints.
type ptxArgs struct {
	A, B tile.Global[tile.U32] `tile:"n"`
	L    tile.Global[tile.I64] `tile:"n"`
	F    tile.Global[tile.F32] `tile:"n"`
	Pop  tile.Global[tile.U32] `tile:"n"` // popc A
	Perm tile.Global[tile.U32] `tile:"n"` // prmt A, B, 0x5410
	Mad  tile.Global[tile.I64] `tile:"n"` // A*i + L with i an index
	Sat  tile.Global[tile.F32] `tile:"n"` // cvt.sat F
	One  tile.Global[tile.U32] `tile:"2"` // of one value: brev 6, and twice as much
}

func ptx(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a ptxArgs) {
		block := k.Block()
		span := block.Striped(100, 2)
		x, y, l, f := tile.Load(block, a.A, span), tile.Load(block, a.B, span), tile.Load(block, a.L, span), tile.Load(block, a.F, span)
		pop := tile.PTX[tile.U32]("popc.b32 %0, %1;", popc, x)
		tile.Store(block, a.Pop, pop)
		tile.Store(block, a.Perm, tile.PTX[tile.U32]("prmt.b32 %0, %1, %2, 0x5410;", func(in []uint64) uint64 { return in[0]&0xffff | in[1]<<16&0xffff0000 }, x, y))
		tile.Store(block, a.Mad, tile.PTX[tile.I64]("mad.wide.s32 %0, %1, %2, %3;", func(in []uint64) uint64 {
			return uint64(int64(int32(in[0]))*int64(int32(in[1]))) + in[2]
		}, x, a.A.Dim(0), l))
		tile.Store(block, a.Sat, tile.PTX[tile.F32]("cvt.sat.f32.f32 %0, %1;", saturate, f))
		one := tile.PTX[tile.U32]("brev.b32 %0, %1;", brev, tile.Full(block, span, tile.U32(6)).MaxOf())
		tile.Store(block, a.One.At(0), one)
		tile.Store(block, a.One.At(1), one.Add(one))
	}, tile.Threads(64), tile.Doc("Inline PTX."))
}

func ptxKernels() tile.Set { return family(kernel{"op_ptx", ptx}) }
