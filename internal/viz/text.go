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
	if p.Footer != nil {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(p.Footer, "\n"))
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
	labels, cell := len([]rune(q.Corner)), 0
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
			if q.empty(first, last) {
				fmt.Fprintf(b, "\n%s to %s: nothing\n", q.Cols[first], q.Cols[last-1])
				continue
			}
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
			fmt.Fprintln(b, strings.Repeat(" ", labels+1)+q.bandLine(level, first, last, cell+1))
		}
		line(q.Corner, func(c int) string { return q.Cols[c] })
		for r, l := range q.Rows {
			line(l, func(c int) string { return q.Cells[r][c].text() })
		}
	}
}

// bandLine is the bands of a level above columns first to last-1 of some width, each with its name as far as it fits.
func (q *Panel) bandLine(level, first, last, width int) string {
	text := []rune(strings.Repeat(" ", (last-first)*width))
	for _, b := range q.Bands {
		from, to := max(b.First, first), min(b.Last+1, last)
		if b.Level != level || from >= to {
			continue
		}
		part := text[(from-first)*width+1 : (to-first)*width]
		for i := range part {
			part[i] = '-'
		}
		copy(part, []rune(b.Name))
	}
	return strings.TrimRight(string(text), " ")
}

// empty reports whether columns first to last-1 have nothing in them.
func (q *Panel) empty(first, last int) bool {
	for _, row := range q.Cells {
		for _, c := range row[first:last] {
			if c != (Cell{Color: None}) {
				return false
			}
		}
	}
	return true
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
