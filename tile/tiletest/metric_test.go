package tiletest

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var nan, inf = math.NaN(), math.Inf(1)

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name        string
		got, want   []float64
		scale, rmse float64
		index       int
	}{
		{"empty", nil, nil, 0, 0, -1},
		{"equal", []float64{1, -2}, []float64{1, -2}, 0, 0, -1},
		{"relative to the largest reference, not to the element", []float64{0.25, 2}, []float64{0, 2}, 0.125, 0.125, 0},
		{"the largest difference counts", []float64{1, 5, 3}, []float64{1, 4, 4}, 0.25, math.Sqrt(2.0 / 33), 1},
		{"a large result does not dilute", []float64{100, 1}, []float64{1, 1}, 99, 99 / math.Sqrt(2), 0},
		{"two NaNs agree", []float64{nan, 1}, []float64{nan, 1}, 0, 0, -1},
		{"NaN in the result", []float64{nan, 1}, []float64{0, 1}, inf, inf, 0},
		{"NaN in the reference", []float64{0, 1}, []float64{nan, 1}, inf, inf, 0},
		{"equal infinities agree", []float64{inf, 1.5}, []float64{inf, 1}, 0.5, 0.5, 1},
		{"opposite infinities", []float64{-inf, 1}, []float64{inf, 1}, inf, inf, 0},
		{"infinite result", []float64{inf, 1}, []float64{3, 1}, inf, inf, 0},
		{"zero reference, zero result", []float64{0, 0}, []float64{0, 0}, 0, 0, -1},
		{"zero reference, tiny result", []float64{0, 1e-300}, []float64{0, 0}, inf, inf, 1},
		{"signed zeros agree", []float64{math.Copysign(0, -1)}, []float64{0}, 0, 0, -1},
		{"squares do not overflow", []float64{1.5e300, 0}, []float64{1e300, 0}, 0.5, 0.5, 0},
		{"lengths", []float64{1}, []float64{1, 2}, inf, inf, -1},
	} {
		d := Compare(c.got, c.want)
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-12*math.Abs(b) }
		if !near(d.Scale, c.scale) || !near(d.RMSE, c.rmse) || d.Index != c.index {
			t.Errorf("%s: got %v %v at %d, want %v %v at %d", c.name, d.Scale, d.RMSE, d.Index, c.scale, c.rmse, c.index)
		}
	}
}

func TestScaleRelative(t *testing.T) {
	type result struct {
		Y  []float64
		DX []float32
	}
	a := result{[]float64{0, 100}, []float32{1, 2}}
	b := result{[]float64{0.5, 100}, []float32{1, 2.01}}
	if diff := cmp.Diff(a, b, ScaleRelative(1e-2)); diff != "" {
		t.Errorf("within 1e-2, but:\n%s", diff)
	}
	if cmp.Equal(a, b, ScaleRelative(1e-3)) {
		t.Error("5e-3 apart, but equal at 1e-3")
	}
	if cmp.Equal([]float64{nan}, []float64{0}, ScaleRelative(inf)) {
		t.Error("NaN passes an infinite bar")
	}
}
