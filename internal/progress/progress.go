// Package progress says how far a long run is: in a line at the bottom of a terminal, or, where there is none, in a line
// of text now and then. Runs of less than two seconds show nothing. What it shows goes to standard error; programs that
// print beside it do so through Display.Writer, which takes the line away first.
package progress

import (
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	quiet     = 2 * time.Second        // a run shows nothing before
	redraw    = 200 * time.Millisecond // on a terminal
	plainEach = 10 * time.Second       // between lines of text
)

// Display is where the progress of a program is shown; nil shows nothing.
type Display struct {
	mu      sync.Mutex
	w       io.Writer
	screen  *screen // nil: no terminal
	begun   time.Time
	told    time.Time // of the last line of text
	task    *Task     // the newest that has not ended
	shown   string    // what stands on the terminal's last line
	midline bool      // something else was written there that has not ended its line
}

// New shows progress on w, in the way that suits it.
func New(w io.Writer) *Display {
	return &Display{w: w, screen: screenOf(w, os.Getenv), begun: time.Now()}
}

// Task is a number of like items that are worked on, one or several at a time; nil counts nothing.
type Task struct {
	d       *Display
	what    string
	unit    string
	total   int
	start   time.Time
	running []string        // in the order of their start
	note    string          // on the first of them
	done    []time.Duration // when items were done
	ended   sync.Once
	stop    chan struct{}
	stopped chan struct{}
}

// Start begins a task of so many items, which are called unit: what "sm_90a", unit "cases". A task of 0 items is one
// whose length is not known. It must be ended; while it lasts, no other is shown.
func (d *Display) Start(what, unit string, total int) *Task {
	if d == nil {
		d = New(io.Discard)
	}
	t := &Task{d: d, what: clean(what), unit: unit, total: total, start: time.Now(), stop: make(chan struct{}), stopped: make(chan struct{})}
	d.mu.Lock()
	d.task = t
	d.mu.Unlock()
	go t.tick()
	return t
}

// tick shows the task from time to time, until it ends.
func (t *Task) tick() {
	defer close(t.stopped)
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-ticker.C:
			t.d.show()
		}
	}
}

// Begin says that an item is worked on now.
func (t *Task) Begin(item string) {
	if t == nil {
		return
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	t.running, t.note = append(t.running, clean(item)), ""
}

// Note says what is done about the item now. It is for tasks of one item at a time.
func (t *Task) Note(text string) {
	if t == nil {
		return
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	t.note = clean(text)
}

// Done says that an item which was begun is done.
func (t *Task) Done(item string) {
	if t == nil {
		return
	}
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if i := slices.Index(t.running, clean(item)); i >= 0 {
		t.running = slices.Delete(t.running, i, i+1)
	}
	t.note, t.done = "", append(t.done, time.Since(t.start))
}

// End takes the task off the display. It may be called again.
func (t *Task) End() {
	t.ended.Do(func() {
		close(t.stop)
		<-t.stopped
		t.d.mu.Lock()
		defer t.d.mu.Unlock()
		if t.d.task == t {
			t.d.clear()
			t.d.task = nil
		}
	})
}

// show brings the display up to date.
func (d *Display) show() {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if d.task == nil || now.Sub(d.begun) < quiet {
		return
	}
	if d.screen == nil {
		if now.Sub(d.task.start) >= quiet && (d.told.IsZero() || now.Sub(d.told) >= plainEach) {
			d.told = now
			io.WriteString(d.w, d.task.text(now)+"\n")
		}
		return
	}
	d.draw(now)
}

func (d *Display) draw(now time.Time) {
	if d.midline {
		return
	}
	if line := d.task.line(now, d.screen); line != d.shown {
		d.shown = line
		io.WriteString(d.w, "\r"+line+eraseRight)
	}
}

// eraseRight is what terminals clear a line with, from the cursor on.
const eraseRight = "\x1b[K"

// clear leaves the last line empty.
func (d *Display) clear() {
	if d.shown != "" {
		d.shown = ""
		io.WriteString(d.w, "\r"+eraseRight)
	}
}

// Writer is w for output that may go to the same terminal, or file.
func (d *Display) Writer(w io.Writer) io.Writer {
	if d == nil {
		return w
	}
	return &aside{d, w}
}

type aside struct {
	d *Display
	w io.Writer
}

func (a *aside) Write(text []byte) (int, error) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if a.d.screen == nil {
		return a.w.Write(text)
	}
	drawn := a.d.shown != ""
	a.d.clear()
	n, err := a.w.Write(text)
	if n > 0 {
		a.d.midline = text[n-1] != '\n'
	}
	if drawn && a.d.task != nil {
		a.d.draw(time.Now())
	}
	return n, err
}
