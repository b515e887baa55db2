package ir

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Pos is where in the user's Go code an op was recorded: raw program counters, symbolised when asked for.
type Pos struct {
	pcs [8]uintptr
	n   int
}

// Here records the caller's position, skipping skip frames above Here itself. It costs about 140 ns.
func Here(skip int) Pos {
	var p Pos
	p.n = runtime.Callers(skip+2, p.pcs[:])
	return p
}

// Frame is a symbolised position.
type Frame struct {
	File string // absolute
	Line int
	Func string
}

// String is "file.go:12" with the file's base name.
func (f Frame) String() string {
	if f.File == "" {
		return "?"
	}
	return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
}

// libraryDirs are the directories of this module whose code records on the user's behalf. Their _test.go files are
// user code.
var libraryDirs = func() []string {
	_, file, _, _ := runtime.Caller(0)
	root := strings.TrimSuffix(file, "internal/ir/pos.go")
	return []string{root + "tile/", root + "internal/ir/"}
}()

func library(file string) bool {
	if strings.HasSuffix(file, "_test.go") {
		return false
	}
	for _, d := range libraryDirs {
		if rest, ok := strings.CutPrefix(file, d); ok && !strings.Contains(rest, "/") {
			return true
		}
	}
	return false
}

// Frames are the first user frame and, for a helper, the user frame that called it.
func (p Pos) Frames() []Frame {
	if p.n == 0 {
		return nil
	}
	var out []Frame
	frames := runtime.CallersFrames(p.pcs[:p.n])
	for len(out) < 2 {
		f, more := frames.Next()
		if f.File != "" && !library(f.File) && !strings.HasPrefix(f.Function, "runtime.") {
			out = append(out, Frame{f.File, f.Line, f.Function})
		}
		if !more {
			break
		}
	}
	return out
}

// Frame is the first user frame; its zero value where there is none.
func (p Pos) Frame() Frame {
	if f := p.Frames(); len(f) > 0 {
		return f[0]
	}
	return Frame{}
}

// String is "file.go:12".
func (p Pos) String() string { return p.Frame().String() }

// Known reports whether a position was recorded.
func (p Pos) Known() bool { return p.n > 0 }
