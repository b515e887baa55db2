package bench

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

// scripted is a turn whose rounds take the given microseconds a launch; it notes its name in log.
func scripted(name string, log *strings.Builder, us ...float64) *turn {
	i := -1 // the first replay warms up
	return &turn{name: name, launches: 2, replay: func(_ context.Context, n int) (float64, error) {
		i++
		if i == 0 {
			return 1, nil
		}
		log.WriteString(name)
		if us[i-1] < 0 {
			return 0, errors.New("boom\nwith a second line")
		}
		return us[i-1] * float64(2*n), nil
	}}
}

func TestMeasureTakesTurns(t *testing.T) {
	var log strings.Builder
	a, b, c := scripted("a", &log, 1, 2, 3), scripted("b", &log, 2, 2, 2), scripted("c", &log, 5, -1)
	if err := (Plan{Rounds: 3, Replays: 4}).measure(t.Context(), []*turn{a, b, c}, false, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); got != "abccbaab" { // c drops out in its second round
		t.Errorf("order %s, want abccbaab", got)
	}
	if got := a.arm(); got.Median != 2 || got.Min != 1 || got.Max != 3 || len(got.Rounds) != 3 || got.Error != "" {
		t.Errorf("a: %+v", got)
	}
	if got := c.arm(); got.Error != "boom" || got.Median != 0 || got.Rounds != nil {
		t.Errorf("c: %+v", got)
	}
	if got := ratios([]*turn{a, b, c}); len(got) != 1 || got["b"] != 1 { // of 0.5, 1 and 1.5
		t.Errorf("ratios %v", got)
	}
}

func TestMeasureEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	a := &turn{name: "a", launches: 1, replay: func(context.Context, int) (float64, error) {
		if runs++; runs == 3 {
			cancel()
		}
		return 1, nil
	}}
	if err := (Plan{Rounds: 9, Replays: 1}).measure(ctx, []*turn{a}, false, func(string) {}); !errors.Is(err, context.Canceled) || runs != 3 {
		t.Errorf("%v after %d replays", err, runs)
	}
}

// Warming up goes on for as many launches as the plan of the design says, unless they take long.
func TestWarm(t *testing.T) {
	runs := 0
	a := &turn{launches: 25, replay: func(context.Context, int) (float64, error) { runs++; return 1, nil }}
	if a.warm(t.Context(), true); runs != warmLaunches/50 { // two replays a call
		t.Errorf("%d calls", runs)
	}
	if a.warm(t.Context(), false); runs != warmLaunches/50+1 {
		t.Errorf("%d calls in all", runs)
	}
}

func TestCompare(t *testing.T) {
	c := Case{Base: "a", Ratio: map[string]float64{"near": 0.99, "slow": 0.5, "fast": 2}, Arms: map[string]Arm{
		"a":    {Median: 100, Min: 99.9, Max: 100},
		"near": {Median: 101, Min: 100, Max: 102}, // within its spread
		"slow": {Median: 200, Min: 199, Max: 201},
		"fast": {Median: 50, Min: 50, Max: 51},
	}}
	for other, want := range map[string]string{"near": NoChange, "slow": Faster, "fast": Slower} {
		if ratio, got, ok := c.Compare(other); !ok || got != want || ratio != c.Ratio[other] {
			t.Errorf("%s: %v %s %v, want %s", other, ratio, got, ok, want)
		}
	}
	if _, _, ok := c.Compare("none"); ok {
		t.Error("compared with an arm that is not there")
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct{ input, cache, want int }{
		{4 << 20, 60 << 20, 46}, // 184 MB, above 180
		{1 << 30, 60 << 20, 2},
		{1 << 10, 60 << 20, maxGroups},
		{1, 0, 2},
		{0, 60 << 20, 1},
	} {
		if got := (&Benchmark{Input: c.input}).groups(c.cache); got != c.want {
			t.Errorf("%d bytes: %d groups, want %d", c.input, got, c.want)
		}
	}
}

func TestRound(t *testing.T) {
	for x, want := range map[float64]float64{0: 0, 123.4567891: 123.457, 0.000123456789: 0.000123457, 1e9 + 1: 1e9} {
		if got := round(x); got != want {
			t.Errorf("round(%v) = %v, want %v", x, got, want)
		}
	}
}

// What is no time ends a contender: figures could not be written, or would divide by it.
func TestNoTime(t *testing.T) {
	for _, us := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		a := &turn{name: "a", launches: 1, replay: func(context.Context, int) (float64, error) { return us, nil }}
		if err := (Plan{Rounds: 2, Replays: 3}).measure(t.Context(), []*turn{a}, false, func(string) {}); err != nil || len(a.rounds) > 0 || !strings.Contains(a.arm().Error, "replays took") {
			t.Errorf("%v µs: %v, %+v", us, err, a.arm())
		}
	}
}
