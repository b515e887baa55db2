package tiletest

import (
	"fmt"
	"math"

	"github.com/google/go-cmp/cmp"
)

// Difference is how far results are from a reference.
type Difference struct {
	// Scale is the scale-relative error, max|got-want| / max|want| over the finite references. It is +Inf where one
	// side is NaN and the other is not, where infinities differ, where lengths differ, and where the reference is all
	// zero and the result is not.
	Scale float64
	// RMSE is the RMSE ratio, sqrt(sum (got-want)^2 / sum want^2); it is +Inf wherever Scale is.
	RMSE float64
	// Index is the element with the largest difference, -1 for equal slices.
	Index     int
	Got, Want float64 // the elements at Index
	Detail    string  // what else is wrong: lengths
}

// Within reports whether the scale-relative error is at most bar. No bar makes a NaN or a wrong length right.
func (d Difference) Within(bar float64) bool { return d.Scale <= bar && !math.IsInf(d.Scale, 1) }

// String is one line for a failure message.
func (d Difference) String() string {
	switch {
	case d.Detail != "":
		return d.Detail
	case d.Index < 0:
		return "equal"
	}
	return fmt.Sprintf("scale-relative error %.3g, RMSE ratio %.3g; worst at [%d]: got %v, want %v", d.Scale, d.RMSE, d.Index, d.Got, d.Want)
}

// Compare measures got against the reference want.
func Compare(got, want []float64) Difference {
	d := Difference{Index: -1}
	if len(got) != len(want) {
		d.Scale, d.RMSE, d.Detail = math.Inf(1), math.Inf(1), fmt.Sprintf("got %d elements, want %d", len(got), len(want))
		return d
	}
	scale := 0.0
	for _, w := range want {
		if !math.IsNaN(w) && !math.IsInf(w, 0) {
			scale = max(scale, math.Abs(w))
		}
	}
	worst, num, den := 0.0, 0.0, 0.0
	for i, w := range want {
		e := distance(got[i], w)
		if e > worst {
			worst, d.Index, d.Got, d.Want = e, i, got[i], w
		}
		if math.IsInf(w, 0) || math.IsNaN(w) || scale == 0 {
			continue
		}
		// In units of the scale: the squares of large numbers would overflow.
		num += (e / scale) * (e / scale)
		den += (w / scale) * (w / scale)
	}
	switch {
	case worst == 0:
	case scale == 0 || math.IsInf(worst, 1):
		d.Scale, d.RMSE = math.Inf(1), math.Inf(1)
	default:
		d.Scale, d.RMSE = worst/scale, math.Sqrt(num/den)
	}
	return d
}

// distance is |a-b|; equal infinities and two NaNs are no distance apart, anything else beside them is +Inf.
func distance(a, b float64) float64 {
	switch {
	case a == b, math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a), math.IsNaN(b), math.IsInf(a, 0), math.IsInf(b, 0):
		return math.Inf(1)
	}
	return math.Abs(a - b)
}

// ScaleRelative is a cmp.Option that takes []float64 and []float32 for equal when the scale-relative error of one
// against the other is at most bar, whichever of the two is the reference.
func ScaleRelative(bar float64) cmp.Option {
	within := func(a, b []float64) bool { return Compare(a, b).Within(bar) && Compare(b, a).Within(bar) }
	return cmp.Options{
		cmp.Comparer(within),
		cmp.Comparer(func(a, b []float32) bool { return within(widen(a), widen(b)) }),
	}
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}
