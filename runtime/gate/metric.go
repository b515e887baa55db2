package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
)

// differs says where two outcomes differ.
func differs(a, b outcome) string {
	if b.err != nil {
		return b.err.Error()
	}
	for i := range a.out {
		if !same(a.out[i], b.out[i]) {
			return fmt.Sprintf("output %d differs", i)
		}
	}
	for i := range a.grad {
		if !same(a.grad[i], b.grad[i]) {
			return fmt.Sprintf("the gradient of input %d differs", i)
		}
	}
	return ""
}

// same compares bits, as far as float64 has them.
func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// roundoff is half the distance of 1 and the next number.
func roundoff(t dtype.Type) float64 {
	switch t {
	case dtype.F16:
		return 0x1p-11
	case dtype.BF16:
		return 0x1p-8
	}
	return 0x1p-24
}

// scale is the largest absolute value; NaN if there is one.
func scale(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		if math.IsNaN(x) {
			return x
		}
		s = max(s, math.Abs(x))
	}
	return s
}

// scaled is max|got-want| / max|want|; where want is 0 everywhere, max|got|. Another length or a NaN gives NaN.
func scaled(got, want []float64) float64 {
	if len(got) != len(want) {
		return math.NaN()
	}
	diff := make([]float64, len(want))
	for i := range want {
		diff[i] = got[i] - want[i]
	}
	d, s := scale(diff), scale(want)
	if s > 0 {
		return d / s
	}
	return d
}
