package optest

import (
	"fmt"
	"math"
	"math/big"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/internal/ir"
)

// The reference: floats in float64, or with math/big where float64 would round twice; integers in math/big. It shares
// nothing with the simulator; what the formats are, package exact says.

// sameFloat is equality that tells zeros apart and takes every NaN for one.
func sameFloat(a, b float64) bool {
	return a != a && b != b || a == b && math.Signbit(a) == math.Signbit(b)
}

// trueValue is a float op's result: exact, or so close that rounding it to f32 once is right.
func trueValue(op ir.Op, a, b, c float64) float64 {
	switch op {
	case ir.Add:
		return a + b
	case ir.Sub:
		return a - b
	case ir.Mul:
		return a * b
	case ir.Div, ir.DivApprox:
		return a / b
	case ir.Fma:
		return fused(a, b, c)
	case ir.Neg:
		return -a
	case ir.Abs:
		return math.Abs(a)
	case ir.Min, ir.Max:
		return extreme(op, a, b)
	case ir.Select:
		if a < b {
			return b
		}
		return c
	case ir.Exp, ir.ExpApprox:
		return math.Exp(a)
	case ir.Exp2, ir.Exp2Approx:
		return math.Exp2(a)
	case ir.Log, ir.LogApprox:
		return math.Log(a)
	case ir.Log2, ir.Log2Approx:
		return math.Log2(a)
	case ir.Sqrt, ir.SqrtApprox:
		return math.Sqrt(a)
	case ir.Rsqrt, ir.RsqrtApprox:
		return rsqrt(a)
	case ir.Tanh, ir.TanhApprox:
		return math.Tanh(a)
	case ir.Sigmoid, ir.SigmoidApprox:
		return 1 / (1 + math.Exp(-a))
	case ir.Silu, ir.SiluApprox:
		return a / (1 + math.Exp(-a))
	case ir.Softplus:
		return math.Max(a, 0) + math.Log1p(math.Exp(-math.Abs(a)))
	}
	panic(fmt.Sprintf("optest: %v has no reference on floats", op))
}

func extreme(op ir.Op, a, b float64) float64 {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	case op == ir.Min:
		return math.Min(a, b) // -0 below +0
	}
	return math.Max(a, b)
}

const precision = 700 // bits: every product of two f32 plus a third

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// fused is a*b + c of f32 numbers, rounded to f32.
func fused(a, b, c float64) float64 {
	if s := a*b + c; s == 0 || math.IsNaN(s) || math.IsInf(s, 0) {
		return s // the product of two f32 is exact in float64, so a sum of zero is one
	}
	s := new(big.Float).SetPrec(precision).Mul(exactly(a), exactly(b))
	f, _ := s.Add(s, exactly(c)).Float32()
	return float64(f)
}

// rsqrt is 1/sqrt(a), rounded to f32.
func rsqrt(a float64) float64 {
	if !(a > 0) || math.IsInf(a, 0) {
		return 1 / math.Sqrt(a)
	}
	r := new(big.Float).SetPrec(precision).Sqrt(exactly(a))
	f, _ := r.Quo(exactly(1), r).Float32()
	return float64(f)
}

// slack is how far beyond its Ulp an inexact op may be, in absolute terms: see the package comment. Sigmoid and silu
// form e^-a, which overflows below -88.7, so results that small may come out as zero.
func slack(op ir.Op, a float64) float64 {
	const normal = 0x1p-126
	near1 := a >= 0.5 && a <= 2
	switch op {
	case ir.ExpApprox, ir.Exp2Approx, ir.SqrtApprox, ir.RsqrtApprox, ir.DivApprox, ir.Sigmoid, ir.SigmoidApprox:
		return normal
	case ir.Silu, ir.SiluApprox:
		return 128 * normal
	case ir.LogApprox:
		if near1 {
			return 0x1p-21
		}
	case ir.Log2Approx:
		if near1 {
			return 0x1p-22
		}
	}
	return 0
}

// flushes reports whether an op takes subnormal operands for zero.
func flushes(op ir.Op) bool {
	switch op {
	case ir.Exp2Approx, ir.LogApprox, ir.Log2Approx, ir.SqrtApprox, ir.RsqrtApprox, ir.DivApprox:
		return true
	}
	return false
}

func flushed(x float64) float64 {
	if math.Abs(x) < 0x1p-126 {
		return math.Copysign(0, x)
	}
	return x
}

// floatRight reports whether got is a right result of a float op on operands of type t. want is for the message.
func floatRight(op ir.Op, t dtype.Type, got, a, b, c float64) (want float64, ok bool) {
	value := trueValue(op, a, b, c)
	want = exact.Narrow(t, value)
	ulps := ir.Table[op].Ulp
	if op == ir.Select { // no arithmetic
		return value, sameFloat(got, value)
	}
	if ulps == 0 {
		return want, sameFloat(got, want)
	}
	ok = near(t, got, value, ulps, slack(op, a))
	if !ok && flushes(op) {
		value = trueValue(op, flushed(a), flushed(b), c)
		ok = near(t, got, value, ulps, slack(op, a))
	}
	if op == ir.DivApprox && math.Abs(b) > 0x1p126 { // zero, as the table says
		ok = got == 0 || math.IsInf(a, 0) && got != got || ok
	}
	return want, ok
}

// near reports whether got is what a value within ulps of x, an f32's, and the slack rounds to.
func near(t dtype.Type, got, x, ulps, slack float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return sameFloat(got, x)
	}
	_, e := math.Frexp(x)
	d := ulps*math.Ldexp(1, max(e-1, -126)-23) + slack
	return exact.Narrow(t, x-d) <= got && got <= exact.Narrow(t, x+d)
}

// intOf is the value of a bit pattern of an integer type.
func intOf(t dtype.Type, bits uint64) *big.Int { return big.NewInt(exact.Int(t, bits)) }

// wrap is the low bits of an integer.
func wrap(t dtype.Type, x *big.Int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size()))
	return new(big.Int).Mod(x, m).Uint64()
}

// intValue is an integer op's result.
func intValue(op ir.Op, t dtype.Type, x, y, z uint64) uint64 {
	a, b, width := intOf(t, x), intOf(t, y), uint(8*t.Size())
	count := uint(y) % width
	r := new(big.Int)
	switch op {
	case ir.Add:
		r.Add(a, b)
	case ir.Sub:
		r.Sub(a, b)
	case ir.Mul:
		r.Mul(a, b)
	case ir.Div:
		if b.Sign() == 0 {
			return wrap(t, big.NewInt(-1))
		}
		r.Quo(a, b)
	case ir.Rem:
		if b.Sign() == 0 {
			return x
		}
		r.Rem(a, b)
	case ir.Neg:
		r.Neg(a)
	case ir.Abs:
		r.Abs(a)
	case ir.Min, ir.Max:
		if r = a; (a.Cmp(b) < 0) != (op == ir.Min) {
			r = b
		}
	case ir.MulHi:
		r.Rsh(r.Mul(a, b), width)
	case ir.Select:
		if a.Cmp(b) < 0 {
			return y
		}
		return z
	case ir.And:
		return x & y
	case ir.Or:
		return x | y
	case ir.Xor:
		return x ^ y
	case ir.Not:
		r.Not(a)
	case ir.Shl:
		r.Lsh(a, count)
	case ir.Shr:
		r.Rsh(a, count)
	default:
		panic(fmt.Sprintf("optest: %v has no reference on integers", op))
	}
	return wrap(t, r)
}

// holds is a comparison's result.
func holds(op ir.Op, t dtype.Type, x, y uint64) bool {
	if t.IsFloat() {
		a, b := exact.Float(t, x), exact.Float(t, y)
		return map[ir.Op]bool{ir.Lt: a < b, ir.Le: a <= b, ir.Gt: a > b, ir.Ge: a >= b, ir.Eq: a == b, ir.Ne: a != b}[op]
	}
	n := intOf(t, x).Cmp(intOf(t, y))
	return map[ir.Op]bool{ir.Lt: n < 0, ir.Le: n <= 0, ir.Gt: n > 0, ir.Ge: n >= 0, ir.Eq: n == 0, ir.Ne: n != 0}[op]
}

// converted reports whether got is the bit pattern x of type s as a number of type t.
func converted(s, t dtype.Type, x, got uint64) (want string, ok bool) {
	switch {
	case t.IsFloat():
		f := 0.0
		if s.IsFloat() {
			f = exact.Narrow(t, exact.Float(s, x))
		} else {
			g, _ := new(big.Float).SetInt(intOf(s, x)).Float32() // rounds once
			f = exact.Round(t, float64(g))
		}
		return fmt.Sprint(f), sameFloat(exact.Float(t, got), f)
	case s.IsFloat():
		w := wrap(t, big.NewInt(exact.Truncate(t, exact.Float(s, x))))
		return fmt.Sprintf("%#x", w), got == w
	}
	n := intOf(s, x)
	if t == dtype.I8 { // saturates
		least, most := exact.Limits(t)
		n = big.NewInt(max(least, min(most, n.Int64())))
	}
	w := wrap(t, n)
	return fmt.Sprintf("%#x", w), got == w
}
