package optest

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/tile"
)

// arithArgs are the arguments of the kernels that compute every elementwise op of one type: row i of Y is op i of
// arithmetic, row i of P comparison i.
type arithArgs[T tile.Number] struct {
	A, B, C tile.Global[T]        `tile:"n"`
	Y       tile.Global[T]        `tile:"ops,n"`
	P       tile.Global[tile.I32] `tile:"preds,n"`
}

// value is an op with a result of the operands' type.
type value[T tile.Elem] struct {
	op ir.Op
	of func(a, b, c tile.Reg[T]) tile.Reg[T]
}

// values are the ops that T has, in a fixed order.
func values[T tile.Elem](t dtype.Type) []value[T] {
	type reg = tile.Reg[T]
	one := func(op ir.Op, f func(reg) reg) value[T] {
		return value[T]{op, func(a, _, _ reg) reg { return f(a) }}
	}
	two := func(op ir.Op, f func(reg, tile.Operand[T]) reg) value[T] {
		return value[T]{op, func(a, b, _ reg) reg { return f(a, b) }}
	}
	all := []value[T]{
		two(ir.Add, reg.Add), two(ir.Sub, reg.Sub), two(ir.Mul, reg.Mul), two(ir.Div, reg.Div), two(ir.Rem, reg.Rem),
		{ir.Fma, func(a, b, c reg) reg { return a.Fma(b, c) }},
		one(ir.Neg, reg.Neg), one(ir.Abs, reg.Abs), two(ir.Min, reg.Min), two(ir.Max, reg.Max), two(ir.MulHi, reg.MulHi),
		one(ir.Exp, reg.Exp), one(ir.Exp2, reg.Exp2), one(ir.Log, reg.Log), one(ir.Log2, reg.Log2), one(ir.Sqrt, reg.Sqrt), one(ir.Rsqrt, reg.Rsqrt),
		one(ir.Tanh, reg.Tanh), one(ir.Sigmoid, reg.Sigmoid), one(ir.Silu, reg.Silu), one(ir.Softplus, reg.Softplus),
		one(ir.ExpApprox, reg.ExpApprox), one(ir.Exp2Approx, reg.Exp2Approx), one(ir.LogApprox, reg.LogApprox), one(ir.Log2Approx, reg.Log2Approx),
		one(ir.SqrtApprox, reg.SqrtApprox), one(ir.RsqrtApprox, reg.RsqrtApprox), one(ir.TanhApprox, reg.TanhApprox),
		one(ir.SigmoidApprox, reg.SigmoidApprox), one(ir.SiluApprox, reg.SiluApprox), two(ir.DivApprox, reg.DivApprox),
		{ir.Select, func(a, b, c reg) reg { return tile.Select(a.Lt(b), b, c) }},
		two(ir.And, reg.And), two(ir.Or, reg.Or), two(ir.Xor, reg.Xor), one(ir.Not, reg.Not), two(ir.Shl, reg.Shl), two(ir.Shr, reg.Shr),
	}
	var out []value[T]
	for _, v := range all {
		if ir.Table[v.op].Domain.Has(t) {
			out = append(out, v)
		}
	}
	return out
}

// predicate is a comparison.
type predicate[T tile.Elem] struct {
	op ir.Op
	of func(a tile.Reg[T], b tile.Operand[T]) tile.Reg[tile.Bool]
}

func predicates[T tile.Elem]() []predicate[T] {
	type reg = tile.Reg[T]
	return []predicate[T]{{ir.Lt, reg.Lt}, {ir.Le, reg.Le}, {ir.Gt, reg.Gt}, {ir.Ge, reg.Ge}, {ir.Eq, reg.Eq}, {ir.Ne, reg.Ne}}
}

const arithThreads = 128

// arith computes every op of T on each element. 16-bit types take two elements a thread, so that they lie in pairs.
func arith[T tile.Number](name string) (*tile.Kernel, error) {
	var zero T
	vec := 1
	if zero.DType().Is16() {
		vec = 2
	}
	return tile.Define(name, func(k *tile.Builder, a arithArgs[T]) {
		block := k.Block()
		span := block.Striped(arithThreads*vec, vec)
		for at := range tile.Persistent(k, a.A.Dim(0), tile.Step(arithThreads*vec)) {
			x, y, z := tile.Load(block, a.A.At(at), span), tile.Load(block, a.B.At(at), span), tile.Load(block, a.C.At(at), span)
			for i, v := range values[T](zero.DType()) {
				tile.Store(block, a.Y.At(i, at), v.of(x, y, z))
			}
			for i, p := range predicates[T]() {
				tile.Store(block, a.P.At(i, at), tile.Cast[tile.I32](p.of(x, y)))
			}
		}
	}, tile.Threads(arithThreads), tile.Doc("Every elementwise op of one type, a row each."))
}

func arithKernels() tile.Set {
	return family(kernel{"op_arith_f32", arith[tile.F32]}, kernel{"op_arith_bf16", arith[tile.BF16]}, kernel{"op_arith_f16", arith[tile.F16]},
		kernel{"op_arith_i32", arith[tile.I32]}, kernel{"op_arith_u32", arith[tile.U32]}, kernel{"op_arith_i64", arith[tile.I64]})
}

// boolArgs: predicates are A != 0 and B != 0; row i of Y is op i of boolOps.
type boolArgs struct {
	A, B tile.Global[tile.I32] `tile:"n"`
	Y    tile.Global[tile.I32] `tile:"ops,n"`
}

var boolOps = []ir.Op{ir.Select, ir.And, ir.Or, ir.Xor, ir.Not}

func boolean(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a boolArgs) {
		block := k.Block()
		span := block.Striped(64, 2)
		p, q := tile.Load(block, a.A, span).Ne(tile.I32(0)), tile.Load(block, a.B, span).Ne(tile.I32(0))
		for i, v := range values[tile.Bool](dtype.Bool) {
			if v.op == ir.Select {
				v.of = func(a, b, c tile.Reg[tile.Bool]) tile.Reg[tile.Bool] { return tile.Select(a, b, c) }
			}
			tile.Store(block, a.Y.At(i), tile.Cast[tile.I32](v.of(p, q, p.Not())))
		}
	}, tile.Threads(32), tile.Doc("Logic on predicates."))
}

func boolKernels() tile.Set { return family(kernel{"op_bool", boolean}) }

// chainArgs: x*x + x in 16-bit types, which round after each op, so that nothing may be fused.
type chainArgs struct {
	B, YB tile.Global[tile.BF16] `tile:"n"`
	H, YH tile.Global[tile.F16]  `tile:"n"`
}

func chain(name string) (*tile.Kernel, error) {
	return tile.Define(name, func(k *tile.Builder, a chainArgs) {
		block := k.Block()
		b, h := tile.Load(block, a.B, block.Striped(256, 2)), tile.Load(block, a.H, block.Striped(256, 2))
		tile.Store(block, a.YB, b.Mul(b).Add(b))
		tile.Store(block, a.YH, h.Mul(h).Add(h))
	}, tile.Threads(64), tile.Doc("Two ops on 16-bit floats, rounded twice."))
}

func chainKernels() tile.Set { return family(kernel{"op_chain", chain}) }
