package cuda

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gotile/gotile/internal/ir"
)

// lines is the state of the printing with #line markers. Every line of the body is one of Go: that of the statement it
// belongs to, or of the one around it, or before it, where it has none of its own. The prelude and what stands before the
// first position stay lines of the .cu.
type lines struct {
	at   mark // of the statement that is printed
	next mark // what the compiler takes the next line for
}

// mark is a line of Go; its zero value is none.
type mark struct {
	file string
	line int
}

// mark notes the position of the statement that comes.
func (p *printer) mark(pos ir.Pos) {
	if !p.o.Lines || !pos.Known() {
		return
	}
	f := pos.Frame()
	if f.File == "" {
		return
	}
	name := path.Base(filepath.ToSlash(f.File))
	if p.o.Path != nil {
		name = p.o.Path(f.File)
	}
	p.lines.at = mark{name, f.Line}
}

// marker prints a #line marker before text, unless the compiler knows already where it belongs.
func (p *printer) marker(text string) {
	at := p.lines.at
	if at.line == 0 {
		return
	}
	if p.lines.next != at {
		fmt.Fprintf(&p.b, "#line %d %s\n", at.line, strconv.Quote(at.file))
	}
	p.lines.next = mark{at.file, at.line + 1 + strings.Count(text, "\n")}
}

// blank prints an empty line.
func (p *printer) blank() {
	p.b.WriteByte('\n')
	p.lines.next.line++
}

// WithoutLines is the clean text of one that was printed with lines.
func WithoutLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#line ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
