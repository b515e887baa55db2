package sim

import "math"

// nan is the NaN that CUDA's f32 arithmetic returns.
const nan = 0x7fffffff

// fbits is the bit pattern of a result. The host's NaNs (x86: 0xffc00000, payloads kept) do not get through.
func fbits(f float32) uint64 {
	if f != f {
		return nan
	}
	return uint64(math.Float32bits(f))
}

func float(x uint64) float32 { return math.Float32frombits(uint32(x)) }

// fma32 is a*b + c, rounded once. The product of two f32 is exact in float64; their sum with c is not, and rounding
// it to float64 and then to f32 would round twice. So the sum is rounded to odd: truncated, its last bit set when
// something was lost. That bit lies beyond what f32 keeps (53 >= 24 + 2) and decides every tie.
func fma32(a, b, c float32) float32 {
	p := float64(float64(a) * float64(b)) // the conversion keeps Go from fusing it with the sum
	z := float64(c)
	s := p + z
	if s-s != 0 { // infinite or NaN
		return float32(s)
	}
	t := s - p
	lost := (p - (s - t)) + (z - t) // exact (Knuth's two-sum)
	if lost != 0 {
		if u := math.Float64bits(s); u&1 == 0 {
			if (lost > 0) == (s > 0) {
				u++
			} else {
				u--
			}
			s = math.Float64frombits(u)
		}
	}
	return float32(s)
}

// doubtful reports whether float32(s) may differ from the exact sum that s rounds to float64. It cannot unless s lies
// halfway between two f32: rounding keeps order, so otherwise the exact sum is on the same side of every such midpoint.
// For normal f32 a midpoint ends in a one and 28 zeros; subnormals have others, so they are all doubtful. Zero is
// exact, since a float64 holds every product of two f32.
func doubtful(s float64) bool {
	u := math.Float64bits(s)
	return u&(1<<29-1) == 1<<28 || u<<1-1 < (1023-126)<<53-1
}

// min32 and max32 follow PTX min.f32 and max.f32: a NaN operand loses, and -0 < +0.
func min32(a, b float32) float32 {
	switch {
	case a != a:
		return b
	case b != b || a < b || a == b && math.Signbit(float64(a)):
		return a
	}
	return b
}

func max32(a, b float32) float32 {
	switch {
	case a != a:
		return b
	case b != b || a > b || a == b && !math.Signbit(float64(a)):
		return a
	}
	return b
}

// ftz flushes a subnormal to zero and keeps its sign, as PTX's .ftz does to operands and results.
func ftz(x float32) float32 {
	if b := math.Float32bits(x); b&0x7f800000 == 0 {
		return math.Float32frombits(b & 0x80000000)
	}
	return x
}

// flush makes the .ftz form of a function.
func flush(f func(float32) float32) func(float32) float32 {
	return func(x float32) float32 { return ftz(f(ftz(x))) }
}

// via64 makes an f32 function of a float64 one, rounded once at the end.
func via64(f func(float64) float64) func(float32) float32 {
	return func(x float32) float32 { return float32(f(float64(x))) }
}

func rsqrt64(x float64) float64   { return 1 / math.Sqrt(x) }
func sigmoid64(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
func silu64(x float64) float64    { return x / (1 + math.Exp(-x)) }
func softplus64(x float64) float64 {
	return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

// divApprox is div.approx.ftz.f32: a * (1/b), where the reciprocal of a large b flushes to zero.
func divApprox(a, b float32) float32 {
	a, b = ftz(a), ftz(b)
	if m := math.Abs(float64(b)); m > 0x1p126 && m <= math.MaxFloat32 {
		zero := math.Float32frombits(math.Float32bits(b) & 0x80000000)
		return float32(a * zero) // NaN where a is infinite
	}
	return ftz(a / b)
}

// toInt truncates and saturates; NaN becomes 0. lo and hi are the bounds of the integer type as floats, hi exclusive.
func toInt(x float32, lo, hi float64, least, most int64) int64 {
	switch v := float64(x); {
	case v != v:
		return 0
	case v < lo:
		return least
	case v >= hi:
		return most
	default:
		return int64(v)
	}
}

func toI32(x float32) int32 {
	return int32(toInt(x, math.MinInt32, 1<<31, math.MinInt32, math.MaxInt32))
}
func toU32(x float32) uint32 { return uint32(toInt(x, 0, 1<<32, 0, math.MaxUint32)) }
func toI64(x float32) int64 {
	return toInt(x, math.MinInt64, 1<<63, math.MinInt64, math.MaxInt64)
}

func isNaN(x uint32) bool { return x&0x7fffffff > 0x7f800000 }

// ordered maps the bits of floats that are no NaN to integers in the same order; unordered is its inverse.
func ordered(x uint32) int32   { return int32(x) ^ int32(uint32(int32(x)>>31)>>1) }
func unordered(x int32) uint32 { return uint32(x) ^ uint32(x>>31)>>1 }
