package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Peers are other libraries' kernels, timed by programs in Python. A family is a library, or some arms of one, that
// runs in a process of its own: when that dies, hangs or answers nonsense, its arms have an error and the others go on.
//
// The program is started as `python MAIN SUITE FAMILY DEVICE`, with the number of the GPU, and answers one JSON object,
// a line, to each that it is sent, in order:
//
//	(at start)                                       {"versions": "fla 0.6.0, ..."}
//	{"op":"prepare","case":{..},"groups":G}          {"arms":{"fla":{"graph":true},"other":{"error":".."}}}
//	{"op":"replay","arm":"fla","count":N}            {"us":1234.5}            one replay, then N timed ones
//	{"op":"read","arm":"fla","checks":[..]}          {"values":[[..],..]}     after a replay on poisoned outputs
//	{"op":"free"}                                    {}
//
// Each message has an "id", which its answer repeats: an answer too many is not taken for the next one. An answer with
// "error":".." is the error of what was asked. Standard output is for answers alone.
type Peers struct {
	Files    fs.FS  // the program, unpacked where it runs
	Main     string // in Files
	Families []Family
}

// Family is one process.
type Family struct {
	Name string
	Arms []string
	// Alone is set where preparing chooses among kernels by timing them, which other processes would disturb.
	Alone bool
}

// How long a peer may take. Preparing compiles and chooses kernels, which takes some libraries minutes.
const (
	startTime  = 3 * time.Minute
	replayTime = time.Minute
	exitTime   = 10 * time.Second
)

// crashes is how often the process of a family is started anew.
const crashes = 3

// family is a family in use.
type family struct {
	Family
	start   func() (*process, error)
	prepare time.Duration

	p        *process
	id       int   // of the last message
	left     int   // starts
	err      error // final
	versions string
}

// families unpacks the program and describes its processes, which start when they are needed.
func (p *Peers) families(ctx context.Context, python, suite, device, tmp string, prepare time.Duration) ([]*family, error) {
	if err := os.CopyFS(tmp, p.Files); err != nil {
		return nil, err
	}
	var out []*family
	for _, f := range p.Families {
		out = append(out, &family{Family: f, left: crashes, prepare: prepare, start: func() (*process, error) {
			return startProcess(ctx, python, "-u", filepath.Join(tmp, p.Main), suite, f.Name, device)
		}})
	}
	return out, nil
}

// ask has the process answer a message. A process that does not is ended.
func (f *family) ask(ctx context.Context, limit time.Duration, message map[string]any, answer any) error {
	if f.err != nil {
		return f.err
	}
	if f.p == nil {
		if f.left == 0 {
			f.err = fmt.Errorf("its process failed %d times", crashes)
			return f.err
		}
		f.left--
		var hello struct{ Versions string }
		p, err := f.start()
		if err == nil {
			f.p, f.id = p, 0
			err = f.receive(ctx, startTime, &hello)
		}
		if err != nil {
			f.err = err // a missing library or interpreter will not appear
			return err
		}
		f.versions = hello.Versions
	}
	f.id++
	message["id"] = f.id
	f.p.send(message) // to one that has ended it fails, and the missing answer tells why
	return f.receive(ctx, limit, answer)
}

func (f *family) receive(ctx context.Context, limit time.Duration, answer any) error {
	line, err := f.p.line(ctx, limit)
	if err != nil {
		return f.lose(err)
	}
	var head struct {
		ID    int
		Error string
	}
	if err := errors.Join(json.Unmarshal(line, &head), json.Unmarshal(line, answer)); err != nil {
		return f.lose(fmt.Errorf("it answered %.100q: %w", line, err))
	}
	if head.ID != f.id {
		return f.lose(fmt.Errorf("it answered %.100q, which is no answer to message %d", line, f.id))
	}
	if head.Error != "" {
		return errors.New(head.Error)
	}
	return nil
}

// lose ends the process; one that hangs is not started again.
func (f *family) lose(err error) error {
	err = fmt.Errorf("peer %s: %w", f.Name, err)
	if errors.Is(err, context.DeadlineExceeded) {
		f.err = err
	}
	f.end(0)
	return err
}

// end ends the process, within some time.
func (f *family) end(patience time.Duration) {
	if f.p != nil {
		f.p.end(patience)
		f.p = nil
	}
}

// turns prepares a benchmark and gives its arms.
func (f *family) turns(ctx context.Context, b *Benchmark, groups int) []*turn {
	var answer struct {
		Arms map[string]struct {
			Error string
			Graph bool
		}
	}
	err := f.ask(ctx, f.prepare, map[string]any{"op": "prepare", "case": b.Peer, "groups": groups}, &answer)
	var out []*turn
	for _, name := range f.Arms {
		t := &turn{name: name, launches: groups, checks: b.Checks}
		a, ok := answer.Arms[name]
		switch {
		case err != nil:
			t.err = err
		case !ok:
			t.err = fmt.Errorf("peer %s has no such arm", f.Name)
		case a.Error != "":
			t.err = errors.New(a.Error)
		}
		t.plain = !a.Graph && t.err == nil
		t.replay = func(ctx context.Context, n int) (float64, error) {
			var answer struct{ US float64 }
			err := f.ask(ctx, replayTime, map[string]any{"op": "replay", "arm": name, "count": n}, &answer)
			return answer.US, err
		}
		t.read = func(ctx context.Context, checks []Check) ([][]float64, error) {
			var answer struct{ Values [][]float64 }
			err := f.ask(ctx, replayTime, map[string]any{"op": "read", "arm": name, "checks": checks}, &answer)
			return answer.Values, err
		}
		out = append(out, t)
	}
	return out
}

// free gives the benchmark's memory back. A process that cannot is replaced by a new one.
func (f *family) free(ctx context.Context) {
	if f.p == nil {
		return
	}
	if err := f.ask(ctx, replayTime, map[string]any{"op": "free"}, &struct{}{}); err != nil {
		f.end(exitTime)
	}
}
