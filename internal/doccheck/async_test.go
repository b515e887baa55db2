package doccheck

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/bench"
)

func TestAsyncTable(t *testing.T) {
	arm := func(us, mib float64) bench.Arm {
		return figured(us-1, us, us+1, map[string]float64{"in_flight_bytes": mib * mebibyte, "threads_per_sm": 128})
	}
	r := &bench.Results{Suite: "async", Cases: []bench.Case{
		{Name: "async/blocks1/8x64/bf16", Bytes: 100e6, Ratio: map[string]float64{"tma_8": 4}, Arms: map[string]bench.Arm{
			"sync": arm(200, 0.5), "tma_8": arm(50, 4), "copy": {Median: 50, Bytes: 200e6},
		}},
		{Name: "async/blocks1/4x64/bf16"},
	}}
	got, err := AsyncTable(r, "8x64")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| 1 | 128 | loads, waited for | 0.50 | 0.75 | 200.00 (199.00 to 201.00) | 0.50 | 0.12 | 1 |",
		"| 1 | 128 | pipeline, 8 stages | 4.00 | 4.40 | 50.00 (49.00 to 51.00) | 2.00 | 0.50 | 4.00 |",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
	for _, shape := range []string{"4x64", "2x64"} {
		if _, err := AsyncTable(r, shape); err == nil {
			t.Errorf("%s, which has no times, is no error", shape)
		}
	}
}
