package bench

import (
	"math"
	"slices"
	"strings"
)

// median is the middle of some numbers, or the mean of the two in the middle.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// round keeps six significant digits: more than any clock has.
func round(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

func pointers(x []float64) []*float64 {
	out := make([]*float64, len(x))
	for i := range x {
		out[i] = &x[i]
	}
	return out
}

// spread is how far the rounds of an arm lie apart, as a part of its median.
func (a Arm) spread() float64 { return (a.Max - a.Min) / a.Median }

// Above is how many microseconds an arm takes more than another: the median over rounds of the difference. Not ok where
// one of them has no time.
func (c Case) Above(arm, other string) (us float64, ok bool) {
	a, b := c.Arms[arm].Rounds, c.Arms[other].Rounds
	if len(a) == 0 || len(a) != len(b) {
		return 0, false
	}
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return median(d), true
}

// The verdicts of Compare.
const (
	Faster   = "faster"
	Slower   = "slower"
	NoChange = "no change"
)

// Compare says how the case's first arm did beside another: the ratio of their times, below 1 where the first is
// faster, and what it means. A difference smaller than the spread of one of the two is no change. Not ok where one of
// them has no time.
func (c Case) Compare(other string) (ratio float64, verdict string, ok bool) {
	ratio, ok = c.Ratio[other]
	if !ok {
		return 0, "", false
	}
	switch difference := ratio - 1; {
	case math.Abs(difference) <= max(c.Arms[c.Base].spread(), c.Arms[other].spread()):
		verdict = NoChange
	case difference < 0:
		verdict = Faster
	default:
		verdict = Slower
	}
	return ratio, verdict, true
}

// firstLine is an error in one line of bounded length.
func firstLine(err error) string {
	text, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "..."
	}
	return text
}
