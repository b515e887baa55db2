package viz

import (
	"fmt"

	"github.com/gotile/gotile/layout"
)

// DrawLayout shows the offset, in elements of elem bytes, at each coordinate: the first mode down, the others across.
// The colour is the bank of shared memory that the element lies in if the layout begins at address 0; with a swizzle
// of byte addresses, the offset is the swizzled one.
func DrawLayout(l layout.Layout, s layout.Swizzle, elem int) (*Picture, error) {
	if elem < 1 || elem > 16 {
		return nil, fmt.Errorf("elements of %d bytes: an element has 1 to 16", elem)
	}
	modes := l.Modes()
	rows := 1
	if len(modes) > 1 {
		rows = modes[0].Size()
	}
	cols := l.Size() / rows
	if err := checkCells("a picture of "+l.String(), rows, cols); err != nil {
		return nil, err
	}
	p := &Picture{Title: l.String(), Notes: []string{
		fmt.Sprintf("%d elements in %d places of %d bytes; in each cell the offset. The colour is the bank, 16 bytes of banks to a hue.",
			l.Size(), l.Cosize(), elem)}}
	if s.Bits() > 0 {
		p.Title += " with " + s.String()
	}
	q := &Panel{Rows: numbers(rows), Cols: numbers(cols), Cells: grid(rows, cols)}
	if len(modes) > 1 {
		q.RowTitle, q.ColTitle = "mode 0", "mode 1"
		if len(modes) > 2 {
			q.ColTitle = fmt.Sprintf("modes 1 to %d, mode 1 fastest", len(modes)-1)
		}
	} else {
		q.Rows = []string{""}
	}
	for i, offset := range l.Offsets() { // the first mode is the fastest
		addr := s.Apply(offset * elem)
		q.Cells[i%rows][i/rows] = Cell{Text: fmt.Sprint(addr / elem), Color: colorOf(addr / layout.BankWord)}
	}
	p.Panels = []*Panel{q}
	return p, nil
}
