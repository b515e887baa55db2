package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is a program that answers lines with lines.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte // closed at the end of its output
	gone  chan struct{}
	errs  *tail
}

// lastWords is how long the output of a program that has ended is waited for: its children may hold it open.
const lastWords = 2 * time.Second

// startProcess starts a program; cancelling ctx kills it.
func startProcess(ctx context.Context, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, name, args...), lines: make(chan []byte), gone: make(chan struct{}), errs: &tail{}}
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = in, p.errs, lastWords
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.gone)
		p.cmd.Wait()
		in.Close()
	}()
	go func() {
		defer close(p.lines)
		defer out.Close() // whoever prints on is told
		p.read(bufio.NewReader(out))
	}()
	return p, nil
}

// lineBytes is the most that a line may have: who prints more does not answer.
const lineBytes = 16 << 20

// read passes lines on, until the output ends.
func (p *process) read(r *bufio.Reader) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			p.lines <- line
			line = nil
		case !errors.Is(err, bufio.ErrBufferFull) || len(line) > lineBytes:
			return // an unfinished line is no answer
		}
	}
}

func (p *process) send(message any) error { return json.NewEncoder(p.in).Encode(message) }

// line waits for a line of output.
func (p *process) line(ctx context.Context, limit time.Duration) ([]byte, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.end(exitTime) // for all that it has to say
			return nil, fmt.Errorf("it ended%s", p.errs.last())
		}
		return line, nil
	case <-timer.C:
		return nil, fmt.Errorf("no answer within %v%s: %w", limit, p.errs.last(), context.DeadlineExceeded)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// end waits until the program is gone, and kills it after a while. What it still prints is dropped.
func (p *process) end(patience time.Duration) {
	p.in.Close() // it should end with its input
	kill := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	for range p.lines {
	}
	<-p.gone
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if extra := len(t.text) - tailBytes; extra > 0 {
		t.text = append([]byte(nil), t.text[extra:]...)
	}
	return len(b), nil
}

// last is the last line, with what leads to it in an error.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	if s := strings.TrimSpace(lines[len(lines)-1]); s != "" {
		return "; it said: " + s
	}
	return ""
}
