package optest

import (
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// The products of tensor cores in the four forms. D has C + A B four times, with A and B in shared memory, A in registers,
// B in registers, and both; E has A times the first columns of B, and nothing added.
type (
	mmaABArgs[T tile.Float] struct {
		A tile.Global[T]        `tile:"m,k"`
		B tile.Global[T]        `tile:"k,n"`
		C tile.Global[tile.F32] `tile:"m,n"`
		D tile.Global[tile.F32] `tile:"4,m,n"`
		E tile.Global[tile.F32] `tile:"m,part"`
	}
	mmaABtArgs[T tile.Float] struct {
		A tile.Global[T]        `tile:"m,k"`
		B tile.Global[T]        `tile:"n,k"`
		C tile.Global[tile.F32] `tile:"m,n"`
		D tile.Global[tile.F32] `tile:"4,m,n"`
		E tile.Global[tile.F32] `tile:"m,part"`
	}
	mmaAtBArgs[T tile.Float] struct {
		A tile.Global[T]        `tile:"k,m"`
		B tile.Global[T]        `tile:"k,n"`
		C tile.Global[tile.F32] `tile:"m,n"`
		D tile.Global[tile.F32] `tile:"4,m,n"`
		E tile.Global[tile.F32] `tile:"m,part"`
	}
	mmaAtBtArgs[T tile.Float] struct {
		A tile.Global[T]        `tile:"k,m"`
		B tile.Global[T]        `tile:"n,k"`
		C tile.Global[tile.F32] `tile:"m,n"`
		D tile.Global[tile.F32] `tile:"4,m,n"`
		E tile.Global[tile.F32] `tile:"m,part"`
	}
)

// The sides of the product of a warp, and the columns of E.
const (
	mmaM = 32
	mmaN = 32
	mmaK = 32
	mmaE = 24
)

// mmaSides are the sides of an operand as it is given.
func mmaSides(rows, cols int, trans bool) (int, int) {
	if trans {
		return cols, rows
	}
	return rows, cols
}

// mmaSpan is the span of an operand in registers: of rows x k as it is multiplied, B's rows being n.
func mmaSpan(warp tile.Warp, rows int, trans bool) tile.Span {
	span := warp.Fragment(rows, mmaK)
	if trans {
		return span.Transpose()
	}
	return span
}

// mmaBody computes the products of a warp.
func mmaBody[T tile.Float](k *tile.Builder, form tile.Form, ga, gb tile.Global[T], c, d, e tile.Global[tile.F32]) {
	warp := k.Warp()
	transA, transB := form == tile.AtB || form == tile.AtBt, form == tile.ABt || form == tile.AtBt
	ar, ac := mmaSides(mmaM, mmaK, transA)
	br, bc := mmaSides(mmaN, mmaK, !transB)
	sa, sb := mmaTile(k, ga, ar, ac), mmaTile(k, gb, br, bc)
	ra, rb := tile.Load(warp, ga, mmaSpan(warp, mmaM, transA)), tile.Load(warp, gb, mmaSpan(warp, mmaN, !transB))
	first := tile.Load(warp, c, warp.Fragment(mmaM, mmaN)).Fill(tile.F32(0))
	for i, f := range []func(acc tile.Var[tile.F32]){
		func(acc tile.Var[tile.F32]) { tile.MMA(acc, sa, sb, form) },
		func(acc tile.Var[tile.F32]) { tile.MMA(acc, ra, sb, form) },
		func(acc tile.Var[tile.F32]) { tile.MMA(acc, sa, rb, form) },
		func(acc tile.Var[tile.F32]) { tile.MMA(acc, ra, rb, form) },
	} {
		acc := tile.NewVar(warp, first)
		f(acc)
		tile.Store(warp, d.At(i), acc.Get())
	}
	part := tile.NewVar(warp, tile.Full(warp, warp.Fragment(mmaM, mmaE), tile.F32(1)))
	er, ec := mmaSides(mmaE, mmaK, !transB)
	tile.MMA(part, sa, sb.At().Matrix(er, ec), form, tile.Overwrite)
	tile.Store(warp, e, part.Get())
}

// mmaTile copies a matrix to a shared tile, with zeros past its ends and a swizzle if its rows have one.
func mmaTile[T tile.Float](k *tile.Builder, g tile.Global[T], rows, cols int) tile.Shared[T] {
	warp, swizzle := k.Warp(), layout.NoSwizzle
	switch cols * 2 {
	case 128:
		swizzle = layout.Swizzle128
	case 64:
		swizzle = layout.Swizzle64
	}
	s := tile.NewShared[T](k, rows, cols).Swizzle(swizzle)
	tile.Store(warp, s, tile.Load(warp, g, warp.Striped2(rows, cols, 2, 8)).Fill(tile.Const[T](0)))
	return s
}

func mmaKernel[A any, T tile.Float](name string, form tile.Form, sides func(a A) (x, y tile.Global[T], c, d, e tile.Global[tile.F32])) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a A) {
			x, y, c, d, e := sides(a)
			mmaBody(k, form, x, y, c, d, e)
		}, tile.Threads(32), tile.Doc("A product of tensor cores, with operands in shared memory and in registers."))
	}}
}

func mmaAB[T tile.Float](a mmaABArgs[T]) (x, y tile.Global[T], c, d, e tile.Global[tile.F32]) {
	return a.A, a.B, a.C, a.D, a.E
}
func mmaABt[T tile.Float](a mmaABtArgs[T]) (x, y tile.Global[T], c, d, e tile.Global[tile.F32]) {
	return a.A, a.B, a.C, a.D, a.E
}
func mmaAtB[T tile.Float](a mmaAtBArgs[T]) (x, y tile.Global[T], c, d, e tile.Global[tile.F32]) {
	return a.A, a.B, a.C, a.D, a.E
}
func mmaAtBt[T tile.Float](a mmaAtBtArgs[T]) (x, y tile.Global[T], c, d, e tile.Global[tile.F32]) {
	return a.A, a.B, a.C, a.D, a.E
}

// mmaChainArgs: P = A Bt in 16 bits, D = P V: the accumulator of the first product is the operand of the second. H is the
// first product in an accumulator of 16 bits.
type mmaChainArgs struct {
	A tile.Global[tile.F16] `tile:"m,k"`
	B tile.Global[tile.F16] `tile:"n,k"`
	V tile.Global[tile.F16] `tile:"n,k"`
	D tile.Global[tile.F32] `tile:"m,k"`
	H tile.Global[tile.F16] `tile:"m,n"`
}

func mmaChain(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a mmaChainArgs) {
		warp := k.Warp()
		sa, sb, sv := mmaTile(k, a.A, mmaM, mmaK), mmaTile(k, a.B, mmaN, mmaK), mmaTile(k, a.V, mmaN, mmaK)
		p, d, h := tile.NewAcc[tile.F32](warp, mmaM, mmaN), tile.NewAcc[tile.F32](warp, mmaM, mmaK), tile.NewAcc[tile.F16](warp, mmaM, mmaN)
		tile.MMA(p, sa, sb, tile.ABt)
		before := p.Get() // of before the next product
		tile.MMA(p, sa, sb, tile.ABt)
		tile.MMA(d, tile.Cast[tile.F16](p.Get().Sub(before)), sv)
		tile.MMA(h, sa, sb, tile.ABt)
		tile.Store(warp, a.D, d.Get())
		tile.Store(warp, a.H, h.Get())
	}, tile.Threads(32), tile.Doc("Two products, the second of what the first gave."))
}

func mmaKernels() tile.Set {
	return tile.Sets(
		family(mmaKernel("op_mma_ab_bf16", tile.AB, mmaAB[tile.BF16]), mmaKernel("op_mma_ab_f16", tile.AB, mmaAB[tile.F16])),
		family(mmaKernel("op_mma_abt_bf16", tile.ABt, mmaABt[tile.BF16]), mmaKernel("op_mma_abt_f16", tile.ABt, mmaABt[tile.F16])),
		family(mmaKernel("op_mma_atb_bf16", tile.AtB, mmaAtB[tile.BF16])),
		family(mmaKernel("op_mma_atbt_bf16", tile.AtBt, mmaAtBt[tile.BF16])),
		family(kernel{"op_mma_chain", mmaChain}),
		family(kernel{"op_mma_tf32", mmaTF32}),
	)
}
