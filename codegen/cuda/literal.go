package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/thr"
)

// literal prints a constant so that its C type is the constant's type and its value is exact. 16-bit floats are their
// bits in a u32.
func literal(c thr.Const) code {
	switch c.DT {
	case dtype.F32:
		return floatLiteral(uint32(c.Bits))
	case dtype.I32:
		if int32(c.Bits) == math.MinInt32 { // 2147483648 has no type int
			return code{"-2147483647 - 1", precAdd}
		}
		return signed(int64(int32(c.Bits)), "")
	case dtype.I64:
		if int64(c.Bits) == math.MinInt64 {
			return code{"-9223372036854775807ll - 1", precAdd}
		}
		return signed(int64(c.Bits), "ll")
	case dtype.Bool:
		return primary(strconv.FormatBool(c.Bits&1 != 0))
	case dtype.BF16, dtype.F16:
		return primary(fmt.Sprintf("0x%04xu", uint16(c.Bits)))
	}
	if v := uint32(c.Bits); v < 1<<16 {
		return primary(fmt.Sprintf("%du", v))
	}
	return primary(fmt.Sprintf("0x%08xu", uint32(c.Bits)))
}

func signed(v int64, suffix string) code {
	s := strconv.FormatInt(v, 10) + suffix
	if v < 0 {
		return code{s, precUnary}
	}
	return primary(s)
}

// floatLiteral is the shortest decimal that reads back as the same float; infinities and NaNs are given by their bits.
func floatLiteral(bits uint32) code {
	f := math.Float32frombits(bits)
	if f != f || math.IsInf(float64(f), 0) {
		return call("__uint_as_float", primary(fmt.Sprintf("0x%08xu", bits)))
	}
	s := strconv.FormatFloat(float64(f), 'g', -1, 32)
	if mantissa, exp, ok := strings.Cut(s, "e"); ok {
		n, _ := strconv.Atoi(exp) // FormatFloat's exponent is a number: 1e-06 becomes 1e-6
		s = mantissa + "e" + strconv.Itoa(n)
	} else if !strings.Contains(s, ".") {
		s += ".0"
	}
	if math.Signbit(float64(f)) {
		return code{s + "f", precUnary}
	}
	return primary(s + "f")
}

// short is a 64-bit literal beside another 64-bit operand, where C's conversions make the suffix superfluous.
func short(e thr.Expr) (code, bool) {
	c, ok := e.(thr.Const)
	if !ok || c.DT != dtype.I64 || int64(c.Bits) != int64(int32(c.Bits)) || int32(c.Bits) == math.MinInt32 {
		return code{}, false
	}
	return signed(int64(c.Bits), ""), true
}
