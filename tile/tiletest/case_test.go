package tiletest

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// write stores numbers at an element of the tensor's buffer, counted from the tensor's start, as a kernel would.
func write(t *testing.T, r *Run, x device.Tensor, at int, values ...float64) {
	t.Helper()
	size := x.DType().Size()
	b := make([]byte, len(values)*size)
	for i, v := range values {
		put(b[i*size:], x.DType(), v)
	}
	if err := r.Stream.CopyIn(x.Buffer(), int(x.Addr()-x.Buffer().Addr())+at*size, b); err != nil {
		t.Fatal(err)
	}
}

// The right program is silent; each wrong one is reported.
func TestCaseChecksMemory(t *testing.T) {
	ones := []float64{1, 1, 1, 1, 1, 1}
	strided := Spec{Role: Output, DType: dtype.BF16, Shape: []int{2, 3}, Strides: []int{5, 1}, Offset: 1}
	for _, c := range []struct {
		name string
		run  func(*testing.T, *Run)
		want string // part of the error; empty: none
	}{
		{"right", func(t *testing.T, r *Run) {
			r.In(dtype.F32, ones, 6)
			write(t, r, r.Out(dtype.F32, 6), 0, ones...)
			write(t, r, r.InOut(dtype.I64, ones, 6), 2, 7)
		}, ""},
		{"right, strided", func(t *testing.T, r *Run) {
			y := r.Place(strided)
			write(t, r, y, 0, 1, 2, 3)
			write(t, r, y, 5, 4, 5, 6)
			r.Compare("y", r.Floats(y), []float64{1, 2, 3, 4, 5, 6}, 0)
		}, ""},
		{"empty", func(t *testing.T, r *Run) { r.Out(dtype.F32, 0, 6); r.In(dtype.F32, nil, 0) }, ""},
		{"not written", func(t *testing.T, r *Run) { write(t, r, r.Out(dtype.F32, 6), 0, 1, 1, 1) }, "3 of 6 elements not written, the first at [3]"},
		{"not written, once", func(t *testing.T, r *Run) { r.Floats(r.Out(dtype.F16, 2)) }, "2 of 2 elements not written, the first at [0]"},
		{"after the end", func(t *testing.T, r *Run) { write(t, r, r.Out(dtype.F32, 6), 0, append(ones, 1)...) }, "not an output was written, first at element 6"},
		{"before the start", func(t *testing.T, r *Run) { write(t, r, r.InOut(dtype.F32, ones, 6), -1, 1) }, "first at element -1"},
		{"into a gap of the strides", func(t *testing.T, r *Run) {
			y := r.Place(strided)
			write(t, r, y, 0, 1, 2, 3, 9)
			write(t, r, y, 5, 4, 5, 6)
		}, "first at element 3"},
		{"into an input", func(t *testing.T, r *Run) { write(t, r, r.In(dtype.F32, ones, 6), 4, 2) }, "first at element 4"},
		{"above the bar", func(t *testing.T, r *Run) { r.Compare("dx", []float64{1, 2.5}, []float64{1, 2}, 0.2) }, "dx: scale-relative error 0.25"},
		{"NaN under an infinite bar", func(t *testing.T, r *Run) { r.Compare("dx", []float64{nan}, []float64{1}, inf) }, "the bar is +Inf"},
		{"wrong number of values", func(t *testing.T, r *Run) { r.In(dtype.F32, ones, 7) }, "6 values for 7 elements"},
		{"panic", func(t *testing.T, r *Run) { panic("oops") }, "panic: oops"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := device.Open("sim")
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			res := Case{Name: c.name, Run: func(r *Run) error { c.run(t, r); return nil }}.Exec(t.Context(), d, 1)
			switch {
			case c.want == "" && res.Err != nil:
				t.Error(res.Err)
			case c.want != "" && (res.Err == nil || strings.Count(res.Err.Error(), c.want) != 1):
				t.Errorf("got %v, want %q once", res.Err, c.want)
			}
		})
	}
}

func TestCaseReturnsItsError(t *testing.T) {
	boom := errors.New("boom")
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	res := Case{Name: "boom", Run: func(r *Run) error {
		r.Compare("y", []float64{1}, []float64{1}, 0)
		r.Errorf("first")
		return boom
	}}.Exec(t.Context(), d, 1)
	if !errors.Is(res.Err, boom) || !strings.Contains(res.Err.Error(), "first") {
		t.Errorf("got %v", res.Err)
	}
	if e, ok := res.Worst["y"]; !ok || e != 0 {
		t.Errorf("worst errors: %v", res.Worst)
	}
}

func TestDataDependsOnSeedAndSalt(t *testing.T) {
	r, s := &Run{Seed: 1}, &Run{Seed: 2}
	a := r.Uniform(dtype.F32, 1, 4)
	for name, b := range map[string][]float64{"salt": r.Uniform(dtype.F32, 2, 4), "seed": s.Uniform(dtype.F32, 1, 4)} {
		if Compare(a, b).Scale < 0.1 {
			t.Errorf("another %s gives the same data", name)
		}
	}
	if Compare(a, (&Run{Seed: 1}).Uniform(dtype.F32, 1, 4)).Scale != 0 {
		t.Error("the same seed and salt give other data")
	}
}
