package viz

import (
	"fmt"
	"strings"

	"github.com/gotile/gotile/layout"
)

// DrawFragment shows which thread holds each element as which of its values; the colour is the lane's. A map of one
// axis is one row, one of three has a panel for each place on the first axis.
func DrawFragment(f *Fragment) (*Picture, error) {
	d := f.Dist
	planes, rows, cols := 1, 1, 1
	switch d.Rank() {
	case 1:
		cols = d.Shape[0]
	case 2:
		rows, cols = d.Shape[0], d.Shape[1]
	case 3:
		planes, rows, cols = d.Shape[0], d.Shape[1], d.Shape[2]
	default:
		return nil, fmt.Errorf("%s has %d axes; maps of 1 to 3 can be drawn", f.Name, d.Rank())
	}
	if err := checkCells(f.Name, planes*rows, cols); err != nil {
		return nil, err
	}
	values := fmt.Sprintf("%d values each", d.Values())
	if d.Values() == 1 {
		values = "a value each"
	}
	p := &Picture{Title: f.Name, Notes: []string{
		fmt.Sprintf("[%s] over %d threads, %s; in each cell the thread and which of its values. The colour is the lane's.",
			strings.Join(f.Axes, ","), d.Threads(), values),
		d.String()}}
	for plane := range planes {
		q := &Panel{Rows: numbers(rows), Cols: numbers(cols), Cells: grid(rows, cols)}
		if planes > 1 {
			q.Heading = fmt.Sprintf("%s %d", f.Axes[0], plane)
		}
		q.ColTitle = f.Axes[len(f.Axes)-1]
		if d.Rank() > 1 {
			q.RowTitle = f.Axes[len(f.Axes)-2]
			q.EveryRow = laneSpan(d, d.Rank()-2)
		}
		q.EveryCol = laneSpan(d, d.Rank()-1)
		if d.Rank() == 1 {
			q.Rows = []string{""}
		}
		for r := range rows {
			for c := range cols {
				coord := []int{plane, r, c}[3-d.Rank():]
				q.Cells[r][c] = holderCell(d, coord)
			}
		}
		p.Panels = append(p.Panels, q)
	}
	return p, nil
}

// holderCell shows the first holder of an element, and that there are more.
func holderCell(d *layout.Dist, coord []int) Cell {
	holders := d.Holders(coord...)
	if len(holders) == 0 {
		return Cell{Color: None}
	}
	h := holders[0]
	c := Cell{Text: fmt.Sprintf("T%d", h.Thread), Color: colorOf(h.Thread)}
	if len(holders) > 1 {
		c.Text += "+"
	}
	if d.Values() > 1 {
		c.Small = fmt.Sprintf("v%d", h.Value)
	}
	return c
}

// laneSpan is how far one register of a warp's lanes, each with its neighbouring values, reaches on an axis: the side
// of a core matrix.
func laneSpan(d *layout.Dist, axis int) int {
	span, n := 1, 1
	for _, m := range d.Thread {
		if n *= m.Size; n > layout.WarpSize {
			break
		}
		if m.Axis == axis {
			span = max(span, m.Size*m.Stride)
		}
	}
	if axis == d.Rank()-1 {
		span = max(span, d.Vec())
	}
	return span
}
