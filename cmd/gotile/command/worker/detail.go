package worker

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/stack"
)

// detail is an error with all it has to say: of joined errors each, of a wrapped one the log that %+v shows. Positions
// in kernels are relative to the user's directory, so that terminals and editors open them.
func (p *Package) detail(err error) string {
	switch e := err.(type) {
	case *ir.Error:
		return p.mistake(e)
	case ir.Errors:
		var s []string
		for _, e := range e {
			s = append(s, p.mistake(e))
		}
		return strings.Join(s, "\n")
	case fmt.Formatter:
		return fmt.Sprintf("%+v", err)
	case interface{ Unwrap() []error }:
		var s []string
		for _, e := range e.Unwrap() {
			s = append(s, p.detail(e))
		}
		return strings.Join(s, "\n")
	}
	text := err.Error()
	for e := errors.Unwrap(err); e != nil; e = errors.Unwrap(e) {
		if _, ok := e.(fmt.Formatter); !ok {
			continue
		}
		if more := p.detail(e); !strings.Contains(text, more) {
			if short := e.Error(); strings.Contains(text, short) {
				return strings.Replace(text, short, more, 1)
			}
			return text + "\n" + more
		}
		break
	}
	return text
}

// mistake prints an error in a kernel as ir does, but for its positions and, of a panic, the stack, of which only the
// user's frames are shown.
func (p *Package) mistake(e *ir.Error) string {
	s := e.Msg
	frames := e.Pos.Frames()
	if len(frames) > 0 {
		s = p.at(frames[0]) + ": " + s
	}
	if len(frames) > 1 {
		s += " (called from " + p.at(frames[1]) + ")"
	}
	if user := stack.User(e.Stack, "internal/ir.(*Builder).Run"); len(user) > 0 {
		s += "\n" + stack.Text(user, p.place)
	}
	return s
}

func (p *Package) at(f ir.Frame) string { return fmt.Sprintf("%s:%d", p.place(f.File), f.Line) }

// place is a source file relative to the user's directory. In a program that travels there is none, nor the sources:
// the base name must do.
func (p *Package) place(file string) string {
	if p.From == "" || !filepath.IsAbs(file) {
		return filepath.Base(file)
	}
	rel, err := filepath.Rel(p.From, file)
	if err != nil { // another drive
		return file
	}
	return rel
}
