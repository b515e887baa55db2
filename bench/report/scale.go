package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/gotile/gotile/bench"
)

// measure is what the bars of a kind show.
type measure struct {
	unit  string
	what  string // in words, to begin a sentence
	bytes bool   // it counts bytes, so a copy can be shown beside it
	lower bool   // less is better
}

var (
	bandwidth = measure{unit: "TB/s", what: "Bandwidth", bytes: true}
	rate      = measure{unit: "TFLOP/s", what: "Floating-point rate"}
	duration  = measure{unit: "µs", what: "Time", lower: true}
)

// flopsPerByte is above what any memory system can feed: an operation with more is bound by arithmetic.
const flopsPerByte = 32

// measureOf chooses by what bounds the operation.
func (k *kind) measure() measure {
	m := bandwidth
	for _, c := range k.cases {
		switch {
		case c.Bytes <= 0 && c.FLOPs <= 0:
			return duration
		case c.FLOPs > flopsPerByte*c.Bytes:
			m = rate
		}
	}
	return m
}

// of gives an arm's figure where a launch takes so many microseconds.
func (m measure) of(c bench.Case, arm string, us float64) float64 {
	switch {
	case us <= 0:
		return 0
	case m.lower:
		return us
	case !m.bytes:
		return float64(c.FLOPs) / us / 1e6
	}
	bytes := c.Bytes
	if b := c.Arms[arm].Bytes; b > 0 {
		bytes = b
	}
	return float64(bytes) / us / 1e6
}

// axis is the common scale of a kind: from 0 to most, with a mark each step.
type axis struct {
	most, step float64
	unit       string
}

// axisOf covers everything that is drawn, with 2 to 5 steps of 1, 2 or 5 times a power of ten.
func axisOf(k *kind, m measure) axis {
	most := 0.0
	for _, c := range k.cases {
		for name, a := range c.Arms {
			most = max(most, m.of(c.Case, name, a.Median), m.of(c.Case, name, a.Min), m.of(c.Case, name, a.Max))
		}
	}
	if most <= 0 {
		return axis{1, 1, m.unit}
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	for _, f := range []float64{0.2, 0.5, 1, 2, 5} {
		if most/(f*step) <= 5 {
			step *= f
			break
		}
	}
	return axis{most * 1.02, step, m.unit}
}

// at is where a figure is, in percent of the axis.
func (a axis) at(x float64) float64 { return math.Round(x/a.most*1e4) / 100 }

// Tick is a mark of the axis.
type tick struct {
	At   float64
	Text string
}

func (a axis) ticks() []tick {
	var out []tick
	for i := 0; float64(i)*a.step <= a.most; i++ {
		out = append(out, tick{a.at(float64(i) * a.step), trimmed(float64(i) * a.step)})
	}
	return out
}

// trimmed is a number without zeros at its end.
func trimmed(x float64) string {
	s := fmt.Sprintf("%.6f", x)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// decimals is how many places times need that are not below least, so that three digits stand.
func decimals(least float64) int {
	switch {
	case least <= 0 || least >= 1000:
		return 0
	case least < 10:
		return 2
	}
	return 1
}

// figure is a rate with three digits or more.
func figure(x float64) string {
	switch {
	case x <= 0:
		return ""
	case x < 0.1:
		return fmt.Sprintf("%.2g", x)
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.1f", x)
}
