package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gotile/gotile/bench"
)

// figures is all that is known of a kind as rows of text, to be copied.
type figures struct {
	Head []string
	Rows [][]string
}

func (k *kind) figures(arms []string, m measure) figures {
	base := k.cases[0].base()
	f := figures{Head: []string{"shape", "arm", "median µs", "min µs", "max µs"}}
	if !m.lower {
		f.Head = append(f.Head, m.unit)
	}
	f.Head = append(f.Head, "time of "+base+" over its time", base+" is", "note")
	for _, c := range k.cases {
		for _, name := range arms {
			if arm, ok := c.Arms[name]; ok {
				f.Rows = append(f.Rows, c.figures(name, arm, m))
			}
		}
	}
	return f
}

func (c shaped) figures(name string, arm bench.Arm, m measure) []string {
	row := []string{c.shape, name, number(arm.Median), number(arm.Min), number(arm.Max)}
	if !m.lower {
		row = append(row, figure(m.of(c.Case, name, arm.Median)))
	}
	ratio, word, _ := c.verdict(name)
	note := arm.Error
	if arm.Plain {
		note = "without a graph: includes launch overhead"
	}
	return append(row, ratio, word, note)
}

// number is a time to a nanosecond.
func number(x float64) string {
	if x <= 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", x)
}

// Text reports whether a column holds words, not figures.
func (f figures) Text(column int) bool { return column < 2 || column >= len(f.Head)-2 }

// TSV is a line a row, fields separated by tabs, for spreadsheets.
func (f figures) TSV() string {
	var b strings.Builder
	for _, row := range f.lines() {
		for i, field := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(oneLine(field))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Markdown is a table for GitHub and the like.
func (f figures) Markdown() string {
	var b strings.Builder
	for i, row := range f.lines() {
		for _, field := range row {
			b.WriteString("| " + markdownEscape.Replace(oneLine(field)) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	return b.String()
}

var markdownEscape = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`)

// Plain has columns that are aligned with blanks, figures to the right.
func (f figures) Plain() string {
	lines := f.lines()
	width := make([]int, len(f.Head))
	for _, row := range lines {
		for i, field := range row {
			width[i] = max(width[i], utf8.RuneCountInString(oneLine(field)))
		}
	}
	var b strings.Builder
	for _, row := range lines {
		var line strings.Builder
		for i, field := range row {
			field = oneLine(field)
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(field))
			if i > 0 {
				line.WriteString("  ")
			}
			if f.Text(i) {
				line.WriteString(field + pad)
			} else {
				line.WriteString(pad + field)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

func (f figures) lines() [][]string { return append([][]string{f.Head}, f.Rows...) }

// oneLine keeps what an arm is called or says from being taken for the table's own tabs and lines.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
