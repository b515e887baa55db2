package doccheck

import (
	"strings"
	"testing"

	"github.com/gotile/gotile/bench"
)

// figured is an arm of three rounds.
func figured(a, b, c float64, figures map[string]float64) bench.Arm {
	return bench.Arm{Median: b, Min: a, Max: c, Rounds: []float64{a, b, c}, Figures: figures}
}

func TestHostTable(t *testing.T) {
	allocs := func(n float64) map[string]float64 { return map[string]float64{"allocs": n} }
	r := &bench.Results{Suite: "host", Cases: []bench.Case{
		{Name: "host/launch/32B", Base: "launch", Goal: &bench.Goal{Above: map[string]float64{"c": 1}}, Arms: map[string]bench.Arm{
			"launch": figured(3, 4, 5, allocs(0)), "driver": figured(2, 2.5, 3, allocs(0)), "c": figured(1, 2, 4, allocs(0)),
		}}, // 2, 2 and 1 more
		{Name: "host/step/1x1/f32", Arms: map[string]bench.Arm{
			"eager": figured(3900, 4000, 4100, map[string]float64{"host_us": 3500, "gpu_us": 1000, "gpu_busy": 0.25, "launches": 405, "nodes": 505}),
			"graph": figured(900, 1000, 1100, map[string]float64{"host_us": 20, "gpu_us": 1000, "gpu_busy": 1, "launches": 405, "nodes": 505}),
		}},
		{Name: "host/apply/256/f32", Base: "apply", Goal: &bench.Goal{Above: map[string]float64{"c": 3}}, Arms: map[string]bench.Arm{
			"apply": figured(4, 4, 4, allocs(1)), "apply_untracked": figured(6, 6, 6, allocs(1)), "c": figured(2, 2, 2, allocs(0)),
		}},
		{Name: "host/broken/1/f32", Base: "apply", Arms: map[string]bench.Arm{"apply": figured(1, 2, 3, allocs(1)), "c": {Error: "no driver"}}},
	}}
	for pass, want := range map[string][]string{
		"launch": {"| `Stream.Launch` | 4.00 (3.00 to 5.00) | **2.00** | 1.0 | 0 |", "| `driver.Context.Launch` | 2.50 (2.00 to 3.00) | 0.50 |  | 0 |",
			"arguments made before | 2.00 (1.00 to 4.00) |  |  | 0 |"},
		"apply": {"| `Apply`, tracked | 4.00 (4.00 to 4.00) | 2.00 | 3.0 | 1 |", "| `Apply`, not tracked | 6.00 (6.00 to 6.00) | **4.00** | 3.0 | 1 |"},
		"step":  {"| launch by launch | 4.00 (3.90 to 4.10) | 3.500 | 1.000 | 0.25 | 405 | 505 |", "| one graph | 1.00 (0.90 to 1.10) | 0.020 | 1.000 | 1.00 | 405 | 505 |"},
	} {
		got, err := HostTable(r, pass)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(got, line) {
				t.Errorf("%s: %q is not in\n%s", pass, line, got)
			}
		}
	}
	for pass, want := range map[string]string{"broken": "no driver", "jump": "no case jump"} {
		if _, err := HostTable(r, pass); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", pass, err, want)
		}
	}
}

func TestRecomputeTable(t *testing.T) {
	arm := func(us, mib, replays float64) bench.Arm {
		return figured(us-1, us, us+1, map[string]float64{"peak_bytes": mib * mebibyte, "launches": 32 + replays, "replays": replays})
	}
	r := &bench.Results{Suite: "recompute", Cases: []bench.Case{{Name: "recompute/step/4x64/bf16", Arms: map[string]bench.Arm{
		"saveall": arm(2000, 100, 0), "recompute": arm(2500, 60, 16), "saveall_graph": arm(1000, 100, 0), "recompute_graph": arm(1500, 60, 16),
	}}}}
	got, err := RecomputeTable(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| 4x64, bf16 | Recompute | 2.50 (2.50 to 2.50) | 1.25 | 60.0 | 0.60 | 48 | 16 |", "| 4x64, bf16 | SaveAll, one graph | 1.00 (1.00 to 1.00) | 0.50 | 100.0 | 1.00 | 32 | 0 |",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
	delete(r.Cases[0].Arms, "recompute")
	if _, err := RecomputeTable(r); err == nil {
		t.Error("a missing arm is no error")
	}
}
