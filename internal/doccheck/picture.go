package doccheck

import (
	"fmt"
	"math"
	"strings"

	"github.com/gotile/gotile/bench"
)

// The layout of a picture, in pixels.
const (
	panelWidth  = 430
	labelWidth  = 96
	rowHeight   = 24
	headHeight  = 74
	footHeight  = 46
	plotPadding = 14
)

// style has the colours of light and of dark pages; the background goes with them, so that both are readable.
const style = `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.page { fill: #ffffff } .grid { stroke: #d1d9e0 } .title { font-weight: 600 } .small { font-size: 11px }
.gotile { fill: #0969da; stroke: #0969da } .peer { fill: none; stroke: #bc4c00; stroke-width: 2 } .copy { stroke: #59636e; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.page { fill: #0d1117 } .grid { stroke: #3d444d }
.gotile { fill: #4493f8; stroke: #4493f8 } .peer { stroke: #f0883e } .copy { stroke: #9198a1 }
}
</style>
`

// Picture is a dot plot in SVG, a panel for each kind side by side: bandwidth by shape of our kernel, of the fastest
// peer and of the copy. The bytes are those that the operation must move, so a dot further right is always faster.
func Picture(r *bench.Results, ks ...kind) (string, error) {
	most, height := 0.0, 0
	panels := make([][]row, len(ks))
	for i, k := range ks {
		var err error
		if panels[i], err = rows(r, k, nil); err != nil {
			return "", err
		}
		for _, row := range panels[i] {
			most = max(most, row.terabytes(row.ours), row.terabytes(row.copy), row.terabytes(row.peer))
		}
		height = max(height, len(panels[i])*rowHeight)
	}
	most = max(1, math.Ceil(most))
	width := len(ks) * panelWidth
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n",
		width, headHeight+height+footHeight, width, headHeight+height+footHeight)
	fmt.Fprintf(&b, "<title>%s on %s: bandwidth by shape</title>\n%s<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n", escape(r.Suite), escape(r.Device), style)
	legend(&b)
	for i, k := range ks {
		panel(&b, i*panelWidth, height, most, k, panels[i])
	}
	fmt.Fprintf(&b, "<text class=\"small\" x=\"12\" y=\"%d\">TB/s, median; %s, driver %s, commit %s</text>\n</svg>\n",
		headHeight+height+footHeight-10, escape(r.Device), escape(r.Driver), escape(r.Commit))
	return b.String(), nil
}

// legend explains the marks, in the first line.
func legend(b *strings.Builder) {
	x := 18
	for _, m := range []struct {
		mark func(*strings.Builder, float64, float64)
		name string
	}{{ourMark, "gotile"}, {peerMark, "fastest peer"}, {copyMark, "plain copy of as many tensors"}} {
		m.mark(b, float64(x), 20)
		fmt.Fprintf(b, "<text x=\"%d\" y=\"24\">%s</text>\n", x+12, m.name)
		x += 40 + 7*len(m.name)
	}
}

func panel(b *strings.Builder, left, height int, most float64, k kind, rows []row) {
	fmt.Fprintf(b, "<text class=\"title\" x=\"%d\" y=\"52\">%s</text>\n", left+labelWidth, escape(k.title()))
	at := func(tb float64) float64 {
		return float64(left+labelWidth) + tb/most*float64(panelWidth-labelWidth-plotPadding)
	}
	for t := 0.0; t <= most; t++ {
		fmt.Fprintf(b, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", at(t), at(t), headHeight-8, headHeight+height)
		fmt.Fprintf(b, "<text class=\"small\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%.0f</text>\n", at(t), headHeight+height+14, t)
	}
	for i, row := range rows {
		y := float64(headHeight + i*rowHeight + rowHeight/2)
		fmt.Fprintf(b, "<text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%s</text>\n", left+labelWidth-10, y+4, escape(row.shape))
		fmt.Fprintf(b, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", at(0), at(most), y, y)
		// Ours last, on top. A peer's bandwidth is of the operation's bytes, whatever it moves.
		for _, m := range []struct {
			arm  string
			mark func(*strings.Builder, float64, float64)
		}{{row.copy, copyMark}, {row.peer, peerMark}, {row.ours, ourMark}} {
			if m.arm != "" {
				m.mark(b, at(row.terabytes(m.arm)), y)
			}
		}
	}
}

func ourMark(b *strings.Builder, x, y float64) {
	fmt.Fprintf(b, "<circle class=\"gotile\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n", x, y)
}

func peerMark(b *strings.Builder, x, y float64) {
	fmt.Fprintf(b, "<path class=\"peer\" d=\"M%.1f %.1fl6 6l-6 6l-6 -6z\"/>\n", x, y-6)
}

func copyMark(b *strings.Builder, x, y float64) {
	fmt.Fprintf(b, "<line class=\"copy\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x, x, y-9, y+9)
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
