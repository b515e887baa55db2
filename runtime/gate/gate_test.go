package gate

import (
	"math"
	"strings"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// An absolute error of 4.8e-7 on an element of 1.6e-3 in a tensor of scale 47 is 1e-8, not 3e-4.
func TestErrorsAreRelativeToScale(t *testing.T) {
	want := []float64{47, 1.6e-3, -12}
	got := []float64{47, 1.6e-3 + 4.8e-7, -12}
	if e := scaled(got, want); math.Abs(e-4.8e-7/47) > 1e-12 || e > 1.1e-8 {
		t.Errorf("the error is %g", e)
	}
	for name, pair := range map[string][2][]float64{
		"lengths": {{1}, {1, 2}}, "a NaN that should not be": {{math.NaN()}, {1}}, "one that should": {{1}, {math.NaN()}},
	} {
		if e := scaled(pair[0], pair[1]); !math.IsNaN(e) {
			t.Errorf("%s: the error is %g", name, e)
		}
	}
	if e := scaled([]float64{0.5}, []float64{0}); e != 0.5 {
		t.Errorf("beside zeros the error is %g", e)
	}
}

type port struct {
	X autodiff.Tensor `op:"[n] f32"`
}

// offset is y = x + 2^20, in whose rounding differences of x drown; its gradient is p times the right one.
var offset = autodiff.New("offset", autodiff.Spec[float64, port, port, struct{}]{
	Forward: func(x *autodiff.Exec, _ float64, in port) (out port, s struct{}, err error) {
		out.X = x.Like(in.X)
		v, err := device.DownloadFloats(x.Stream(), x.View(in.X))
		for i := range v {
			v[i] += 1 << 20
		}
		if err != nil {
			return out, s, err
		}
		return out, s, device.UploadFloats(x.Stream(), x.View(out.X), v)
	},
	Backward: func(x *autodiff.Exec, p float64, in port, _ struct{}, dy port) (d port, err error) {
		d.X = x.Like(in.X)
		v, err := device.DownloadFloats(x.Stream(), x.View(dy.X))
		for i := range v {
			v[i] *= p
		}
		if err != nil {
			return d, err
		}
		return d, device.UploadFloats(x.Stream(), x.View(d.X), v)
	},
})

// Where no difference is resolved the gate says so, and the reference decides.
func TestUnresolved(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct {
		factor float64
		want   Result
	}{{1, Unresolved}, {1.001, Unresolved}, {1.01, Fail}, {-1, Fail}, {0, Fail}} {
		r, err := Check(d.Stream(), offset, Case[float64]{
			Name: "f32/8", Params: c.factor, In: []Input{{Type: dtype.F32, Shape: []int{8}}}, Runs: 1, Backward: 1, // no other gate looks at the gradient
			Reference: func(_ float64, in [][]float64) [][]float64 {
				y := make([]float64, len(in[0]))
				for i, x := range in[0] {
					y[i] = x + 1<<20
				}
				return [][]float64{y}
			},
			Gradient: func(_ float64, _, dy [][]float64) [][]float64 { return dy },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Verdicts {
			if v.Gate == "difference" && (v.Result != c.want || !strings.Contains(v.Text, "none of 7 resolved")) {
				t.Errorf("a gradient times %g: %v", c.factor, v)
			}
		}
		if (r.Err() == nil) != (c.want == Unresolved) {
			t.Errorf("a gradient times %g: %v", c.factor, r.Err())
		}
	}
}

// A case that does not fit the op is an error of the case.
func TestCaseErrors(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	reference := func(float64, [][]float64) [][]float64 { return nil }
	for _, c := range []struct {
		text string
		c    Case[float64]
	}{
		{"a case needs a Reference", Case[float64]{In: []Input{{Type: dtype.F32, Shape: []int{8}}}}},
		{"the case has 0 inputs, the op 1 ports", Case[float64]{Reference: reference}},
		{"input X is not set, and its port is not optional", Case[float64]{Reference: reference, In: []Input{{}}}},
		{"input X has 2 numbers for the shape [8]", Case[float64]{Reference: reference, In: []Input{{Type: dtype.F32, Shape: []int{8}, Data: make([]float64, 2)}}}},
		{"input X of type i32 needs data", Case[float64]{Reference: reference, In: []Input{{Type: dtype.I32, Shape: []int{8}}}}},
	} {
		if _, err := Check(d.Stream(), offset, c.c); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("got %v, want %q", err, c.text)
		}
	}
}
