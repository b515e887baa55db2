package doccheck

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Text that is written by hand and quotes measurements stands between
//
//	<!-- figures: bench/results/h200/rmsnorm-variants.txt bench:bench/results/h200/rmsnorm.json -->
//	<!-- end -->
//
// with the sources that the figures are from, separated by spaces. Elsewhere there are no figures of measurements but
// those of generated parts.
const figures = "<!-- figures: "

// typed is what looks like a measurement: a number with a unit of time or bandwidth, a share, or an error.
var typed = regexp.MustCompile(`(?:^|[^\w.,-])(\d[\d,]*(?:\.\d+)?)(?: (?:to|and|or) \d[\d,.]*)? ?(?:µs|ns|ms|TB/s|GB/s|TFLOP|minutes|seconds|%)(?:\W|$)` +
	`|(?:^|[^\w.,-])(0\.\d\d|1\.0\d)(?:[^\w.]|$)|(?:^|[^\w.,-])(\d\.\d+e-\d+)`)

// quoted is code within a line.
var quoted = regexp.MustCompile("`[^`]*`")

// number is a number of text or of a source that is no part of a word or of a version.
var number = regexp.MustCompile(`(?:^|[^\w.])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?:[^\w.]|\.\W|\.?$)`)

// Figures lists what is wrong with the figures of a Markdown text: those outside generated parts and marked ones, and
// of the marked ones those that no source has. A source has a figure if one of its numbers rounds to it. Whole numbers
// count where a unit follows or commas stand in them, others always; shares in per cent are left to the author: of what
// is marked, they are predictions.
func Figures(text string, source Source) ([]string, error) {
	var wrong []string
	generated, code := false, false
	var known []float64 // of the marked part
	for i, line := range strings.Split(text, "\n") {
		spec, marked := strings.CutPrefix(line, figures)
		switch {
		case marked:
			var err error
			if known, err = numbers(strings.Fields(strings.TrimSuffix(spec, stop)), source); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			continue
		case strings.HasPrefix(line, begin):
			generated = true
		case line == end:
			generated, known = false, nil
		case strings.HasPrefix(line, "```"):
			code = !code
		}
		if generated || code {
			continue
		}
		plain := quoted.ReplaceAllString(line, "``")
		if known == nil {
			for _, m := range typed.FindAllStringSubmatch(plain, -1) {
				wrong = append(wrong, fmt.Sprintf("%d: %s is typed: generate it, mark where it is from (figures:), or drop it", i+1, m[1]+m[2]+m[3]))
			}
			continue
		}
		for _, f := range quotedFigures(plain) {
			if !has(known, f) {
				wrong = append(wrong, fmt.Sprintf("%d: no source has %s", i+1, f))
			}
		}
	}
	return wrong, nil
}

// units follow a whole number that is a figure.
var units = regexp.MustCompile(`^(?: (?:to|and|or) \d[\d,.]*)? ?(?:µs|ns|ms|TB/s|GB/s|TFLOP|registers)(?:\W|$)`)

// quotedFigures are the figures of a line: numbers with a point, and whole ones with a unit or with commas.
func quotedFigures(line string) []string {
	var out []string
	for at := 0; at < len(line); {
		m := number.FindStringSubmatchIndex(line[at:])
		if m == nil {
			break
		}
		f, rest := line[at+m[2]:at+m[3]], line[at+m[3]:]
		at += m[3]
		if strings.ContainsAny(f, ".,") || units.MatchString(rest) {
			out = append(out, f)
		}
	}
	return out
}

// numbers are those of the sources.
func numbers(names []string, source Source) ([]float64, error) {
	out := []float64{}
	for _, name := range names {
		text, _, err := source(name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			for at := 0; at < len(line); {
				m := number.FindStringSubmatchIndex(line[at:])
				if m == nil {
					break
				}
				x, err := strconv.ParseFloat(strings.ReplaceAll(line[at+m[2]:at+m[3]], ",", ""), 64)
				if err != nil {
					return nil, err
				}
				out = append(out, x)
				at += m[3]
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no numbers in %q", names)
	}
	return out, nil
}

// has reports whether a number rounds to the figure.
func has(known []float64, figure string) bool {
	figure = strings.ReplaceAll(figure, ",", "")
	_, decimals, _ := strings.Cut(figure, ".")
	for _, x := range known {
		if strconv.FormatFloat(x, 'f', len(decimals), 64) == figure {
			return true
		}
	}
	return false
}
