package viz

import (
	"fmt"

	"github.com/gotile/gotile/layout"
)

// lineBytes is a word of every bank.
const lineBytes = layout.Banks * layout.BankWord

// DrawSwizzle shows one period of a swizzle of byte addresses, as the lines of memory that lie across all banks: which
// row of the tile, and which chunk of the row, is stored where, first without the swizzle, then with it. The colour is
// the chunk's place in its row, so a column of the tile is one colour; where a colour stays in the same banks, reading
// the column is a conflict.
func DrawSwizzle(s layout.Swizzle) (*Picture, error) {
	chunk, width, repeat := s.Chunk(), s.Width(), s.Repeat()
	line := max(width, lineBytes)
	rows, cols := max(repeat/line, 1), line/chunk
	if err := checkCells("a picture of "+s.String(), rows, cols); err != nil {
		return nil, err
	}
	p := &Picture{Title: s.String(), Notes: []string{
		fmt.Sprintf("Rows of %d bytes in chunks of %d; the pattern repeats every %d bytes, to which the tile must be aligned.", width, chunk, repeat),
		"In each cell the row and the chunk stored there. The colour is the chunk: a column of the tile is one colour."}}
	drawn := []*Panel{{Heading: "without the swizzle"}, {Heading: "with it"}}
	if s.Bits() == 0 {
		drawn = []*Panel{{}}
		p.Notes[0] = fmt.Sprintf("No swizzle: chunks of %d bytes stay where they are.", chunk)
	}
	for i, q := range drawn {
		q.Cells = grid(rows, cols)
		q.RowTitle, q.ColTitle = "byte", "banks"
		for r := range rows {
			q.Rows = append(q.Rows, fmt.Sprint(r*line))
		}
		for c := range cols {
			q.Cols = append(q.Cols, banksOf(c*chunk, chunk))
		}
		for at := 0; at < rows*line; at += chunk {
			to := at
			if i == 1 {
				to = s.Apply(at)
			}
			row, k := at/width, at%width/chunk
			q.Cells[to/line][to%line/chunk] = Cell{Text: fmt.Sprintf("r%d", row), Small: fmt.Sprintf("c%d", k), Color: colorOf(4*k + k/8)}
		}
	}
	p.Panels = drawn
	return p, nil
}

// banksOf names the banks of some bytes from an address on.
func banksOf(addr, bytes int) string {
	first := addr / layout.BankWord % layout.Banks
	last := (addr + bytes - 1) / layout.BankWord % layout.Banks
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}
