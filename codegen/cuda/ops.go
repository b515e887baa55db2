package cuda

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// form prints one op on operands of one type.
type form struct {
	print func(p *printer, e thr.Apply) code
	// op is the C operator, and plain says whether it stands alone, so that x = x op y may become x op= y.
	op    string
	plain func(p *printer, e thr.Apply) bool
	// unsigned prints a signed op on unsigned operands, for where its result may not fit.
	unsigned func(p *printer, e thr.Apply) code
}

// forms is a row of the table: a form for each type of the operands.
type forms [dtype.Bool + 1]form

// ops has one row for each elementwise op of ir.Table but Asm, which is a statement. It is filled in init because
// operands may be ops again.
var ops [ir.NumOps]forms

func init() {
	ops = [ir.NumOps]forms{
		ir.Add:   arithmetic("+", precAdd),
		ir.Sub:   arithmetic("-", precAdd),
		ir.Mul:   arithmetic("*", precMul),
		ir.Div:   {dtype.F32: infixForm("/", precMul), dtype.I32: division("/", "div_i32"), dtype.U32: division("/", "div_u32"), dtype.I64: division("/", "div_i64")},
		ir.Rem:   {dtype.I32: division("%", "rem_i32"), dtype.U32: division("%", "rem_u32"), dtype.I64: division("%", "rem_i64")},
		ir.Fma:   {dtype.F32: callForm("fmaf")},
		ir.Neg:   {dtype.F32: prefixForm("-"), dtype.I32: negation, dtype.U32: prefixForm("-"), dtype.I64: negation},
		ir.Abs:   {dtype.F32: callForm("fabsf"), dtype.I32: callForm("abs_i32"), dtype.U32: identity, dtype.I64: callForm("abs_i64")},
		ir.Min:   {dtype.F32: callForm("fminf"), dtype.I32: callForm("min"), dtype.U32: callForm("min"), dtype.I64: callForm("min")},
		ir.Max:   {dtype.F32: callForm("fmaxf"), dtype.I32: callForm("max"), dtype.U32: callForm("max"), dtype.I64: callForm("max")},
		ir.MulHi: {dtype.I32: callForm("__mulhi"), dtype.U32: callForm("__umulhi"), dtype.I64: callForm("__mul64hi")},

		ir.Exp:       floatCall("expf"),
		ir.Exp2:      floatCall("exp2f"),
		ir.Log:       floatCall("logf"),
		ir.Log2:      floatCall("log2f"),
		ir.Sqrt:      floatCall("__fsqrt_rn"),
		ir.Rsqrt:     floatCall("__frsqrt_rn"),
		ir.Tanh:      floatCall("tanhf"),
		ir.Sigmoid:   floatCall("sigmoid"),
		ir.Silu:      floatCall("silu"),
		ir.Softplus:  floatCall("softplus"),
		ir.RoundTF32: floatCall("round_tf32"),

		ir.ExpApprox:     floatCall("exp_approx"),
		ir.Exp2Approx:    floatCall("exp2_approx"),
		ir.LogApprox:     floatCall("log_approx"),
		ir.Log2Approx:    floatCall("log2_approx"),
		ir.SqrtApprox:    floatCall("sqrt_approx"),
		ir.RsqrtApprox:   floatCall("rsqrt_approx"),
		ir.TanhApprox:    floatCall("tanh_approx"),
		ir.SigmoidApprox: floatCall("sigmoid_approx"),
		ir.SiluApprox:    floatCall("silu_approx"),
		ir.DivApprox:     floatCall("div_approx"),

		ir.Lt:     comparison("<", precLess),
		ir.Le:     comparison("<=", precLess),
		ir.Gt:     comparison(">", precLess),
		ir.Ge:     comparison(">=", precLess),
		ir.Eq:     comparison("==", precEqual),
		ir.Ne:     comparison("!=", precEqual),
		ir.Select: {dtype.F32: selection, dtype.I32: selection, dtype.U32: selection, dtype.I64: selection, dtype.Bool: selection},

		ir.And: bitwise("&", precAnd, infixForm("&&", precAndAnd)),
		ir.Or:  bitwise("|", precOr, infixForm("||", precOrOr)),
		ir.Xor: bitwise("^", precXor, infixForm("!=", precEqual)),
		ir.Not: {dtype.I32: prefixForm("~"), dtype.U32: prefixForm("~"), dtype.I64: prefixForm("~"), dtype.Bool: prefixForm("!")},
		ir.Shl: {dtype.I32: shift("<<"), dtype.U32: shift("<<"), dtype.I64: shift("<<")},
		ir.Shr: {dtype.I32: shift(">>"), dtype.U32: shift(">>"), dtype.I64: shift(">>")},

		ir.Bitcast: {dtype.F32: bitcast, dtype.I32: bitcast, dtype.U32: bitcast, dtype.I64: bitcast},
		ir.Cast:    {dtype.F32: cast, dtype.I32: cast, dtype.U32: cast, dtype.I64: cast, dtype.Bool: cast},
	}
}

// apply prints an elementwise op.
func (p *printer) apply(e thr.Apply) code {
	if e.Op >= ir.NumOps || int(e.T) >= len(forms{}) || ops[e.Op][e.T].print == nil {
		return p.fail("no CUDA for %v on %v", e.Op, e.T)
	}
	if n := ir.Table[e.Op].Arity; n != len(e.Args) {
		return p.fail("%v takes %d operands, not %d", e.Op, n, len(e.Args))
	}
	return ops[e.Op][e.T].print(p, e)
}

var identity = form{print: func(p *printer, e thr.Apply) code { return p.expr(e.Args[0]) }}

func callForm(name string) form {
	return form{print: func(p *printer, e thr.Apply) code { return p.call(name, e.Args...) }}
}

func floatCall(name string) forms { return forms{dtype.F32: callForm(name)} }

func prefixForm(op string) form {
	return form{print: func(p *printer, e thr.Apply) code { return prefix(op, p.expr(e.Args[0])) }}
}

func infixForm(op string, pr prec) form {
	return form{op: op, print: func(p *printer, e thr.Apply) code {
		a, b := p.pair(e.Args[0], e.Args[1])
		return infix(op, pr, a, b)
	}}
}

// pair prints the operands of an infix operator; a 64-bit literal beside another operand needs no suffix.
func (p *printer) pair(a, b thr.Expr) (code, code) {
	if s, ok := short(b); ok {
		return p.expr(a), s
	}
	if s, ok := short(a); ok {
		return s, p.expr(b)
	}
	return p.expr(a), p.expr(b)
}

func comparison(op string, pr prec) forms {
	f := infixForm(op, pr)
	return forms{dtype.F32: f, dtype.I32: f, dtype.U32: f, dtype.I64: f}
}

// bitwise operators on booleans are the logical ones: operands have no effects, so skipping one changes nothing.
func bitwise(op string, pr prec, logical form) forms {
	f := infixForm(op, pr)
	return forms{dtype.I32: f, dtype.U32: f, dtype.I64: f, dtype.Bool: logical}
}

var selection = form{print: func(p *printer, e thr.Apply) code {
	return conditional(p.expr(e.Args[0]), p.expr(e.Args[1]), p.expr(e.Args[2]))
}}

// casts between numbers that C converts as the op table says: to float rounds to nearest even, integers truncate.
var casts = map[dtype.Type]string{dtype.F32: "(float)", dtype.I32: "(int)", dtype.U32: "(u32)", dtype.I64: "(i64)"}

// floatToInt saturates and makes 0 of NaN, which a C cast does not promise.
var floatToInt = map[dtype.Type]string{dtype.I32: "f32_to_i32", dtype.U32: "f32_to_u32", dtype.I64: "f32_to_i64"}

var cast = form{print: func(p *printer, e thr.Apply) code {
	a := e.Args[0]
	switch {
	case e.T == e.R:
		return p.expr(a)
	case e.R == dtype.Bool:
		zero := primary("0")
		if e.T == dtype.F32 {
			zero = primary("0.0f")
		}
		return infix("!=", precEqual, p.expr(a), zero)
	case e.T == dtype.F32 && floatToInt[e.R] != "":
		return p.call(floatToInt[e.R], a)
	case casts[e.R] != "":
		if s, ok := a.(thr.Const); ok && e.T == dtype.I32 && e.R == dtype.I64 { // folded here: (i64)8 is 8
			return literal(thr.Const{DT: dtype.I64, Bits: uint64(int64(int32(s.Bits)))})
		}
		if s, ok := a.(thr.Call); ok && e.R == dtype.U32 { // CUDA's own type
			if c := fns[s.Fn].unsigned; c.text != "" {
				return c
			}
		}
		return prefix(casts[e.R], p.expr(a))
	}
	return p.fail("no CUDA for a cast of %v to %v", e.T, e.R)
}}

// reinterpretations are the casts of bits between types of one size.
var reinterpretations = map[[2]dtype.Type]string{
	{dtype.F32, dtype.I32}: "__float_as_int", {dtype.F32, dtype.U32}: "__float_as_uint",
	{dtype.I32, dtype.F32}: "__int_as_float", {dtype.U32, dtype.F32}: "__uint_as_float",
}

var bitcast = form{print: func(p *printer, e thr.Apply) code {
	switch {
	case e.T == e.R:
		return p.expr(e.Args[0])
	case reinterpretations[[2]dtype.Type{e.T, e.R}] != "":
		return p.call(reinterpretations[[2]dtype.Type{e.T, e.R}], e.Args[0])
	case e.T.IsInt() && e.R.IsInt() && e.T.Size() == e.R.Size():
		return prefix(casts[e.R], p.expr(e.Args[0]))
	}
	return p.fail("no CUDA for the bits of %v as %v", e.T, e.R)
}}

func (p *printer) fail(format string, args ...any) code {
	if p.err == nil {
		p.err = fmt.Errorf("cuda: kernel %s: "+format, append([]any{p.k.Name}, args...)...)
	}
	return primary("0")
}
