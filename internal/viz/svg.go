package viz

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Sizes, in pixels.
const (
	margin     = 14
	titleLine  = 20
	noteLine   = 17
	gap        = 22
	cellHeight = 24
	twoLines   = 32
	letter     = 6.7 // of the small monospaced text
	bandHeight = 18
	pageWidth  = 1100 // panels that do not fit go below
)

// page has the colours of light and of dark pages; the background goes with them, so that both are readable.
const page = `text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}
.title{font:600 14px system-ui,sans-serif}.head{font:600 12px system-ui,sans-serif}.note{font:12px system-ui,sans-serif}
.label,.axis{fill:#59636e}.small{font-size:9.5px;fill:#32383f}.axis{font:italic 11px system-ui,sans-serif}.mid{text-anchor:middle}.end{text-anchor:end}
.page{fill:#ffffff}.c{fill:none}.c,.k{stroke:#d1d9e0}.line{stroke:#59636e;stroke-width:1.5}.band{fill:#eaeef2;stroke:#d1d9e0}
.alert{fill:none;stroke:#cf222e;stroke-width:2.5}
`

const darkPage = `text{fill:#f0f6fc}.label,.axis{fill:#9198a1}.small{fill:#c9d1d9}
.page{fill:#0d1117}.c,.k{stroke:#3d444d}.line{stroke:#9198a1}.band{fill:#21262d;stroke:#3d444d}.alert{stroke:#ff7b72}
`

// SVG draws the picture as a self-contained SVG, which follows the reader's preference of light or dark.
func (p *Picture) SVG() string {
	var b strings.Builder
	top := float64(margin + titleLine + len(p.Notes)*noteLine + gap/2)
	x, y, width, row := float64(margin), top, 0.0, 0.0
	beside := p.beside()
	for i, q := range p.Panels {
		s := q.size()
		if i > 0 && i%beside == 0 {
			x, y, row = margin, y+row+gap, 0
		}
		q.draw(&b, s, x, y)
		x += s.width + gap
		width, row = max(width, x-gap+margin), max(row, s.height)
	}
	longest := float64(len(p.Title)) * 8
	for _, n := range slices.Concat(p.Notes, p.Footer) {
		longest = max(longest, math.Ceil(float64(len([]rune(n)))*letter))
	}
	width = max(width, longest+2*margin)
	y += row + margin
	for _, n := range p.Footer {
		fmt.Fprintf(&b, "<text class=\"note\" x=\"%d\" y=\"%g\">%s</text>\n", margin, y+8, escape(n))
		y += noteLine
	}
	height := y

	var out strings.Builder
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\">\n", width, height, width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n<style>\n%s%s@media (prefers-color-scheme:dark){\n%s%s}\n</style>\n", escape(p.Title), page, palette(false), darkPage, palette(true))
	out.WriteString("<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n")
	fmt.Fprintf(&out, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+12, escape(p.Title))
	for i, n := range p.Notes {
		fmt.Fprintf(&out, "<text class=\"note\" x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+titleLine+12+i*noteLine, escape(n))
	}
	out.WriteString(b.String())
	out.WriteString("</svg>\n")
	return out.String()
}

// beside is how many panels lie beside one another: as many as the page takes, in rows of about equal length.
func (p *Picture) beside() int {
	widest := 0.0
	for _, q := range p.Panels {
		widest = max(widest, q.size().width)
	}
	fit := max(int((pageWidth-2*margin+gap)/(widest+gap)), 1)
	rows := max((len(p.Panels)+fit-1)/fit, 1)
	return max((len(p.Panels)+rows-1)/rows, 1)
}

// size is how large a panel's parts are.
type size struct {
	cell, cellHeight float64
	left, top        float64 // of the cells within the panel
	width, height    float64
}

func (q *Panel) size() size {
	letters, lines := 2, 1
	for _, row := range q.Cells {
		for _, c := range row {
			letters = max(letters, len([]rune(c.Text)), len([]rune(c.Small)))
			if c.Small != "" {
				lines = 2
			}
		}
	}
	for _, l := range q.Cols {
		letters = max(letters, len([]rune(l)))
	}
	s := size{cell: max(cellHeight, float64(letters)*letter+8), cellHeight: cellHeight}
	if lines == 2 {
		s.cellHeight = twoLines
	}
	labels := len([]rune(q.Corner))
	for _, l := range q.Rows {
		labels = max(labels, len([]rune(l)))
	}
	s.left = math.Ceil(float64(labels)*letter) + 8
	if q.RowTitle != "" {
		s.left += 16
	}
	if q.Heading != "" {
		s.top += titleLine
	}
	if q.ColTitle != "" {
		s.top += noteLine
	}
	s.top += float64(q.levels()*bandHeight) + 16 // the labels
	s.width = max(s.left+float64(len(q.Cols))*s.cell, float64(len(q.Heading))*7)
	s.height = s.top + float64(len(q.Rows))*s.cellHeight
	return s
}

// levels is how many bands lie above one another.
func (q *Panel) levels() int {
	n := 0
	for _, b := range q.Bands {
		n = max(n, b.Level+1)
	}
	return n
}

func (q *Panel) draw(b *strings.Builder, s size, x, y float64) {
	if q.Heading != "" {
		fmt.Fprintf(b, "<text class=\"head\" x=\"%g\" y=\"%g\">%s</text>\n", x, y+12, escape(q.Heading))
		y += titleLine
	}
	left, width := x+s.left, float64(len(q.Cols))*s.cell
	if q.ColTitle != "" {
		fmt.Fprintf(b, "<text class=\"axis mid\" x=\"%g\" y=\"%g\">%s</text>\n", left+width/2, y+12, escape(q.ColTitle))
		y += noteLine
	}
	for _, band := range q.Bands {
		from, to := left+float64(band.First)*s.cell, left+float64(band.Last+1)*s.cell
		at := y + float64(band.Level*bandHeight)
		fmt.Fprintf(b, "<rect class=\"band\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%d\"/>\n", from+1, at, to-from-2, bandHeight-2)
		name := band.Name
		if room := int((to - from - 4) / letter); len(name) > room {
			name = name[:max(room-1, 0)] + "…"
		}
		fmt.Fprintf(b, "<text class=\"small mid\" x=\"%g\" y=\"%g\">%s</text>\n", (from+to)/2, at+11.5, escape(name))
	}
	y += float64(q.levels() * bandHeight)
	for c, l := range q.Cols {
		fmt.Fprintf(b, "<text class=\"label mid\" x=\"%g\" y=\"%g\">%s</text>\n", left+(float64(c)+0.5)*s.cell, y+11, escape(l))
	}
	if q.Corner != "" {
		fmt.Fprintf(b, "<text class=\"label end\" x=\"%g\" y=\"%g\">%s</text>\n", left-6, y+11, escape(q.Corner))
	}
	y += 16
	for r, l := range q.Rows {
		fmt.Fprintf(b, "<text class=\"label end\" x=\"%g\" y=\"%g\">%s</text>\n", left-6, y+(float64(r)+0.5)*s.cellHeight+4, escape(l))
	}
	if q.RowTitle != "" {
		mid := y + float64(len(q.Rows))*s.cellHeight/2
		fmt.Fprintf(b, "<text class=\"axis mid\" transform=\"translate(%g %g) rotate(-90)\">%s</text>\n", x+10, mid, escape(q.RowTitle))
	}
	for r, row := range q.Cells {
		for c, cell := range row {
			cell.draw(b, s, left+float64(c)*s.cell, y+float64(r)*s.cellHeight)
		}
	}
	q.rules(b, s, left, y)
	// Outlines last, so that no neighbour covers them.
	for r, row := range q.Cells {
		for c, cell := range row {
			if cell.Alert {
				fmt.Fprintf(b, "<rect class=\"alert\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"/>\n",
					left+float64(c)*s.cell+1.5, y+float64(r)*s.cellHeight+1.5, s.cell-3, s.cellHeight-3)
			}
		}
	}
}

// rules are the heavier lines between groups of cells.
func (q *Panel) rules(b *strings.Builder, s size, left, y float64) {
	right, bottom := left+float64(len(q.Cols))*s.cell, y+float64(len(q.Rows))*s.cellHeight
	for r := q.EveryRow; q.EveryRow > 0 && r < len(q.Rows); r += q.EveryRow {
		at := y + float64(r)*s.cellHeight
		fmt.Fprintf(b, "<path class=\"line\" d=\"M%g %gH%g\"/>\n", left, at, right)
	}
	for c := q.EveryCol; q.EveryCol > 0 && c < len(q.Cols); c += q.EveryCol {
		at := left + float64(c)*s.cell
		fmt.Fprintf(b, "<path class=\"line\" d=\"M%g %gV%g\"/>\n", at, y, bottom)
	}
}

func (c Cell) draw(b *strings.Builder, s size, x, y float64) {
	class := "c"
	if c.Color != None {
		class = fmt.Sprintf("k c%d", c.Color)
	}
	fmt.Fprintf(b, "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"/>\n", class, x, y, s.cell, s.cellHeight)
	mid, base := x+s.cell/2, y+s.cellHeight/2+4
	if c.Small != "" {
		base = y + 14
		fmt.Fprintf(b, "<text class=\"small mid\" x=\"%g\" y=\"%g\">%s</text>\n", mid, y+26, escape(c.Small))
	}
	if c.Text != "" {
		fmt.Fprintf(b, "<text class=\"mid\" x=\"%g\" y=\"%g\">%s</text>\n", mid, base, escape(c.Text))
	}
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
