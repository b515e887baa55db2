package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotile/gotile/internal/wholefile"
)

// unknown stands for the commit of a program that was built without.
const unknown = "unknown"

// Results is the file DIR/GPU/SUITE.json.
type Results struct {
	Suite   string            `json:"suite"`
	Device  string            `json:"device"`
	Driver  string            `json:"driver"`
	NVRTC   string            `json:"nvrtc"`
	Commit  string            `json:"commit"`
	Dirty   bool              `json:"dirty,omitempty"`  // the work tree differed from the commit
	Binary  string            `json:"binary,omitempty"` // SHA-256 of the program
	Host    string            `json:"host,omitempty"`   // processor, GOMAXPROCS and the version of Go
	Command string            `json:"command"`          // of several runs, joined by &&
	Plan    string            `json:"plan,omitempty"`   // rounds and replays
	Clocks  map[string]string `json:"clocks"`           // under load, after the last case
	Peers   map[string]string `json:"peers,omitempty"`  // versions by family
	Notes   []string          `json:"notes,omitempty"`  // what makes the figures doubtful
	Cases   []Case            `json:"cases"`
}

// Case is one operation on one shape.
type Case struct {
	Name   string             `json:"name"`  // rmsnorm/fwd/32768x4096/bf16
	Bytes  int                `json:"bytes"` // the fewest that the operation moves
	FLOPs  int                `json:"flops"`
	Groups int                `json:"groups,omitempty"` // of inputs
	Clocks map[string]string  `json:"clocks,omitempty"` // under load
	Base   string             `json:"base,omitempty"`   // the arm that ratios compare with the others
	Goal   *Goal              `json:"goal,omitempty"`   // what is asked of the base
	Ratio  map[string]float64 `json:"ratio,omitempty"`  // median over rounds of the base's time over the arm's
	Arms   map[string]Arm     `json:"arms"`
}

// Goal is what is asked of a benchmark's first contender; 0 is nothing.
type Goal struct {
	Copy  float64 `json:"copy,omitempty"`  // at least this part of the bandwidth of a plain copy
	Peers float64 `json:"peers,omitempty"` // at most this part of the time of every peer

	Above map[string]float64 `json:"above_us,omitempty"` // at most so many microseconds more than other arms
}

// Arm is one contender's time for a launch, in microseconds, or why it has none.
type Arm struct {
	Median float64   `json:"median_us,omitempty"`
	Min    float64   `json:"min_us,omitempty"`
	Max    float64   `json:"max_us,omitempty"`
	Bytes  int       `json:"bytes,omitempty"`     // where the arm moves other bytes than the case
	Plain  bool      `json:"no_graph,omitempty"`  // launched on a stream: includes launch overhead
	Rounds []float64 `json:"rounds_us,omitempty"` // in their order

	Figures map[string]float64 `json:"figures,omitempty"` // beside the time, by name with the unit
	Error   string             `json:"error,omitempty"`
}

// Bandwidth is what an arm moves, in bytes a second; 0 where it has no time.
func (c Case) Bandwidth(arm string) float64 {
	a := c.Arms[arm]
	if a.Median <= 0 {
		return 0
	}
	bytes := c.Bytes
	if a.Bytes > 0 {
		bytes = a.Bytes
	}
	return float64(bytes) / a.Median * 1e6
}

// Read reads a results file, and refuses what it does not fully understand: writing it again would lose that.
func Read(path string) (*Results, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe would make the reader wait
		return nil, fmt.Errorf("%s is no results file, nor a regular one; move it away", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Results{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s is no results file, or truncated: %w; move it away", path, err)
	}
	if _, err := d.Token(); err != io.EOF || r.Suite == "" || r.Cases == nil {
		return nil, fmt.Errorf("%s is no results file: it lacks a suite or cases, or goes on after them; move it away", path)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s holds what no run measures: %w; move it away", path, err)
	}
	return r, nil
}

// check finds numbers that no run gives: a file that was edited, or written by something else.
func (r *Results) check() error {
	seen := map[string]bool{}
	for _, c := range r.Cases {
		switch {
		case c.Name == "":
			return errors.New("a case without a name")
		case seen[c.Name]:
			return fmt.Errorf("case %s twice", c.Name)
		case c.Bytes < 0 || c.FLOPs < 0 || c.Groups < 0:
			return fmt.Errorf("case %s of %d bytes, %d flops and %d groups", c.Name, c.Bytes, c.FLOPs, c.Groups)
		}
		seen[c.Name] = true
		for name, x := range c.Ratio {
			if _, ok := c.Arms[name]; !ok || !(x > 0) {
				return fmt.Errorf("case %s: a ratio of %v to %q", c.Name, x, name)
			}
		}
		for name, a := range c.Arms {
			if err := a.check(); err != nil {
				return fmt.Errorf("case %s, arm %s: %w", c.Name, name, err)
			}
		}
	}
	return nil
}

// check demands a time, or what stands in place of one.
func (a Arm) check() error {
	switch {
	case a.Error != "":
		return nil
	case a.Bytes < 0:
		return fmt.Errorf("%d bytes", a.Bytes)
	case a.Median == 0 && a.Min == 0 && a.Max == 0 && len(a.Figures) > 0: // figures alone
		return nil
	case slices.ContainsFunc(a.Rounds, func(us float64) bool { return !(a.Min <= us && us <= a.Max) }):
		return fmt.Errorf("rounds of %v µs, between %v and %v", a.Rounds, a.Min, a.Max)
	case !(0 < a.Min && a.Min <= a.Median && a.Median <= a.Max) || math.IsInf(a.Max, 0):
		return fmt.Errorf("a median of %v µs between %v and %v", a.Median, a.Min, a.Max)
	}
	return nil
}

// path is where the results of a suite on a GPU go.
func resultsPath(dir, gpu, suite string) string { return filepath.Join(dir, gpu, suite+".json") }

// earlier are the results of an existing file that may stand beside a run's, which measures the named cases; nil where
// there are none. They may beside figures that they can be compared with. Others are an error where the run does not
// measure all of their cases, unless replace is set; otherwise lost says that the run is to drop them, once it has figures
// of its own in their place.
func (r *Results) earlier(path string, names []string, replace bool) (old *Results, lost bool, err error) {
	old, err = Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if old.Suite != r.Suite {
		return nil, false, fmt.Errorf("%s holds results of suite %s, not %s; move it away", path, old.Suite, r.Suite)
	}
	if replace || len(old.Cases) == 0 {
		return nil, len(old.Cases) > 0, nil
	}
	if err = r.comparable(old); err == nil {
		return old, false, nil
	}
	others := len(slices.DeleteFunc(old.Cases, func(c Case) bool { return slices.Contains(names, c.Name) }))
	if others == 0 {
		return nil, true, nil
	}
	return nil, false, fmt.Errorf("%s has %d cases that this run does not measure, %w", path, others, err)
}

// comparable says why figures of earlier results cannot stand beside a run's.
func (r *Results) comparable(old *Results) error {
	for _, f := range []struct{ what, was, is string }{
		{"device", old.Device, r.Device}, {"driver", old.Driver, r.Driver}, {"NVRTC", old.NVRTC, r.NVRTC}, {"commit", old.Commit, r.Commit},
		{"plan", old.Plan, r.Plan},
	} {
		if f.was != f.is {
			return fmt.Errorf("of %s %q, not %q: measure all of them, write to another directory with -out, or drop them with -replace", f.what, f.was, f.is)
		}
	}
	if (old.Dirty || r.Dirty || r.Commit == unknown) && old.Binary != r.Binary {
		return errors.New("of another program (the work tree differs from its commit, or has none): commit first, or drop them with -replace")
	}
	return nil
}

// with is the results together with the earlier cases that have not been measured again. The order is that of the
// names, then what is unknown to them.
func (r *Results) with(old *Results, order []string) *Results {
	out := *r
	var kept []Case
	if old != nil {
		kept = slices.DeleteFunc(slices.Clone(old.Cases), func(c Case) bool {
			return slices.ContainsFunc(r.Cases, func(n Case) bool { return n.Name == c.Name })
		})
	}
	if len(kept) > 0 {
		out.Cases = append(kept, r.Cases...)
		commands := strings.Split(old.Command, " && ")
		if !slices.Contains(commands, r.Command) {
			commands = append(commands, r.Command)
		}
		out.Command = strings.Join(commands, " && ")
		out.Peers = map[string]string{}
		maps.Copy(out.Peers, old.Peers)
		maps.Copy(out.Peers, r.Peers)
		notes := append(slices.Clone(old.Notes), r.Notes...)
		for family, was := range old.Peers {
			if is, ok := r.Peers[family]; ok && is != was {
				notes = append(notes, fmt.Sprintf("peer %s: %s in cases that were measured before, %s in the others", family, was, is))
			}
		}
		out.Notes = slices.Compact(slices.Sorted(slices.Values(notes)))
	}
	at := map[string]int{}
	for i, name := range order {
		at[name] = i - len(order)
	}
	slices.SortStableFunc(out.Cases, func(a, b Case) int { return at[a.Name] - at[b.Name] })
	return &out
}

// Write writes the file as a whole or not at all.
func (r *Results) Write(path string) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return wholefile.Write(path, text)
}

// text is JSON with a line an arm, so that a difference between two files can be read.
func (r *Results) text() ([]byte, error) {
	none := []int(nil) // takes the place of a field, and is left out
	head, err := json.MarshalIndent(struct {
		*Results
		Cases []int `json:"cases,omitempty"`
	}{r, none}, "", "\t")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(head, []byte("\n}")))
	b.WriteString(",\n\t\"cases\": [")
	for i, c := range r.Cases {
		first, err := json.Marshal(struct {
			*Case
			Arms []int `json:"arms,omitempty"`
		}{&c, none})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s\n\t\t%s, \"arms\": {", comma(i), bytes.TrimSuffix(first, []byte("}")))
		for j, name := range slices.Sorted(maps.Keys(c.Arms)) {
			key, err := json.Marshal(name)
			if err != nil {
				return nil, err
			}
			arm, err := json.Marshal(c.Arms[name])
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "%s\n\t\t\t%s: %s", comma(j), key, arm)
		}
		b.WriteString("\n\t\t}}")
	}
	b.WriteString("\n\t]\n}\n")
	return b.Bytes(), nil
}

func comma(i int) string {
	if i > 0 {
		return ","
	}
	return ""
}
