package viz

import (
	"fmt"
	"strings"
)

// Text draws the picture for a terminal of so many columns, at least 40: what does not fit beside is continued below.
// A cell that costs time ends in !.
func (p *Picture) Text(columns int) string {
	var b strings.Builder
	fmt.Fprintln(&b, p.Title)
	for _, n := range p.Notes {
		fmt.Fprintln(&b, n)
	}
	for _, q := range p.Panels {
		b.WriteByte('\n')
		q.text(&b, max(columns, 40))
	}
	return b.String()
}

func (q *Panel) text(b *strings.Builder, columns int) {
	if q.Heading != "" {
		fmt.Fprintln(b, q.Heading)
	}
	var axes []string
	if q.RowTitle != "" {
		axes = append(axes, q.RowTitle+" down")
	}
	if q.ColTitle != "" {
		axes = append(axes, q.ColTitle+" across")
	}
	if axes != nil {
		fmt.Fprintf(b, "(%s)\n", strings.Join(axes, ", "))
	}
	labels, cell := 0, 0
	for _, l := range q.Rows {
		labels = max(labels, len([]rune(l)))
	}
	for _, l := range q.Cols {
		cell = max(cell, len([]rune(l)))
	}
	for _, row := range q.Cells {
		for _, c := range row {
			cell = max(cell, len([]rune(c.text())))
		}
	}
	fit := max((columns-labels-1)/(cell+1), 1)
	for first := 0; first < len(q.Cols); first += fit {
		last := min(first+fit, len(q.Cols))
		if first > 0 {
			b.WriteByte('\n')
		}
		line := func(label string, at func(c int) string) {
			s := fmt.Sprintf("%*s ", labels, label)
			for c := first; c < last; c++ {
				s += fmt.Sprintf(" %*s", cell, at(c))
			}
			fmt.Fprintln(b, strings.TrimRight(s, " "))
		}
		for level := range q.levels() {
			line("", func(c int) string { return q.band(level, c, cell) })
		}
		line("", func(c int) string { return q.Cols[c] })
		for r, l := range q.Rows {
			line(l, func(c int) string { return q.Cells[r][c].text() })
		}
	}
}

// band is what stands above column c at a level: the first letters of the band's name, dashes after.
func (q *Panel) band(level, c, width int) string {
	for _, b := range q.Bands {
		if b.Level == level && b.First <= c && c <= b.Last {
			if c == b.First {
				return fmt.Sprintf("%-*.*s", width, width, b.Name)
			}
			return strings.Repeat("-", width)
		}
	}
	return ""
}

func (c Cell) text() string {
	s := c.Text
	switch {
	case s != "" && c.Small != "":
		s += ":" + c.Small
	case s == "" && c.Small == "":
		s = "."
	default:
		s += c.Small
	}
	if c.Alert {
		s += "!"
	}
	return s
}
