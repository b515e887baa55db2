package sim

import (
	"math"
	"math/big"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/ir"
)

// An independent meaning of every elementwise op: floats by float64 (whose 53 bits make +, -, *, / and sqrt round
// right) or by math/big, integers by math/big.

// reference is what the op table says op gives; ok is false where this file does not know the op. Functions are
// allowed the error of float64: nudge moves their value by so much of it before it is rounded.
func reference(op ir.Op, s sig, x [3]uint64, nudge float64) (uint64, bool) {
	switch {
	case op == ir.Select:
		return map[bool]uint64{true: x[1], false: x[2]}[x[0] == 1], true
	case op == ir.Bitcast:
		return x[0], true
	case op == ir.Cast:
		return referenceCast(s, x[0]), true
	case s.T == tF:
		return referenceFloat(op, f64(x[0]), f64(x[1]), f64(x[2]), nudge)
	}
	return referenceInt(op, s, x)
}

func f64(x uint64) float64 { return float64(math.Float32frombits(uint32(x))) }

// round32 rounds once.
func round32(x float64) uint64 {
	if math.IsNaN(x) {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(float32(x)))
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// zeroed is x without subnormals of f32.
func zeroed(x float64) float64 {
	if math.Abs(x) < 0x1p-126 {
		return math.Copysign(0, x)
	}
	return x
}

func flushed(bits uint64) uint64 { return round32(zeroed(f64(bits))) }

func referenceFloat(op ir.Op, a, b, c, nudge float64) (uint64, bool) {
	nanA, nanB := math.IsNaN(a), math.IsNaN(b)
	switch op {
	case ir.Add:
		return round32(a + b), true
	case ir.Sub:
		return round32(a - b), true
	case ir.Mul:
		return round32(a * b), true
	case ir.Div:
		return round32(a / b), true
	case ir.DivApprox:
		a, b = zeroed(a), zeroed(b)
		if m := math.Abs(b); m > 0x1p126 && m < 0x1p128 {
			if math.IsInf(a, 0) || nanA {
				return nan, true
			}
			return round32(math.Copysign(0, a) * math.Copysign(1, b)), true
		}
		return flushed(round32(a / b)), true
	case ir.Fma:
		return bigFma(a, b, c), true
	case ir.Neg:
		return round32(math.Copysign(a, map[bool]float64{true: 1, false: -1}[math.Signbit(a)])), true
	case ir.Abs:
		return round32(math.Abs(a)), true
	case ir.Min, ir.Max:
		switch {
		case nanA:
			return round32(b), true
		case nanB:
			return round32(a), true
		case op == ir.Min:
			return round32(math.Min(a, b)), true
		}
		return round32(math.Max(a, b)), true
	case ir.Lt:
		return bit(a < b), true
	case ir.Le:
		return bit(a <= b), true
	case ir.Gt:
		return bit(a > b), true
	case ir.Ge:
		return bit(a >= b), true
	case ir.Eq:
		return bit(a == b), true
	case ir.Ne:
		return bit(a != b), true
	case ir.Sqrt:
		return round32(math.Sqrt(a)), true
	case ir.RoundTF32: // multiples of 2^-10 of the power of two below, of denormals' 2^-126
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return round32(a), true
		}
		_, e := math.Frexp(a)
		unit := max(e-11, -136)
		return round32(math.Ldexp(math.Round(math.Ldexp(a, -unit)), unit)), true
	case ir.SqrtApprox:
		return flushed(round32(math.Sqrt(zeroed(a)))), true
	case ir.RsqrtApprox:
		return flushed(round32(1 / math.Sqrt(zeroed(a)))), true
	case ir.Exp2Approx:
		r, ok := bigFunction(ir.Exp2, a, nudge)
		return flushed(r), ok
	case ir.ExpApprox, ir.LogApprox, ir.Log2Approx, ir.TanhApprox, ir.SigmoidApprox, ir.SiluApprox:
		return bigFunction(precise[op], a, nudge)
	}
	return bigFunction(op, a, nudge)
}

var precise = map[ir.Op]ir.Op{ir.ExpApprox: ir.Exp, ir.Exp2Approx: ir.Exp2, ir.LogApprox: ir.Log, ir.Log2Approx: ir.Log2, ir.SqrtApprox: ir.Sqrt,
	ir.RsqrtApprox: ir.Rsqrt, ir.TanhApprox: ir.Tanh, ir.SigmoidApprox: ir.Sigmoid, ir.SiluApprox: ir.Silu, ir.DivApprox: ir.Div}

const prec = 400

func bf(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
func newBig() *big.Float      { return new(big.Float).SetPrec(prec) }

// bigFma is a*b + c, exact and then rounded.
func bigFma(a, b, c float64) uint64 {
	if p := a * b; math.IsNaN(p+c) || math.IsInf(p, 0) || math.IsInf(c, 0) || p == 0 && c == 0 {
		return round32(p + c)
	}
	f, _ := newBig().Add(newBig().Mul(bf(a), bf(b)), bf(c)).Float32()
	return round32(float64(f))
}

// bigExp is e^x by its series after dividing x by 2^20.
func bigExp(x *big.Float) *big.Float {
	r := newBig().SetMantExp(x, -20)
	sum, term := bf(1), bf(1)
	for n := 1; n < 40; n++ {
		term = newBig().Quo(newBig().Mul(term, r), bf(float64(n)))
		sum = newBig().Add(sum, term)
	}
	for range 20 {
		sum = newBig().Mul(sum, sum)
	}
	return sum
}

// bigLog is ln x by Newton's method on bigExp.
func bigLog(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := bf(math.Log(f))
	for range 4 {
		e := bigExp(y)
		y = newBig().Add(y, newBig().Quo(newBig().Sub(x, e), e))
	}
	return y
}

var ln2 = bigLog(bf(2))

// bigFunction is a function of the op table to 400 bits, rounded once. Arguments at which it overflows or is special
// take their limits from the definition.
func bigFunction(op ir.Op, a, nudge float64) (uint64, bool) {
	var f *big.Float
	inf := math.Inf(1)
	if math.IsNaN(a) {
		return nan, true
	}
	e := func(x float64) *big.Float { return bigExp(bf(x)) }
	one := bf(1)
	switch op {
	case ir.Exp:
		if math.Abs(a) > 200 {
			return round32(map[bool]float64{true: inf, false: 0}[a > 0]), true
		}
		f = e(a)
	case ir.Exp2:
		if math.Abs(a) > 300 {
			return round32(map[bool]float64{true: inf, false: 0}[a > 0]), true
		}
		f = bigExp(newBig().Mul(bf(a), ln2))
	case ir.Log, ir.Log2:
		switch {
		case a < 0:
			return nan, true
		case a == 0:
			return round32(-inf), true
		case a == inf:
			return round32(inf), true
		}
		if f = bigLog(bf(a)); op == ir.Log2 {
			f = newBig().Quo(f, ln2)
		}
	case ir.Rsqrt:
		switch {
		case a < 0:
			return nan, true
		case a == 0:
			return round32(math.Copysign(inf, a)), true
		case a == inf:
			return 0, true
		}
		f = newBig().Quo(one, newBig().Sqrt(bf(a)))
	case ir.Tanh:
		if math.Abs(a) > 50 || a == 0 {
			return round32(math.Copysign(math.Min(math.Abs(a), 1), a)), true
		}
		p, n := e(a), e(-a)
		f = newBig().Quo(newBig().Sub(p, n), newBig().Add(p, n))
	case ir.Sigmoid, ir.Silu:
		if math.IsInf(a, 0) || a < -700 { // the formula's own limits: -inf/inf is NaN
			x := 1 / (1 + math.Exp(-a))
			if op == ir.Silu {
				x = a / (1 + math.Exp(-a))
			}
			return round32(x), true
		}
		if a > 700 {
			a = map[ir.Op]float64{ir.Sigmoid: 1, ir.Silu: a}[op]
			return round32(a), true
		}
		num := one
		if op == ir.Silu {
			if a == 0 {
				return round32(a), true
			}
			num = bf(a)
		}
		f = newBig().Quo(num, newBig().Add(one, e(-a)))
	case ir.Softplus:
		if math.Abs(a) > 200 {
			return round32(math.Max(a, 0)), true
		}
		f = newBig().Add(bf(math.Max(a, 0)), bigLog(newBig().Add(one, e(-math.Abs(a)))))
	default:
		return 0, false
	}
	r, _ := newBig().Mul(f, newBig().Add(one, bf(nudge))).Float32()
	return round32(float64(r)), true
}

// toBig is a lane's integer.
func toBig(t dtype.Type, x uint64) *big.Int {
	switch t {
	case tI:
		return big.NewInt(int64(int32(x)))
	case tQ:
		return big.NewInt(int64(x))
	}
	return new(big.Int).SetUint64(x)
}

// wrapped is the low bits of an integer.
func wrapped(t dtype.Type, v *big.Int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size()))
	if t == tB {
		m = big.NewInt(2)
	}
	return new(big.Int).Mod(v, m).Uint64()
}

func referenceInt(op ir.Op, s sig, x [3]uint64) (uint64, bool) {
	t := s.T
	bits := uint(8 * t.Size())
	a, b := toBig(t, x[0]), toBig(t, x[1])
	count := uint(x[1]) % bits
	r := new(big.Int)
	switch op {
	case ir.Add:
		r.Add(a, b)
	case ir.Sub:
		r.Sub(a, b)
	case ir.Mul:
		r.Mul(a, b)
	case ir.MulHi:
		r.Rsh(r.Mul(a, b), bits)
	case ir.Div:
		if b.Sign() == 0 {
			r.SetInt64(-1)
		} else {
			r.Quo(a, b)
		}
	case ir.Rem:
		if b.Sign() == 0 {
			r = a
		} else {
			r.Rem(a, b)
		}
	case ir.Neg:
		r.Neg(a)
	case ir.Abs:
		r.Abs(a)
	case ir.Min, ir.Max:
		if r = a; (a.Cmp(b) < 0) != (op == ir.Min) {
			r = b
		}
	case ir.And:
		r.And(a, b)
	case ir.Or:
		r.Or(a, b)
	case ir.Xor:
		r.Xor(a, b)
	case ir.Not:
		r.Not(a)
	case ir.Shl:
		r.Lsh(a, count)
	case ir.Shr:
		r.Rsh(a, count)
	case ir.Lt, ir.Le, ir.Gt, ir.Ge, ir.Eq, ir.Ne:
		c := a.Cmp(b)
		return bit(map[ir.Op]bool{ir.Lt: c < 0, ir.Le: c <= 0, ir.Gt: c > 0, ir.Ge: c >= 0, ir.Eq: c == 0, ir.Ne: c != 0}[op]), true
	default:
		return 0, false
	}
	return wrapped(t, r), true
}

func referenceCast(s sig, x uint64) uint64 {
	if s.T == tF {
		v := f64(x)
		switch {
		case s.R == tF:
			return round32(v)
		case s.R == tB:
			return bit(v != 0)
		case math.IsNaN(v):
			return 0
		}
		low, high := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), uint(8*s.R.Size()))
		if s.R != tU {
			high.Rsh(high, 1)
			low.Neg(high)
		}
		high.Sub(high, big.NewInt(1))
		if math.IsInf(v, 1) {
			return wrapped(s.R, high)
		}
		if math.IsInf(v, -1) {
			return wrapped(s.R, low)
		}
		n, _ := bf(v).Int(nil) // truncates
		if n.Cmp(low) < 0 {
			n = low
		}
		if n.Cmp(high) > 0 {
			n = high
		}
		return wrapped(s.R, n)
	}
	v := toBig(s.T, x)
	switch s.R {
	case tF:
		f, _ := new(big.Float).SetPrec(100).SetInt(v).Float32()
		return round32(float64(f))
	case tB:
		return bit(v.Sign() != 0)
	}
	return wrapped(s.R, v)
}
