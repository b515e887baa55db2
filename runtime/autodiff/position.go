package autodiff

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
)

// position is a place in the code that uses this package, as program counters: the call, and where that stands in a
// function of another package than its caller's, such as a wrapper of ops, the caller's too.
type position struct{ pc, from uintptr }

// dir is this package's directory, with a slash at the end.
var dir = func() string {
	_, file, _, _ := runtime.Caller(0)
	return file[:strings.LastIndexByte(file, '/')+1]
}()

type place struct {
	text    string
	pkg     string // of the function
	library bool
}

var places sync.Map // uintptr -> place; programs have few call sites

func placeOf(pc uintptr) place {
	if v, ok := places.Load(pc); ok {
		return v.(place)
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	rest, inside := strings.CutPrefix(f.File, dir)
	v := place{
		text:    fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line),
		pkg:     f.File[:strings.LastIndexByte(f.File, '/')+1],
		library: f.File == "" || strings.HasPrefix(f.Function, "runtime.") || inside && !strings.Contains(rest, "/") && !strings.HasSuffix(rest, "_test.go"),
	}
	places.Store(pc, v)
	return v
}

// String is "file.go:12", or "ops.go:40, called from file.go:12"; empty where nothing is known.
func (p position) String() string {
	switch {
	case p.pc == 0:
		return ""
	case p.from == 0:
		return placeOf(p.pc).text
	}
	return placeOf(p.pc).text + ", called from " + placeOf(p.from).text
}

// here is the first position outside of this package.
func here() (p position) {
	var pcs [24]uintptr
	n := runtime.Callers(2, pcs[:])
	for _, pc := range pcs[:n] {
		at := placeOf(pc)
		switch {
		case at.library:
		case p.pc == 0:
			p.pc = pc
		case at.pkg != placeOf(p.pc).pkg:
			if !outside(at.pkg) {
				p.from = pc
			}
			return p
		}
	}
	return p
}

// outside reports whether a directory is the standard library's: tests and main functions are called from there.
func outside(dir string) bool { return strings.HasPrefix(dir, goroot) }

// goroot is the directory of the standard library, as file names of this program have it.
var goroot = func() string {
	f := runtime.FuncForPC(reflect.ValueOf(strings.Contains).Pointer())
	file, _ := f.FileLine(f.Entry())
	return strings.TrimSuffix(file, "strings/strings.go")
}()
