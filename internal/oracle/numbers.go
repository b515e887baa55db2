package oracle

import (
	"fmt"
	"math"
	"math/big"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/exact"
	"github.com/gotile/gotile/internal/ir"
)

// FromBits is the number that a pattern means.
func FromBits(dt dtype.Type, b uint64) Num {
	if dt.IsFloat() {
		return Num{F: exact.Float(dt, b)}
	}
	return Num{I: exact.Int(dt, b)}
}

// Bits is the pattern of a number in a type, the inverse of FromBits.
func (n Num) Bits(dt dtype.Type) uint64 {
	switch dt {
	case dtype.F32:
		return uint64(math.Float32bits(float32(n.F)))
	case dtype.BF16:
		return uint64(dtype.BF16FromFloat32(float32(n.F)).Bits())
	case dtype.F16:
		return uint64(dtype.F16FromFloat32(float32(n.F)).Bits())
	case dtype.E4M3:
		return uint64(dtype.E4M3FromFloat32(float32(n.F)).Bits())
	case dtype.E5M2:
		return uint64(dtype.E5M2FromFloat32(float32(n.F)).Bits())
	case dtype.I8:
		return uint64(uint8(n.I))
	case dtype.I64:
		return uint64(n.I)
	}
	return uint64(uint32(n.I))
}

// wrap brings a result into an integer type.
func wrap(dt dtype.Type, i int64) Num { return Num{I: exact.Int(dt, uint64(i))} }

// width is the number of bits of an integer type.
func width(dt dtype.Type) int { return 8 * dt.Size() }

// round brings a result into its type.
func round(dt dtype.Type, n Num) Num {
	if dt.IsFloat() {
		return Num{F: exact.Narrow(dt, n.F)}
	}
	return wrap(dt, n.I)
}

func truth(b bool) Num {
	if b {
		return Num{I: 1}
	}
	return Num{}
}

// apply computes an elementwise op.
func apply(v *ir.Value, a []Num) Num {
	dt := v.Args[len(v.Args)-1].Type.DT // of the operands
	switch v.Op {
	case ir.Lt, ir.Le, ir.Gt, ir.Ge, ir.Eq, ir.Ne:
		return truth(compare(v.Op, dt, a[0], a[1]))
	case ir.Select:
		if a[0].I != 0 {
			return a[1]
		}
		return a[2]
	case ir.Cast:
		return cast(dt, v.Type.DT, a[0])
	case ir.Bitcast:
		return FromBits(v.Type.DT, a[0].Bits(dt))
	case ir.Asm:
		in := make([]uint64, len(a))
		for i, x := range a {
			in[i] = x.Bits(v.Args[i].Type.DT)
		}
		return FromBits(v.Type.DT, v.Attr.(*ir.AsmInfo).Sim(in))
	}
	if dt.IsFloat() {
		return round(dt, Num{F: floatOp(v, a)})
	}
	return wrap(dt, intOp(v, dt, a))
}

func compare(op ir.Op, dt dtype.Type, a, b Num) bool {
	less, equal := a.I < b.I, a.I == b.I
	if dt.IsFloat() {
		less, equal = a.F < b.F, a.F == b.F
		if a.F != a.F || b.F != b.F {
			return op == ir.Ne
		}
	}
	switch op {
	case ir.Lt:
		return less
	case ir.Le:
		return less || equal
	case ir.Gt:
		return !less && !equal
	case ir.Ge:
		return !less
	case ir.Eq:
		return equal
	}
	return !equal
}

// floatOp computes in float64. Sums, products, quotients and square roots of f32 numbers are right after rounding to
// f32, since float64 has more than twice the digits; Fma is where its sum is exact in float64.
func floatOp(v *ir.Value, a []Num) float64 {
	x := a[0].F
	switch v.Op {
	case ir.Add:
		return x + a[1].F
	case ir.Sub:
		return x - a[1].F
	case ir.Mul:
		return x * a[1].F
	case ir.Div:
		return x / a[1].F
	case ir.Fma:
		return float64(x*a[1].F) + a[2].F
	case ir.Neg:
		return -x
	case ir.Abs:
		return math.Abs(x)
	case ir.Min, ir.Max:
		y := a[1].F
		switch {
		case x != x:
			return y
		case y != y:
			return x
		case v.Op == ir.Min:
			return min(x, y)
		}
		return max(x, y)
	case ir.Exp:
		return math.Exp(x)
	case ir.Sqrt:
		return math.Sqrt(x)
	case ir.RoundTF32:
		if m, e := math.Frexp(x); !math.IsInf(x, 0) {
			return math.Ldexp(math.Round(math.Ldexp(m, 11)), e-11)
		}
		return x
	case ir.Rsqrt:
		return 1 / math.Sqrt(x)
	}
	fail(v, "the oracle does not know %v of floats", v.Op)
	return 0
}

func intOp(v *ir.Value, dt dtype.Type, a []Num) int64 {
	x, y := a[0].I, a[len(a)-1].I
	switch v.Op {
	case ir.Add:
		return x + y
	case ir.Sub:
		return x - y
	case ir.Mul:
		return x * y
	case ir.Div:
		if y == 0 {
			return -1
		}
		return x / y // the least integer by -1 wraps in Go too
	case ir.Rem:
		if y == 0 {
			return x
		}
		return x % y
	case ir.Neg:
		return -x
	case ir.Abs:
		if x < 0 {
			return -x
		}
		return x
	case ir.Min:
		return min(x, y)
	case ir.Max:
		return max(x, y)
	case ir.MulHi:
		p := new(big.Int).Mul(big.NewInt(x), big.NewInt(y))
		return p.Rsh(p, uint(width(dt))).Int64()
	case ir.And:
		return x & y
	case ir.Or:
		return x | y
	case ir.Xor:
		return x ^ y
	case ir.Not:
		return ^x
	case ir.Shl:
		return x << (uint64(y) % uint64(width(dt)))
	case ir.Shr:
		return x >> (uint64(y) % uint64(width(dt)))
	}
	fail(v, "the oracle does not know %v of integers", v.Op)
	return 0
}

// cast converts: to nearest even, floats to integers truncate and saturate.
func cast(from, to dtype.Type, n Num) Num {
	switch {
	case from.IsFloat() && to.IsFloat():
		return round(to, n)
	case from.IsFloat():
		return Num{I: exact.Truncate(to, n.F)}
	case to.IsFloat():
		return round(to, Num{F: float64(float32(n.I))})
	}
	if to == dtype.I8 { // saturates
		return Num{I: max(math.MinInt8, min(math.MaxInt8, n.I))}
	}
	return wrap(to, n.I)
}

// identity is what a reduction of nothing gives.
func identity(op ir.Op, dt dtype.Type) Num {
	least, most := exact.Limits(dt)
	switch op {
	case ir.Prod:
		return Num{F: 1, I: 1}
	case ir.MaxOf:
		return Num{F: math.Inf(-1), I: least}
	case ir.MinOf:
		return Num{F: math.Inf(1), I: most}
	}
	return Num{}
}

// combine is one step of a reduction, of floats not rounded.
func combine(op ir.Op, dt dtype.Type, a, b Num) Num {
	switch op {
	case ir.Sum:
		return Num{F: a.F + b.F, I: wrap(dt, a.I+b.I).I}
	case ir.Prod:
		return Num{F: a.F * b.F, I: wrap(dt, a.I*b.I).I}
	case ir.MaxOf:
		return Num{F: max(a.F, b.F), I: max(a.I, b.I)}
	}
	return Num{F: min(a.F, b.F), I: min(a.I, b.I)}
}

// In is a number that a type has both as F and as I, with the other left out.
func (n Num) In(dt dtype.Type) Num {
	if dt.IsFloat() {
		return Num{F: n.F}
	}
	return Num{I: n.I}
}

// Text is the number in a type.
func (n Num) Text(dt dtype.Type) string {
	if dt.IsFloat() {
		return fmt.Sprint(n.F)
	}
	return fmt.Sprint(n.I)
}
