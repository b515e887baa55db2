package progress

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// record is a standard error that can be read while a display writes to it.
type record struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

func (r *record) Len() int { return len(r.String()) }

func (r *record) lines() []string { return strings.Split(strings.TrimSuffix(r.String(), "\n"), "\n") }

// terminal gives a display on a terminal of some width, in a language with UTF-8 and without colours.
func terminal(w *record, width int, env ...string) *Display {
	return &Display{w: w, begun: time.Now(), screen: screenFor(environ(append([]string{"TERM=xterm", "LANG=en_US.UTF-8", "NO_COLOR=1"}, env...)), func() int { return width })}
}

func environ(list []string) func(string) string {
	return func(name string) (value string) {
		for _, kv := range list {
			if k, v, _ := strings.Cut(kv, "="); k == name {
				value = v
			}
		}
		return value
	}
}

// work does n items of a second each.
func work(d *Display, n int) {
	task := d.Start("sm_90a", "cases", n)
	defer task.End()
	for i := range n {
		item := fmt.Sprintf("fwd/rows=%d", i)
		task.Begin(item)
		time.Sleep(time.Second)
		task.Done(item)
	}
}

// Without a terminal: nothing for short runs, then a line after two seconds and each ten seconds.
func TestPlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out record
		work(New(&out), 1)
		if out.Len() > 0 {
			t.Errorf("a run of a second says %q", out.String())
		}
		work(New(&out), 25)
		want := []string{
			"sm_90a: 2 of 25 cases after 2 s; now fwd/rows=2",
			"sm_90a: 12 of 25 cases after 12 s, about 15 s left; now fwd/rows=12",
			"sm_90a: 22 of 25 cases after 22 s, about 5 s left; now fwd/rows=22",
		}
		got := out.lines()
		for i, line := range got { // ticks and items fall on the same instant: either may come first
			if i >= len(want) || line != want[i] && !strings.HasPrefix(line, strings.Fields(want[i])[0]) {
				t.Errorf("line %d: %q", i, line)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d lines: %q", len(got), got)
		}
	})
}

// play is what a terminal shows after some output: its lines, the last one as it stands.
func play(t *testing.T, text string) []string {
	t.Helper()
	lines := []string{""}
	at := 0
	for len(text) > 0 {
		last := &lines[len(lines)-1]
		switch r, n := utf8.DecodeRuneInString(text); {
		case strings.HasPrefix(text, eraseRight):
			*last = string([]rune(*last)[:at])
			text = text[len(eraseRight):]
			continue
		case r == '\r':
			at, text = 0, text[n:]
		case r == '\n':
			lines, at, text = append(lines, ""), 0, text[n:]
		case r < ' ':
			t.Fatalf("the terminal gets %q", text)
		default:
			line := []rune(*last)
			*last = string(append(line[:at:at], append([]rune{r}, line[min(at+1, len(line)):]...)...))
			at, text = at+1, text[n:]
		}
	}
	return lines
}

// On a terminal: one line, which leaves nothing behind, also beside other output.
func TestTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out record
		d := terminal(&out, 100)
		stdout := d.Writer(&out)
		task := d.Start("sm_90a", "cases", 4)
		task.Begin("one")
		task.Begin("two")
		time.Sleep(quiet - time.Millisecond)
		if out.Len() > 0 {
			t.Errorf("before %v it says %q", quiet, out.String())
		}
		time.Sleep(time.Second + redraw/2)
		if got, want := play(t, out.String()), "sm_90a ──────────────────────── 0/4 cases, 0:03  one +1"; len(got) != 1 || got[0] != want {
			t.Errorf("got %q, want %q", got, want)
		}
		size := out.Len()
		time.Sleep(2 * redraw)
		if out.Len() != size {
			t.Error("an unchanged line is written again")
		}
		task.Done("one")
		fmt.Fprint(stdout, "FAIL one\n")
		if got := play(t, out.String()); len(got) != 2 || got[0] != "FAIL one" || got[1] != "sm_90a ━━━━━━────────────────── 1/4 cases, 0:03  two" {
			t.Errorf("beside a line: %q", got)
		}
		fmt.Fprint(stdout, "half")
		time.Sleep(time.Second)
		if got := play(t, out.String()); got[1] != "half" {
			t.Errorf("within a line: %q", got)
		}
		fmt.Fprint(stdout, " a line\n")
		time.Sleep(time.Second)
		task.Note("round 1 of 9")
		time.Sleep(time.Second)
		if got := play(t, out.String()); len(got) != 3 || got[1] != "half a line" || !strings.HasSuffix(got[2], " two: round 1 of 9") {
			t.Errorf("after it: %q", got)
		}
		task.End()
		task.End()
		if got := play(t, out.String()); len(got) != 3 || got[2] != "" {
			t.Errorf("at the end: %q", got)
		}
		// A later task of a run that has lasted shows at once.
		later := d.Start("building", "", 0)
		time.Sleep(2 * redraw)
		if got := play(t, out.String()); got[2] != "building 0:00" {
			t.Errorf("later: %q", got)
		}
		later.End()
	})
}

// Nothing is wider than the terminal, whatever its width, the names and the locale.
func TestWidths(t *testing.T) {
	names := []string{"", "x", "rmsnorm/fwd/rows=32768/n=131072/bf16", "日本語の名前がとても長いとき", "a\nb\x1b[2Jc\td\xff"}
	for _, env := range [][]string{nil, {"LANG=C"}, {"LC_ALL=C"}, {"LC_CTYPE=de_DE.utf8", "LANG=C"}} {
		for width := 1; width < 140; width++ {
			for _, name := range names {
				for _, total := range []int{0, 340} {
					d := terminal(&record{}, width, env...)
					now := time.Now()
					task := &Task{d: d, what: clean("sm_90a-as-120" + name), unit: "cases", total: total, start: now.Add(-100 * time.Second)}
					for i := range min(total, 120) {
						task.done = append(task.done, time.Duration(i)*800*time.Millisecond)
					}
					task.running = []string{clean(name), "other"}
					line := task.line(now, d.screen)
					used := 0
					for _, r := range line {
						used++
						if strings.ContainsRune("日本語の名前がとても長いとき", r) {
							used++
						}
						if r < ' ' || !d.screen.utf8 && strings.ContainsRune("━─…", r) {
							t.Fatalf("%v, width %d: %q", env, width, line)
						}
					}
					if used > max(width-1, 0) {
						t.Fatalf("width %d: %d cells: %q", width, used, line)
					}
				}
			}
		}
	}
}

func TestLine(t *testing.T) {
	now := time.Now()
	task := &Task{what: "sim", unit: "cases", total: 40, start: now.Add(-100 * time.Second), running: []string{"rmsnorm/fwd/rows=5/n=4096"}}
	for i := range 20 {
		task.done = append(task.done, time.Duration(i+1)*5*time.Second)
	}
	for _, c := range []struct {
		width int
		env   []string
		want  string
	}{
		{120, nil, "sim ━━━━━━━━━━━━──────────── 20/40 cases, 1:40, about 2 min left  rmsnorm/fwd/rows=5/n=4096"},
		{80, nil, "sim ━━━━━━━━━━━━──────────── 20/40 cases, 1:40, about 2 min left  …ows=5/n=4096"},
		{60, nil, "sim 20/40 cases, 1:40, about 2 min left  …fwd/rows=5/n=4096"},
		{30, nil, "sim 20/40 1:40  …ows=5/n=4096"},
		{12, nil, "20/40 1:40"},
		{80, []string{"LANG=C"}, "sim [###########-----------] 20/40 cases, 1:40, about 2 min left  ...s=5/n=4096"},
		{120, []string{"NO_COLOR="}, "sim \x1b[36m━━━━━━━━━━━━\x1b[0;2m────────────\x1b[0m 20/40 cases, 1:40, about 2 min left  rmsnorm/fwd/rows=5/n=4096"},
		{0, nil, "sim ━━━━━━━━━━━━──────────── 20/40 cases, 1:40, about 2 min left  …ows=5/n=4096"}, // taken for 80
	} {
		if got := task.line(now, terminal(&record{}, c.width, c.env...).screen); got != c.want {
			t.Errorf("width %d, %v:\n%q, want\n%q", c.width, c.env, got, c.want)
		}
	}
}

// Terminals that cannot clear a line get lines of text.
func TestScreen(t *testing.T) {
	for _, env := range [][]string{{"TERM=dumb"}, {"TERM="}, {}} {
		if screenFor(environ(env), func() int { return 80 }) != nil {
			t.Errorf("%v is a terminal with a bar", env)
		}
	}
	if screenOf(&record{}, environ([]string{"TERM=xterm"})) != nil {
		t.Error("a buffer is a terminal")
	}
}

// The rest is foretold where what is done went evenly, and only there.
func TestLeft(t *testing.T) {
	now := time.Now()
	for what, c := range map[string]struct {
		total int
		done  []int // seconds at which items were done
		after int   // seconds
		want  string
	}{
		"even":               {20, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10, "about 10 s left"},
		"slower of late":     {20, []int{1, 2, 3, 4, 5, 7, 9, 11, 13, 15}, 15, "about 20 s left"},
		"hours":              {4000, []int{60, 120, 180, 240, 300, 360, 420, 480, 540, 600}, 600, ""}, // too few of all
		"an hour or two":     {100, []int{60, 120, 180, 240, 300, 360, 420, 480, 540, 600}, 600, "about 1.5 h left"},
		"long ones at last":  {20, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 100}, 200, ""},
		"short ones at last": {20, []int{40, 80, 120, 160, 200, 201, 202, 203, 204, 205}, 205, ""},
		"few":                {20, []int{1, 2, 3}, 60, ""},
		"a moment ago":       {20, []int{0, 0, 0, 0, 0, 0, 1}, 1, ""},
		"stuck":              {20, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 300, ""},
		"done":               {7, []int{1, 2, 3, 4, 5, 6, 7}, 7, ""},
	} {
		task := &Task{total: c.total, start: now.Add(-time.Duration(c.after) * time.Second)}
		for _, s := range c.done {
			task.done = append(task.done, time.Duration(s)*time.Second)
		}
		if got := task.left(now); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// A nil display and a nil task show nothing.
func TestNil(t *testing.T) {
	var d *Display
	var out record
	if d.Writer(&out) != &out {
		t.Error("the writer is wrapped")
	}
	task := d.Start("x", "y", 1)
	task.Begin("a")
	task.Done("a")
	task.End()
	var none *Task
	none.Begin("a")
	none.Note("b")
	none.Done("a")
}
