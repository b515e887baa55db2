package bench

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Plan says how long to measure.
type Plan struct {
	Rounds  int // at least 1; figures are medians over rounds
	Replays int // of a round, back to back
}

// Default is the plan of published figures.
var Default = Plan{Rounds: 9, Replays: 20}

// Warming up ends after so many launches or so long, whichever is first.
const (
	warmLaunches = 500
	warmTime     = time.Second
)

// turn is a contender while it is measured, ours or a peer's.
type turn struct {
	name     string
	bytes    int
	launches int // of a replay
	plain    bool
	// replay makes one replay, then times n: microseconds for all n.
	replay func(ctx context.Context, n int) (float64, error)
	// read gives the elements that the checks ask for, after another replay on poisoned outputs.
	read   func(ctx context.Context, checks []Check) ([][]float64, error)
	checks func(group int) []Check
	own    bool // its checks are not the benchmark's
	// figures are asked for after the timing; nil: none.
	figures func(ctx context.Context, us float64) (map[string]float64, error)

	err    error              // ends its part
	rounds []float64          // microseconds a launch
	beside map[string]float64 // what figures gave
}

// measure warms the contenders up and times them in turn. One that fails drops out; only ctx ends the measurement.
// note is told what is going on.
func (p Plan) measure(ctx context.Context, turns []*turn, warm bool, note func(string)) error {
	note("warming up")
	for _, t := range turns {
		t.warm(ctx, warm)
	}
	order := slices.Clone(turns)
	for i := range p.Rounds {
		note(fmt.Sprintf("round %d of %d", i+1, p.Rounds))
		for _, t := range order {
			if t.err != nil {
				continue
			}
			us, err := t.time(ctx, p.Replays)
			if err := ctx.Err(); err != nil {
				return err
			}
			if t.err = err; err == nil {
				t.rounds = append(t.rounds, us/float64(p.Replays*t.launches))
			}
		}
		slices.Reverse(order)
	}
	return ctx.Err()
}

// time replays; what is no time is an error, since figures divide by it.
func (t *turn) time(ctx context.Context, n int) (float64, error) {
	us, err := t.replay(ctx, n)
	if err == nil && !(us > 0 && us <= math.MaxFloat64) {
		err = fmt.Errorf("%d replays took %v µs", n, us)
	}
	return us, err
}

// measureBeside asks for the figures beside the times.
func measureBeside(ctx context.Context, turns []*turn) {
	for _, t := range turns {
		if t.err == nil && t.figures != nil {
			t.beside, t.err = t.figures(ctx, median(t.rounds))
		}
	}
}

// warm replays until the clocks are up; without long, once.
func (t *turn) warm(ctx context.Context, long bool) {
	start := time.Now()
	for done := 0; t.err == nil; {
		_, t.err = t.time(ctx, 1)
		done += 2 * t.launches
		if !long || done >= warmLaunches || time.Since(start) > warmTime {
			return
		}
	}
}

// arm is the result of a contender.
func (t *turn) arm() Arm {
	if t.err != nil {
		return Arm{Error: firstLine(t.err)}
	}
	a := Arm{Bytes: t.bytes, Plain: t.plain, Median: median(t.rounds), Min: slices.Min(t.rounds), Max: slices.Max(t.rounds)}
	a.Rounds, a.Figures = slices.Clone(t.rounds), maps.Clone(t.beside)
	for name, x := range a.Figures {
		a.Figures[name] = round(x)
	}
	for _, x := range append([]*float64{&a.Median, &a.Min, &a.Max}, pointers(a.Rounds)...) {
		*x = round(*x)
	}
	return a
}

// ratios compares the first contender with each of the others that were timed: the median over rounds of its time over
// theirs. Below 1 it is faster.
func ratios(turns []*turn) map[string]float64 {
	out := map[string]float64{}
	for _, t := range turns[1:] {
		if turns[0].err != nil || t.err != nil {
			continue
		}
		r := make([]float64, len(t.rounds))
		for i := range r {
			r[i] = turns[0].rounds[i] / t.rounds[i]
		}
		out[t.name] = round(median(r))
	}
	return out
}
