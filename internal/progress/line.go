package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// barCells is the width of the bar.
const barCells = 24

// leastItem is how many cells the name of an item must have to be of use.
const leastItem = 10

// line is what a terminal shows: as much of it as fits, in one line.
//
//	sm_90a ━━━━━━━━────────────── 12/340 cases, 0:14, about 6 min left  rmsnorm/fwd/rows=5
func (t *Task) line(now time.Time, s *screen) string {
	width := s.width() - 1 // in the last column some terminals wrap
	elapsed := clock(now.Sub(t.start))
	if t.total == 0 {
		return fit(t.what+" "+elapsed, width, s)
	}
	count := fmt.Sprintf("%d/%d", len(t.done), t.total)
	long := count + " " + t.unit + ", " + elapsed
	if left := t.left(now); left != "" {
		long += ", " + left
	}
	item := t.item()
	for _, c := range []struct {
		bar  bool
		text string
	}{{true, long}, {false, long}, {false, count + " " + elapsed}} {
		used := cells(t.what) + 1 + len(c.text)
		if c.bar {
			used += barCells + 1
		}
		room := width - used - 2
		if item != "" && room < leastItem || used > width {
			continue
		}
		out := t.what + " "
		if c.bar {
			out += s.bar(len(t.done), t.total) + " "
		}
		out += c.text
		if item != "" {
			out += "  " + fit(item, room, s)
		}
		return out
	}
	return fit(count+" "+elapsed, width, s)
}

// item is what has been worked on longest, and so is what a run hangs on if it hangs.
func (t *Task) item() string {
	if len(t.running) == 0 {
		return ""
	}
	out := t.running[0]
	if t.note != "" {
		out += ": " + t.note
	}
	if more := len(t.running) - 1; more > 0 {
		out += fmt.Sprintf(" +%d", more)
	}
	return out
}

// text is the line of text.
func (t *Task) text(now time.Time) string {
	seconds := fmt.Sprintf("%.0f s", now.Sub(t.start).Seconds())
	if t.total == 0 {
		return t.what + ": " + seconds
	}
	out := fmt.Sprintf("%s: %d of %d %s after %s", t.what, len(t.done), t.total, t.unit, seconds)
	if left := t.left(now); left != "" {
		out += ", " + left
	}
	if item := t.item(); item != "" {
		out += "; now " + item
	}
	return out
}

// left says how long the rest will take, where that is not a guess: enough is done, and the later half of it went about
// as fast as the whole.
func (t *Task) left(now time.Time) string {
	n := len(t.done)
	elapsed := now.Sub(t.start)
	if n < 6 || n*20 < t.total || elapsed < 4*time.Second || n >= t.total {
		return ""
	}
	all := elapsed / time.Duration(n)
	late := (elapsed - t.done[n/2-1]) / time.Duration(n-n/2)
	if 2*late > 3*all || 2*all > 3*late {
		return ""
	}
	left := max(all, late) * time.Duration(t.total-n)
	switch {
	case left < time.Minute:
		return fmt.Sprintf("about %d s left", max(5, int(left.Round(5*time.Second).Seconds())))
	case left < time.Hour:
		return fmt.Sprintf("about %d min left", int(left.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("about %.1f h left", left.Hours())
}

// clock is a duration as a clock shows it: 0:14, 1:02:03.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// fit keeps the end of a text, which tells names apart, within a width; nothing where that is too little.
func fit(text string, width int, s *screen) string {
	if cells(text) <= width {
		return text
	}
	dots := "..."
	if s.utf8 {
		dots = "…"
	}
	room := width - utf8.RuneCountInString(dots)
	rest := []rune(text)
	for len(rest) > 0 && cells(string(rest)) > room {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return ""
	}
	return dots + string(rest)
}

// cells bounds the width of a text on a terminal: letters outside ASCII may be two cells wide.
func cells(text string) int {
	n := 0
	for _, r := range text {
		if n++; r >= 0x80 {
			n++
		}
	}
	return n
}

// clean keeps a name from moving the cursor or starting a line.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
