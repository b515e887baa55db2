//go:build !gotilegen

package main

import (
	"errors"
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/runtime/device"
)

// TestRun runs the program on every device of this machine, at the shapes where rows are ragged, short or many.
func TestRun(t *testing.T) {
	for _, name := range []string{"sim", "cuda:0"} {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(device.List(), name) {
				t.Skip("no GPU on this machine")
			}
			for _, shape := range [][]string{{"-rows=5", "-n=1000"}, {"-rows=1", "-n=1"}, {"-rows=33", "-n=512"}, {"-rows=2", "-n=16384"}} {
				var out strings.Builder
				if err := run(t.Context(), &out, append(shape, "-device="+name)); err != nil {
					t.Errorf("%v: %v\n%s", shape, err, out.String())
				}
				for _, want := range []string{
					`rmsnorm_fwd_bf16_f32_c\d+(_v)?\.cu`, `(?m)^    float sum = 0\.0f;$`, `__frsqrt_rn\(sum / (n_f32|\(float\)a\.n) \+ a\.eps\)`, `(?m)^      y\[i\] = `,
					`(?m)^forward +y .* rmsnorm_fwd_\w+ +1$`, `(?m)^backward +dx .* rmsnorm_bwd_\w+ +1$`, `(?m)^backward +dw .* rmsnorm_(dw_f32(_c\d+)?|bwd_one_\w+) +1$`,
					`all results agree with float64\n$`,
				} {
					if !regexp.MustCompile(want).MatchString(out.String()) {
						t.Errorf("%v: the output does not match %s:\n%s", shape, want, out.String())
					}
				}
				if shape[1] == "-n=16384" {
					continue // the row is read again between the sum and y
				}
				if strings.Contains(out.String(), "store y") || strings.Contains(out.String(), "// load x") {
					t.Errorf("%v: more than the arithmetic is shown:\n%s", shape, out.String())
				}
			}
		})
	}
}

// TestFirstLook: of the rows that it takes by itself the program shows the whole sum, from its loop on.
func TestFirstLook(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"-device=sim"}); err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`float sum = 0\.0f;\n +#pragma unroll\n +for .*\n(.*\n){2,4} +sum = fmaf\(`); !want.MatchString(out.String()) {
		t.Errorf("the sum is not shown:\n%s", out.String())
	}
}

// TestReport: a result above its bar, or NaN, fails the program and is named.
func TestReport(t *testing.T) {
	d, err := device.Open("sim")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, got := range [][]float64{{1, 2.1}, {1, nan()}, {1}} {
		results := []result{{what: "y", worst: distance(got, []float64{1, 2}), bar: 0.04}, {what: "dw", worst: 0.01, bar: 0.02}}
		err := report(new(strings.Builder), d, &problem{}, results)
		if err == nil || err.Error() != "y differ from float64 by more than the bar" {
			t.Errorf("y = %v: got error %v", got, err)
		}
	}
}

func nan() float64 { z := 0.0; return z / z }

// TestBadInput: one message that says what is wrong and what is possible, and nothing on stdout.
func TestBadInput(t *testing.T) {
	for _, test := range []struct {
		args  []string
		want  string
		usage bool
	}{
		{[]string{"-rows=0"}, "-rows 0: give at least 1; quickstart -h lists the flags", true},
		{[]string{"-rows=-3"}, "-rows -3: give at least 1; quickstart -h lists the flags", true},
		{[]string{"-n=0"}, "-n 0: a row has 1 to 16384 elements; quickstart -h lists the flags", true},
		{[]string{"-n=16385"}, "-n 16385: a row has 1 to 16384 elements; quickstart -h lists the flags", true},
		{[]string{"-rows=5000000000", "-n=16384"}, "-rows 5000000000 -n 16384: more than 67108864 elements, too many for the float64 check; quickstart -h lists the flags", true},
		{[]string{"-n=many"}, `invalid value "many" for flag -n: parse error; quickstart -h lists the flags`, true},
		{[]string{"-size=3"}, "flag provided but not defined: -size; quickstart -h lists the flags", true},
		{[]string{"4096"}, `unexpected argument "4096"; quickstart -h lists the flags`, true},
		{[]string{"-device=gpu"}, `device: unknown device "gpu"; there are sim and cuda:N (cuda:0 is the first GPU); this machine has ` + strings.Join(device.List(), ", "), false},
	} {
		var out strings.Builder
		err := run(t.Context(), &out, test.args)
		if err == nil || err.Error() != test.want || errors.Is(err, errUsage) != test.usage {
			t.Errorf("%v: got error %v, want %s", test.args, err, test.want)
		}
		if out.Len() > 0 {
			t.Errorf("%v: printed %q", test.args, out.String())
		}
	}
}

func TestHelp(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, []string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for _, want := range []string{"usage: quickstart", "-device", "-rows", "-n elements"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help does not mention %s:\n%s", want, out.String())
		}
	}
}
