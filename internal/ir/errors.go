package ir

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
)

// The rules an error can break. Test with errors.Is.
var (
	ErrShape   = errors.New("shape")        // ranks, sizes, extents, axes
	ErrLayout  = errors.New("layout")       // distributions, vector widths
	ErrScope   = errors.New("scope")        // a value or an op outside the threads or the region it belongs to
	ErrDType   = errors.New("dtype")        // an op that its element type does not have
	ErrControl = errors.New("control flow") // recorded loops and conditionals
	ErrTarget  = errors.New("target")       // what the GPU target lacks
	ErrLimit   = errors.New("limit")        // too much of something
	ErrPort    = errors.New("port")         // the definition: name, options, the Args struct and its tags
	ErrPanic   = errors.New("panic")        // the author's function panicked
)

// Error is one mistake in a kernel.
type Error struct {
	Pos   Pos
	Op    Op    // Invalid where no op is at fault
	Rule  error // one of the Err values
	Msg   string
	Cause error  // the panic's value where it is an error
	Stack string // of a panic; printed by %+v
}

// Error is "file.go:41: message"; where a helper recorded the op, "(called from file.go:80)" follows.
func (e *Error) Error() string {
	fs := e.Pos.Frames()
	if len(fs) == 0 {
		return e.Msg
	}
	s := fs[0].String() + ": " + e.Msg
	if len(fs) > 1 {
		s += " (called from " + fs[1].String() + ")"
	}
	return s
}

// Unwrap makes errors.Is see the rule and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause != nil {
		return []error{e.Rule, e.Cause}
	}
	return []error{e.Rule}
}

// Format prints the stack of a panic too for %+v.
func (e *Error) Format(s fmt.State, verb rune) {
	io.WriteString(s, e.Error())
	if verb == 'v' && s.Flag('+') && e.Stack != "" {
		io.WriteString(s, "\n"+strings.TrimSuffix(e.Stack, "\n"))
	}
}

// Errors are the mistakes of one kernel, in the order of their positions.
type Errors []*Error

// errorsShown is how many mistakes Error prints.
const errorsShown = 10

// Error prints ten mistakes, one a line, and says how many more there are.
func (es Errors) Error() string { return es.text(errorsShown, "%v") }

func (es Errors) text(n int, verb string) string {
	var lines []string
	for i, e := range es {
		if i == n {
			lines = append(lines, fmt.Sprintf("and %d more", len(es)-n))
			break
		}
		lines = append(lines, fmt.Sprintf(verb, e))
	}
	return strings.Join(lines, "\n")
}

// Format prints all mistakes for %+v.
func (es Errors) Format(s fmt.State, verb rune) {
	if verb == 'v' && s.Flag('+') {
		io.WriteString(s, es.text(len(es), "%+v"))
		return
	}
	io.WriteString(s, es.Error())
}

// Unwrap lets errors.Is and errors.As see every mistake.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// sorted orders mistakes by file and line, those of one line as they were found.
func (es Errors) sorted() Errors {
	frames := make(map[*Error]Frame, len(es))
	for _, e := range es {
		frames[e] = e.Pos.Frame()
	}
	sort.SliceStable(es, func(i, j int) bool {
		a, b := frames[es[i]], frames[es[j]]
		if a.File != b.File {
			return a.File < b.File
		}
		return a.Line < b.Line
	})
	return es
}

// fault is a broken rule that has no position yet.
type fault struct {
	rule error
	msg  string
}

func faultf(rule error, format string, args ...any) *fault {
	return &fault{rule, fmt.Sprintf(format, args...)}
}
