package ir

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// Pos is where in the user's Go code an op was recorded: the program counter of the first frame that is not the
// library's and, where that frame is in a helper, of the helper's caller.
type Pos struct{ pc, from uintptr }

// site is what is known of a program counter.
type site struct {
	frame Frame
	user  bool   // the author's code
	root  bool   // Builder.Run: frames above it defined the kernel, they did not record it
	outer string // the named function around a literal or a loop body
}

var sites sync.Map // uintptr -> *site; programs have few call sites

func lookup(pc uintptr) *site {
	if s, ok := sites.Load(pc); ok {
		return s.(*site)
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	s := &site{
		frame: Frame{f.File, f.Line, f.Function},
		user:  f.File != "" && !library(f.File) && !strings.HasPrefix(f.Function, "runtime."),
		root:  strings.HasSuffix(f.Function, "internal/ir.(*Builder).Run"),
		outer: outermost(f.Function),
	}
	sites.Store(pc, s)
	return s
}

// literal matches what the compiler appends to a function's name for function literals and range-over-func bodies.
var literal = regexp.MustCompile(`\.func\d+|-range\d+|\.gowrap\d+`)

// outermost is the named function that a function literal or a loop body stands in.
func outermost(function string) string {
	name := function[strings.LastIndexByte(function, '/')+1:] // a directory's name may look like a literal's
	if i := literal.FindStringIndex(name); i != nil {
		return strings.TrimSuffix(function, name[i[0]:])
	}
	return function
}

// Here records the caller's position, skipping skip frames above Here itself. The walk has no depth limit. It costs
// a few microseconds.
func Here(skip int) Pos {
	var p Pos
	var outer string
	var pcs [32]uintptr
	for skip += 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:n] {
			s := lookup(pc)
			switch {
			case s.root:
				return p
			case !s.user:
			case p.pc == 0:
				p.pc, outer = pc, s.outer
			case s.outer != outer:
				p.from = pc
				return p
			}
		}
		if n < len(pcs) {
			return p
		}
	}
}

// beginOf is where a function of the author's begins, called from where the caller of the library is; the latter alone
// where nobody wrote the function down (a method value).
func beginOf(f any) Pos {
	here, pc := Here(1), reflect.ValueOf(f).Pointer()+1 // a frame's counter is behind its call
	if s := lookup(pc); !s.user || !strings.HasSuffix(s.frame.File, ".go") {
		return here
	}
	return Pos{pc: pc, from: here.pc}
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
	var out []Frame
	for _, pc := range []uintptr{p.pc, p.from} {
		if pc != 0 {
			out = append(out, lookup(pc).frame)
		}
	}
	return out
}

// Alone is the position without the helper's caller.
func (p Pos) Alone() Pos { return Pos{pc: p.pc} }

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
func (p Pos) Known() bool { return p.pc != 0 }
