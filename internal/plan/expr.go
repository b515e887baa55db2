package plan

import (
	"math"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/thr"
)

// Constructors of integer expressions that fold constants, so that no later pass has to simplify.

func i32(n int) thr.Expr { return thr.Const{DT: dtype.I32, Bits: uint64(uint32(int32(n)))} }
func i64(n int) thr.Expr { return thr.Const{DT: dtype.I64, Bits: uint64(n)} }
func f32(x float64) thr.Expr {
	return thr.Const{DT: dtype.F32, Bits: uint64(math.Float32bits(float32(x)))}
}

// intOf is the value of an integer literal.
func intOf(e thr.Expr) (int, bool) {
	c, ok := e.(thr.Const)
	if !ok {
		return 0, false
	}
	switch c.DT {
	case dtype.I32:
		return int(int32(c.Bits)), true
	case dtype.U32:
		return int(uint32(c.Bits)), true
	case dtype.I64:
		return int(c.Bits), true
	}
	return 0, false
}

func isInt(e thr.Expr, n int) bool { v, ok := intOf(e); return ok && v == n }

func literal(t dtype.Type, n int) thr.Expr {
	if t == dtype.I64 {
		return i64(n)
	}
	return thr.Const{DT: t, Bits: uint64(uint32(int32(n)))}
}

func bin(op ir.Op, a, b thr.Expr) thr.Expr {
	t := a.ExprType().DT
	return thr.Apply{Op: op, T: t, R: t, Args: []thr.Expr{a, b}}
}

func add(a, b thr.Expr) thr.Expr {
	x, ok := intOf(a)
	y, ok2 := intOf(b)
	t := a.ExprType().DT
	switch {
	case ok && ok2:
		return literal(t, x+y)
	case ok && x == 0:
		return b
	case ok2 && y == 0:
		return a
	}
	if in, is := a.(thr.Apply); is && ok2 && in.Op == ir.Add { // (x + c) + d
		if c, isConst := intOf(in.Args[1]); isConst {
			return add(in.Args[0], literal(t, c+y))
		}
	}
	return bin(ir.Add, a, b)
}

func sub(a, b thr.Expr) thr.Expr {
	x, ok := intOf(a)
	y, ok2 := intOf(b)
	switch {
	case ok && ok2:
		return literal(a.ExprType().DT, x-y)
	case ok2 && y == 0:
		return a
	}
	return bin(ir.Sub, a, b)
}

func mul(a, b thr.Expr) thr.Expr {
	x, ok := intOf(a)
	y, ok2 := intOf(b)
	switch {
	case ok && ok2:
		return literal(a.ExprType().DT, x*y)
	case ok && x == 1:
		return b
	case ok2 && y == 1:
		return a
	case ok && x == 0, ok2 && y == 0:
		return literal(a.ExprType().DT, 0)
	}
	return bin(ir.Mul, a, b)
}

func log2(n int) (int, bool) {
	for s := range 31 {
		if n == 1<<s {
			return s, true
		}
	}
	return 0, false
}

// div and rem take a non-negative dividend and a positive constant.
func div(a thr.Expr, n int) thr.Expr {
	if v, ok := intOf(a); ok {
		return literal(a.ExprType().DT, v/n)
	}
	if n == 1 {
		return a
	}
	if s, ok := log2(n); ok {
		return bin(ir.Shr, a, literal(a.ExprType().DT, s))
	}
	return bin(ir.Div, a, literal(a.ExprType().DT, n))
}

func rem(a thr.Expr, n int) thr.Expr {
	if v, ok := intOf(a); ok {
		return literal(a.ExprType().DT, v%n)
	}
	if n == 1 {
		return literal(a.ExprType().DT, 0)
	}
	if _, ok := log2(n); ok {
		return bin(ir.And, a, literal(a.ExprType().DT, n-1))
	}
	return bin(ir.Rem, a, literal(a.ExprType().DT, n))
}

func widen(a thr.Expr) thr.Expr {
	if v, ok := intOf(a); ok {
		return i64(v)
	}
	if a.ExprType().DT == dtype.I64 {
		return a
	}
	return thr.Apply{Op: ir.Cast, T: a.ExprType().DT, R: dtype.I64, Args: []thr.Expr{a}}
}

func toU32(a thr.Expr) thr.Expr {
	if v, ok := intOf(a); ok {
		return literal(dtype.U32, v)
	}
	if a.ExprType().DT == dtype.U32 {
		return a
	}
	return thr.Apply{Op: ir.Cast, T: a.ExprType().DT, R: dtype.U32, Args: []thr.Expr{a}}
}

func less(a, b thr.Expr) thr.Expr  { return compare(ir.Lt, a, b) }
func equal(a, b thr.Expr) thr.Expr { return compare(ir.Eq, a, b) }
func compare(op ir.Op, a, b thr.Expr) thr.Expr {
	return thr.Apply{Op: op, T: a.ExprType().DT, R: dtype.Bool, Args: []thr.Expr{a, b}}
}

// and joins predicates; nil is true.
func and(ps ...thr.Expr) thr.Expr {
	var out thr.Expr
	for _, p := range ps {
		switch {
		case p == nil:
		case out == nil:
			out = p
		default:
			out = bin(ir.And, out, p)
		}
	}
	return out
}

func call(f thr.Fn, r dtype.Type, args ...thr.Expr) thr.Expr {
	if t := thr.Fns[f].Result; t != dtype.Invalid {
		r = t
	}
	return thr.Call{Fn: f, R: r, Args: args}
}

func ref(l *thr.Local) thr.Ref { return thr.Ref{Local: l} }

// at is an element of an array, or the scalar itself where the local is one.
func at(l *thr.Local, i thr.Expr) thr.Ref {
	if l.Len == 0 {
		return thr.Ref{Local: l}
	}
	return thr.Ref{Local: l, Index: i}
}

// elem is the number of an element in a thread's values: width*i + lane, i the variable of an unrolled loop and
// lane < width a host number. Keeping the two apart lets divisions by multiples of width come out without one.
type elem struct {
	i     thr.Expr
	width int
	lane  int
}

func (e elem) expr() thr.Expr { return add(mul(e.i, i32(e.width)), i32(e.lane)) }

func (e elem) div(n int) thr.Expr {
	if n%e.width == 0 {
		return div(e.i, n/e.width)
	}
	return div(e.expr(), n)
}

func (e elem) rem(n int) thr.Expr {
	if n%e.width == 0 {
		return add(mul(rem(e.i, n/e.width), i32(e.width)), i32(e.lane))
	}
	return rem(e.expr(), n)
}
