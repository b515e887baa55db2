// Package viz draws layouts, fragments, swizzles, bank conflicts and shared-memory plans, as self-contained SVG and as
// text. A picture is made of panels, grids of cells; what draws them knows nothing of what they show, and the functions
// that make them know nothing of how they are drawn. All are pure functions.
package viz

import "fmt"

// MaxCells is the most cells that a picture may have.
const MaxCells = 1 << 15

// Picture is a title and panels, one after the other.
type Picture struct {
	Title  string
	Notes  []string // lines below the title
	Panels []*Panel
	Footer []string // lines below the panels
}

// Panel is a grid of cells with a heading.
type Panel struct {
	Heading            string
	Rows, Cols         []string // labels; their number is the grid's size
	Corner             string   // above the row labels: what they consist of
	RowTitle, ColTitle string   // what the labels count; empty: nothing that needs a name
	Cells              [][]Cell // by row and column
	EveryRow, EveryCol int      // heavier lines between groups of so many; 0: none
	Bands              []Band   // above the columns
}

// Band names neighbouring columns, such as a loop; Level counts from the outermost, at the top.
type Band struct {
	First, Last, Level int
	Name               string
}

// Cell is one place of a grid.
type Cell struct {
	Text  string // the first line
	Small string // the second line
	Color Color
	Alert bool // outlined: it costs time
}

// Color is a place on the palette of 32, 0 to 31, or None. Neighbours share a hue four by four and differ in
// lightness: of banks, a hue is 16 bytes.
type Color int

// None is the page's colour.
const None Color = -1

// colorOf is the colour of a number, which wraps around.
func colorOf(n int) Color { return Color(n % 32) }

// checkCells is an error for what would be too large to read.
func checkCells(what string, rows, cols int) error {
	if rows > MaxCells || cols > MaxCells || rows*cols > MaxCells {
		return fmt.Errorf("%s has %d x %d cells; a picture has at most %d: draw a part or a smaller one", what, rows, cols, MaxCells)
	}
	return nil
}

// grid is a panel's cells, without colour.
func grid(rows, cols int) [][]Cell {
	out := make([][]Cell, rows)
	for r := range out {
		out[r] = make([]Cell, cols)
		for c := range out[r] {
			out[r][c].Color = None
		}
	}
	return out
}

// numbers are the labels 0 to n-1.
func numbers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i)
	}
	return out
}
