package optest

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/layout"
	"github.com/gotile/gotile/tile"
)

// mmaSquareArgs: A and B are squares, given as each of the four forms takes them; products are of the first of their rows,
// columns and k. D has C + A B by form, four times each, with A and B in shared memory, A in registers, B in registers, and both; E has A times
// the first columns of B, and nothing added.
type mmaSquareArgs[T tile.Number, C accumulator] struct {
	A tile.Global[T] `tile:"s,s"`
	B tile.Global[T] `tile:"s,s"`
	C tile.Global[C] `tile:"m,n"`
	D tile.Global[C] `tile:"16,m,n"`
	E tile.Global[C] `tile:"4,m,part"`
}

// mmaSquareGroupArgs is the same of a warpgroup, whose B is in shared memory.
type mmaSquareGroupArgs[T tile.Number, C accumulator] struct {
	A tile.Global[T] `tile:"s,s"`
	B tile.Global[T] `tile:"s,s"`
	C tile.Global[C] `tile:"m,n"`
	D tile.Global[C] `tile:"8,m,n"`
	E tile.Global[C] `tile:"4,m,part"`
}

type accumulator interface {
	tile.F32 | tile.F16 | tile.I32
	DType() dtype.Type
}

// mmaSquareRows are the rows of the product of a warp: more in 8 bits need more registers than there are.
const mmaSquareRows = 16

// mmaSquareMost is the largest side, and mmaDepth how much of k: a step of the instruction and its half, where it has one.
const mmaSquareMost = 64

var mmaDepth = map[dtype.Type]int{dtype.E4M3: 64, dtype.E5M2: 64, dtype.I8: 48, dtype.BF16: 24, dtype.F16: 24}

// mmaTargets are the targets that multiply a type.
func mmaTargets[T tile.Number]() tile.Option {
	var t T
	float8 := t.DType().Is8() && t.DType().IsFloat()
	return tile.Targets(target.Select(func(t *target.Target) bool { return !float8 || t.Has(target.MMAFloat8) })...)
}

var mmaForms = []tile.Form{tile.AB, tile.ABt, tile.AtB, tile.AtBt}

// squareTile copies a matrix to a shared tile with a swizzle.
func squareTile[T tile.Number](k *tile.Builder, s tile.Scope, g tile.Global[T], span tile.Span) tile.Shared[T] {
	var t T
	swizzle := map[int]layout.Swizzle{1: layout.Swizzle64, 2: layout.Swizzle128}[t.DType().Size()]
	to := tile.NewShared[T](k, mmaSquareMost, mmaSquareMost).Swizzle(swizzle)
	tile.Store(s, to, tile.Load(s, g, span).Fill(tile.Const[T](0)))
	return to
}

// mmaSquare computes the products, of so many rows, with operands in registers where regs says so.
func mmaSquare[T tile.Number, C accumulator](s tile.TensorScope, rows int, sa, sb tile.Shared[T], c, d, e tile.Global[C], regs ...[2]bool) {
	var t T
	depth := mmaDepth[t.DType()]
	part := func(from tile.Shared[T], rows int, trans bool) tile.MatrixView[T] {
		r, c := mmaSides(rows, depth, trans)
		return from.At().Matrix(r, c)
	}
	load := func(from tile.Shared[T], rows int, trans bool) tile.Reg[T] {
		return tile.Load(s, from.At(0, 0), mmaSpanOf(s.Fragment(rows, depth), trans))
	}
	for i, form := range mmaForms {
		transA, transB := transposedA(form), !transposedB(form)
		for j, in := range regs {
			acc := tile.NewVar(s, tile.Load(s, c, s.Fragment(rows, mmaN)).Fill(tile.Const[C](0))) // anew: kept, it costs spills
			switch pa, pb := part(sa, rows, transA), part(sb, mmaN, transB); in {
			case [2]bool{false, false}:
				tile.MMA(acc, pa, pb, form, tile.MMASync)
			case [2]bool{true, false}:
				tile.MMA(acc, load(sa, rows, transA), pb, form, tile.MMASync)
			case [2]bool{false, true}:
				tile.MMA(acc, pa, load(sb, mmaN, transB), form, tile.MMASync)
			default:
				tile.MMA(acc, load(sa, rows, transA), load(sb, mmaN, transB), form, tile.MMASync)
			}
			tile.Store(s, d.At(len(regs)*i+j), acc.Get())
		}
		some := tile.NewVar(s, tile.Full(s, s.Fragment(rows, mmaE), tile.Const[C](1)))
		tile.MMA(some, part(sa, rows, transA), part(sb, mmaE, transB), form, tile.Overwrite, tile.MMASync)
		tile.Store(s, e.At(i), some.Get())
	}
}

func mmaSquareKernel[T tile.Number, C accumulator](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a mmaSquareArgs[T, C]) {
			warp := k.Warp()
			span := warp.Striped2(mmaSquareMost, mmaSquareMost, 8, 8)
			sa, sb := squareTile(k, warp, a.A, span), squareTile(k, warp, a.B, span)
			mmaSquare(warp, mmaSquareRows, sa, sb, a.C, a.D, a.E, [2]bool{}, [2]bool{true, false}, [2]bool{false, true}, [2]bool{true, true})
		}, tile.Threads(32), mmaTargets[T](), tile.Doc("Products of tensor cores in the four forms, with operands in shared memory and in registers."))
	}}
}

func mmaSquareGroupKernel[T tile.Number, C accumulator](name string) kernel {
	return kernel{name, func(name string) (*tile.Kernel, error) {
		return tile.Define(name, func(k *tile.Builder, a mmaSquareGroupArgs[T, C]) {
			k.Roles(tile.Consumers(1, 0, func(g tile.Warpgroup) {
				span := g.Striped2(mmaSquareMost, mmaSquareMost, 8, 8)
				sa, sb := squareTile(k, g, a.A, span), squareTile(k, g, a.B, span)
				g.Sync()
				mmaSquare(g, 64, sa, sb, a.C, a.D, a.E, [2]bool{}, [2]bool{true, false})
			}))
		}, tile.Threads(128), mmaTargets[T](), tile.Doc("Products of a warpgroup by mma.sync in the four forms, with A in shared memory and in registers."))
	}}
}

func mmaSquareKernels() tile.Set {
	return tile.Sets(
		family(mmaSquareKernel[tile.E4M3, tile.F32]("op_mma_square_e4m3"), mmaSquareKernel[tile.E5M2, tile.F32]("op_mma_square_e5m2"),
			mmaSquareKernel[tile.I8, tile.I32]("op_mma_square_i8"), mmaSquareKernel[tile.BF16, tile.F32]("op_mma_square_bf16"), mmaSquareKernel[tile.F16, tile.F16]("op_mma_square_f16")),
		family(mmaSquareGroupKernel[tile.E4M3, tile.F32]("op_mma_square_group_e4m3"), mmaSquareGroupKernel[tile.I8, tile.I32]("op_mma_square_group_i8")),
	)
}
