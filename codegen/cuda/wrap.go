package cuda

import (
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// arithmetic is an operator on numbers. Floats and u32 are plain C; i32 and i64 are where the result fits (see ranges).
func arithmetic(op string, pr prec) forms {
	plain := infixForm(op, pr)
	wraps := wrapping(func(p *printer, e thr.Apply) code {
		if c, ok := e.Args[1].(thr.Const); ok && op == "+" { // x + -1 reads better as x - 1
			if minus, ok := negated(c); ok {
				a, b := p.pair(e.Args[0], minus)
				return infix("-", precAdd, a, b)
			}
		}
		return plain.print(p, e)
	}, func(p *printer, e thr.Apply) code {
		return infix(op, pr, p.unsigned(e.Args[0]), p.unsigned(e.Args[1]))
	})
	wraps.op, wraps.plain = op, fits
	return forms{dtype.F32: plain, dtype.I32: wraps, dtype.U32: plain, dtype.I64: wraps}
}

// wrapping makes a form that is signed where the result fits, and elsewhere unsigned and converted back:
// (int)((u32)x * 3u).
func wrapping(signed, unsigned func(p *printer, e thr.Apply) code) form {
	return form{unsigned: unsigned, print: func(p *printer, e thr.Apply) code {
		if fits(p, e) {
			return signed(p, e)
		}
		return prefix(casts[e.T], unsigned(p, e))
	}}
}

// negated is -c for a negative integer constant.
func negated(c thr.Const) (thr.Const, bool) {
	v := int64(c.Bits)
	if c.DT == dtype.I32 {
		v = int64(int32(c.Bits))
	}
	if v >= 0 || v == everything(c.DT).lo {
		return c, false
	}
	return thr.Const{DT: c.DT, Bits: uint64(-v)}, true
}

// fits reports whether signed C arithmetic gives the op's result; u32 wraps in C too.
func fits(p *printer, e thr.Apply) bool {
	return e.T == dtype.U32 || p.ranges.exact(e)
}

var negation = wrapping(
	func(p *printer, e thr.Apply) code { return prefix("-", p.expr(e.Args[0])) },
	func(p *printer, e thr.Apply) code { return prefix("-", p.unsigned(e.Args[0])) })

// unsigned prints a signed expression as its unsigned twin of the same bits. Ops that may overflow nest without
// converting back in between.
func (p *printer) unsigned(e thr.Expr) code {
	t := e.ExprType().DT
	switch e := e.(type) {
	case thr.Const:
		if t == dtype.I64 {
			return code{literal(e).text, precSelect}.as("(u64)")
		}
		return literal(thr.Const{DT: dtype.U32, Bits: e.Bits})
	case thr.Call:
		if c := fns[e.Fn].unsigned; c.text != "" {
			return c
		}
	case thr.Apply:
		if f := ops[e.Op][e.T]; f.unsigned != nil && !fits(p, e) {
			return f.unsigned(p, e)
		}
	}
	if t == dtype.I64 {
		return prefix("(u64)", p.expr(e))
	}
	return prefix("(u32)", p.expr(e))
}

// as casts a code, a nonnegative literal without parentheses.
func (c code) as(cast string) code {
	if c.text[0] != '-' {
		c.prec = precPrimary
	}
	return prefix(cast, c)
}

// shift masks its count to the width, as the table says; constants and small ranges need no mask.
func shift(op string) form {
	signed := func(p *printer, e thr.Apply) code { return infix(op, precShift, p.expr(e.Args[0]), p.count(e)) }
	if op == ">>" {
		return form{op: op, print: signed}
	}
	f := wrapping(signed, func(p *printer, e thr.Apply) code {
		return infix(op, precShift, p.unsigned(e.Args[0]), p.count(e))
	})
	f.op, f.plain = op, fits
	return f
}

// count prints the right operand of a shift.
func (p *printer) count(e thr.Apply) code {
	n, mask := e.Args[1], int64(e.T.Size()*8-1)
	if c, ok := n.(thr.Const); ok {
		return literal(thr.Const{DT: dtype.I32, Bits: c.Bits & uint64(mask)})
	}
	if p.ranges.of(n).within(span{0, mask}) {
		return p.expr(n)
	}
	return infix("&", precAnd, p.expr(n), literal(thr.Const{DT: dtype.I32, Bits: uint64(mask)}))
}

// division is / or % where C defines it, else a function that gives what the table says for zero and for the one
// quotient that overflows.
func division(op, name string) form {
	safe := func(p *printer, e thr.Apply) bool {
		a, b := p.ranges.of(e.Args[0]), p.ranges.of(e.Args[1])
		overflows := e.T != dtype.U32 && b.has(-1) && a.has(everything(e.T).lo)
		return !b.has(0) && !overflows
	}
	plain := infixForm(op, precMul)
	return form{op: op, plain: safe, print: func(p *printer, e thr.Apply) code {
		if safe(p, e) {
			return plain.print(p, e)
		}
		return p.call(name, e.Args...)
	}}
}
