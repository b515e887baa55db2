package optest

import "github.com/gotile/gotile/tile"

// castArgs: X converted to every type.
type castArgs[S tile.Number] struct {
	X  tile.Global[S]         `tile:"n"`
	F  tile.Global[tile.F32]  `tile:"n"`
	BF tile.Global[tile.BF16] `tile:"n"`
	H  tile.Global[tile.F16]  `tile:"n"`
	I  tile.Global[tile.I32]  `tile:"n"`
	U  tile.Global[tile.U32]  `tile:"n"`
	L  tile.Global[tile.I64]  `tile:"n"`
}

const castThreads = 128

func cast[S tile.Number](name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a castArgs[S]) {
		block := k.Block()
		span := block.Striped(castThreads*2, 2)
		for at := range tile.Persistent(k, a.X.Dim(0), tile.Step(castThreads*2)) {
			x := tile.Load(block, a.X.At(at), span)
			tile.Store(block, a.F.At(at), tile.Cast[tile.F32](x))
			tile.Store(block, a.BF.At(at), tile.Cast[tile.BF16](x))
			tile.Store(block, a.H.At(at), tile.Cast[tile.F16](x))
			tile.Store(block, a.I.At(at), tile.Cast[tile.I32](x))
			tile.Store(block, a.U.At(at), tile.Cast[tile.U32](x))
			tile.Store(block, a.L.At(at), tile.Cast[tile.I64](x))
		}
	}, tile.Threads(castThreads), tile.Doc("One type converted to every type."))
}

func castKernels() tile.Set {
	return family(kernel{"op_cast_f32", cast[tile.F32]}, kernel{"op_cast_bf16", cast[tile.BF16]}, kernel{"op_cast_f16", cast[tile.F16]},
		kernel{"op_cast_i32", cast[tile.I32]}, kernel{"op_cast_u32", cast[tile.U32]}, kernel{"op_cast_i64", cast[tile.I64]})
}

// floatCastArgs: the predicate X < 0 converted to every type.
type floatCastArgs struct {
	X  tile.Global[tile.F32]  `tile:"n"`
	F  tile.Global[tile.F32]  `tile:"n"`
	BF tile.Global[tile.BF16] `tile:"n"`
	H  tile.Global[tile.F16]  `tile:"n"`
	I  tile.Global[tile.I32]  `tile:"n"`
	U  tile.Global[tile.U32]  `tile:"n"`
	L  tile.Global[tile.I64]  `tile:"n"`
}

func castBool(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a floatCastArgs) {
		block := k.Block()
		span := block.Striped(128, 2)
		p := tile.Load(block, a.X, span).Lt(tile.F32(0))
		tile.Store(block, a.F, tile.Cast[tile.F32](p))
		tile.Store(block, a.BF, tile.Cast[tile.BF16](p))
		tile.Store(block, a.H, tile.Cast[tile.F16](p))
		tile.Store(block, a.I, tile.Cast[tile.I32](p))
		tile.Store(block, a.U, tile.Cast[tile.U32](p))
		tile.Store(block, a.L, tile.Cast[tile.I64](p))
	}, tile.Threads(64), tile.Doc("A predicate converted to every type."))
}

func floatCastKernels() tile.Set { return family(kernel{"op_cast_bool", castBool}) }

// bitcastArgs: the bits of F, I, U, L, BF and H as every other type of their size.
type bitcastArgs struct {
	F   tile.Global[tile.F32]  `tile:"n"`
	I   tile.Global[tile.I32]  `tile:"n"`
	U   tile.Global[tile.U32]  `tile:"n"`
	L   tile.Global[tile.I64]  `tile:"n"`
	BF  tile.Global[tile.BF16] `tile:"n"`
	H   tile.Global[tile.F16]  `tile:"n"`
	FI  tile.Global[tile.I32]  `tile:"n"`
	FU  tile.Global[tile.U32]  `tile:"n"`
	IF  tile.Global[tile.F32]  `tile:"n"`
	IU  tile.Global[tile.U32]  `tile:"n"`
	UF  tile.Global[tile.F32]  `tile:"n"`
	UI  tile.Global[tile.I32]  `tile:"n"`
	LL  tile.Global[tile.I64]  `tile:"n"`
	BFH tile.Global[tile.F16]  `tile:"n"`
	HBF tile.Global[tile.BF16] `tile:"n"`
}

func bitcast(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a bitcastArgs) {
		block := k.Block()
		span := block.Striped(256, 2)
		f, i, u := tile.Load(block, a.F, span), tile.Load(block, a.I, span), tile.Load(block, a.U, span)
		tile.Store(block, a.FI, tile.Bitcast[tile.I32](f))
		tile.Store(block, a.FU, tile.Bitcast[tile.U32](f))
		tile.Store(block, a.IF, tile.Bitcast[tile.F32](i))
		tile.Store(block, a.IU, tile.Bitcast[tile.U32](i))
		tile.Store(block, a.UF, tile.Bitcast[tile.F32](u))
		tile.Store(block, a.UI, tile.Bitcast[tile.I32](u))
		tile.Store(block, a.LL, tile.Bitcast[tile.I64](tile.Load(block, a.L, span)))
		tile.Store(block, a.BFH, tile.Bitcast[tile.F16](tile.Load(block, a.BF, span)))
		tile.Store(block, a.HBF, tile.Bitcast[tile.BF16](tile.Load(block, a.H, span)))
	}, tile.Threads(128), tile.Doc("Bits as another type of the same size."))
}

func bitcastKernels() tile.Set { return family(kernel{"op_bitcast", bitcast}) }
