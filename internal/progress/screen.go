package progress

import (
	"io"
	"os"
	"strings"
)

// screen is a terminal that can clear a line.
type screen struct {
	width  func() int
	utf8   bool
	colour bool
}

// screenOf is the terminal that w is; nil where it is none, or too simple a one.
func screenOf(w io.Writer, getenv func(string) string) *screen {
	f, ok := w.(*os.File)
	if !ok || columns(f) < 0 {
		return nil
	}
	return screenFor(getenv, func() int { return columns(f) })
}

// usual is the width of a terminal that does not know it.
const usual = 80

func screenFor(getenv func(string) string, columns func() int) *screen {
	if term := getenv("TERM"); term == "" || term == "dumb" {
		return nil
	}
	s := &screen{colour: getenv("NO_COLOR") == "", width: func() int {
		if n := columns(); n > 0 {
			return n
		}
		return usual
	}}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts
		if v := strings.ToLower(getenv(name)); v != "" {
			s.utf8 = strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
			break
		}
	}
	return s
}

// bar is barCells wide.
func (s *screen) bar(done, total int) string {
	if !s.utf8 {
		full := min(done, total) * (barCells - 2) / total
		return "[" + strings.Repeat("#", full) + strings.Repeat("-", barCells-2-full) + "]"
	}
	full := min(done, total) * barCells / total
	on, off := strings.Repeat("━", full), strings.Repeat("─", barCells-full)
	if !s.colour {
		return on + off
	}
	return "\x1b[36m" + on + "\x1b[0;2m" + off + "\x1b[0m"
}
