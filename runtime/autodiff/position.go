package autodiff

import (
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// position is a place in the code that uses this package: the program counters of the call and of its callers. Lines are
// looked up where an error says them.
type position [8]uintptr

// here is the position of the caller.
func here() (p position) {
	runtime.Callers(2, p[:])
	return p
}

// take is here for what happens at every application of an op: of the caller's caller, and of few frames, each of which
// takes the runtime a tenth of a microsecond.
func (p *position) take(frames int) { runtime.Callers(3, p[:frames]) }

// String is "file.go:12", the first line outside of this package and of device, or "ops.go:40, called from file.go:12" where that stands
// in a function of another package than its caller's, such as a wrapper of ops. It is empty where nothing is known.
func (p position) String() string { return lineOf(p.counters()) }

// counters are the program counters.
func (p *position) counters() []uintptr {
	n := slices.Index(p[:], 0)
	if n < 0 {
		n = len(p)
	}
	return p[:n]
}

// lineOf is the line of program counters, as String gives it.
func lineOf(counters []uintptr) string {
	if len(counters) == 0 {
		return ""
	}
	var at, in string // the first line, and the directory of its file
	for frames, more := runtime.CallersFrames(counters), true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		folder := f.File[:strings.LastIndexByte(f.File, '/')+1]
		switch line := fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line); {
		case library(f):
		case at == "":
			at, in = line, folder
		case folder == in:
		case strings.HasPrefix(folder, goroot): // tests and main functions are called from there
			return at
		default:
			return at + ", called from " + line
		}
	}
	return at
}

// library reports whether a function is of this package or of device, their tests excepted, or of Go's runtime.
func library(f runtime.Frame) bool {
	if f.File == "" || strings.HasPrefix(f.Function, "runtime.") {
		return true
	}
	folder, file := path.Split(f.File)
	return (folder == dir || folder == path.Join(dir, "../device")+"/") && !strings.HasSuffix(file, "_test.go")
}

// dir is this package's directory, with a slash at the end.
var dir = func() string {
	_, file, _, _ := runtime.Caller(0)
	return file[:strings.LastIndexByte(file, '/')+1]
}()

// goroot is the directory of the standard library, as file names of this program have it.
var goroot = func() string {
	f := runtime.FuncForPC(reflect.ValueOf(strings.Contains).Pointer())
	file, _ := f.FileLine(f.Entry())
	return strings.TrimSuffix(file, "strings/strings.go")
}()
