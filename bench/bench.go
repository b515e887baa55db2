// Package bench times launches: all arms of a case in turn, forwards and backwards, for several rounds, so that what
// drifts hits all of them alike. Results are JSON in the form that every suite shares.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gotile/gotile/internal/wholefile"
	"github.com/gotile/gotile/runtime/device"
)

// Results is the file bench/results/GPU/SUITE.json.
type Results struct {
	Suite   string            `json:"suite"`
	Device  string            `json:"device"`
	Driver  string            `json:"driver"`
	NVRTC   string            `json:"nvrtc"`
	Commit  string            `json:"commit"`
	Command string            `json:"command"`
	Clocks  map[string]string `json:"clocks"`
	Cases   []Case            `json:"cases"`
}

// Case is one operation on one shape.
type Case struct {
	Name  string         `json:"name"`  // rmsnorm/fwd/32768x4096/bf16
	Bytes int            `json:"bytes"` // the fewest that the operation moves
	FLOPs int            `json:"flops"`
	Arms  map[string]Arm `json:"arms"`
}

// Arm is one implementation's time for a launch or a group of launches, in microseconds.
type Arm struct {
	Median float64 `json:"median_us"`
	Min    float64 `json:"min_us"`
	Max    float64 `json:"max_us"`
	Bytes  int     `json:"bytes,omitempty"` // where the arm moves other bytes than the case
}

// Contender is an implementation to be timed. Run launches it once, asynchronously; i counts its runs, so that it can
// go through several groups of inputs, more than the L2 cache holds.
type Contender struct {
	Name  string
	Bytes int // 0: the case's
	Run   func(i int) error
}

// Plan says how long to measure.
type Plan struct {
	Rounds   int // at least 1; the figure is the median over rounds
	Launches int // in a round, back to back between two events
}

// Default is the plan of the published figures: the mean of 20 launches back to back is a round's time.
var Default = Plan{Rounds: 9, Launches: 20}

// Measure times the contenders on a stream. A first round, not counted, warms up.
func (p Plan) Measure(ctx context.Context, s *device.Stream, cs []Contender) (map[string]Arm, error) {
	times := make([][]float64, len(cs))
	order := make([]int, len(cs))
	for i := range order {
		order[i] = i
	}
	for round := range p.Rounds + 1 {
		for _, i := range order {
			t, err := p.round(ctx, s, cs[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", cs[i].Name, err)
			}
			if round > 0 {
				times[i] = append(times[i], t)
			}
		}
		slices.Reverse(order)
	}
	arms := map[string]Arm{}
	for i, c := range cs {
		slices.Sort(times[i])
		arms[c.Name] = Arm{Median: times[i][len(times[i])/2], Min: times[i][0], Max: times[i][len(times[i])-1], Bytes: c.Bytes}
	}
	return arms, nil
}

// round is the mean time of a launch in microseconds.
func (p Plan) round(ctx context.Context, s *device.Stream, c Contender) (float64, error) {
	start, err := s.Record()
	if err != nil {
		return 0, err
	}
	defer start.Close()
	for i := range p.Launches {
		if err := c.Run(i); err != nil {
			return 0, err
		}
	}
	end, err := s.Record()
	if err != nil {
		return 0, err
	}
	defer end.Close()
	if err := end.Sync(ctx); err != nil {
		return 0, err
	}
	t, err := end.Since(start)
	return float64(t) / float64(time.Microsecond) / float64(p.Launches), err
}

// Write puts the results into dir/GPU/SUITE.json, as a whole or not at all. A file that is there and is not such a
// result is left alone.
func (r *Results) Write(dir, gpu string) (string, error) {
	path := filepath.Join(dir, gpu, r.Suite+".json")
	if old, err := os.ReadFile(path); err == nil {
		var was Results
		if err := json.Unmarshal(old, &was); err != nil || was.Suite != r.Suite {
			return "", fmt.Errorf("%s is there and is not a result of suite %s; move it away", path, r.Suite)
		}
	}
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, wholefile.Write(path, append(b, '\n'))
}
