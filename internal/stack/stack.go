// Package stack cuts the stack of a panic down to what its reader wrote: a user who forgot a nil check is not helped by
// the frames of the runtime and of the library around it.
package stack

import (
	"regexp"
	"strconv"
	"strings"
)

// Frame is one call.
type Frame struct {
	Func string // with the package's path, without arguments
	File string
	Line int
}

// module is the prefix of this module's functions.
const module = "github.com/gotile/gotile/"

// library are the packages that call the user back. A package of kernels in this module is a user like any other.
var library = []string{
	"runtime.", "runtime/debug.", "testing.", "reflect.",
	module + "tile.", module + "tile/tiletest.", module + "internal/ir.",
}

var position = regexp.MustCompile(`^\t(.*):(\d+)(?: \+0x[0-9a-f]+)?$`)

// User reads text, the output of debug.Stack in a deferred function, and gives the user's frames between the panic and
// the first call of a function whose name ends with bottom, the innermost first. Without a panic in the text it starts
// at the top, without such a call it goes to the end.
func User(text, bottom string) []Frame {
	var out []Frame
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i++ {
		m := position.FindStringSubmatch(lines[i+1])
		if m == nil {
			continue
		}
		name := lines[i]
		i++
		if j := strings.LastIndexByte(name, '('); j > 0 { // the arguments; a receiver's parentheses come before
			name = name[:j]
		}
		if name == "panic" {
			out = nil // a deferred function that panicked again has frames above the first panic
			continue
		}
		if strings.HasSuffix(name, bottom) {
			break
		}
		if !isLibrary(name, m[1]) {
			line, _ := strconv.Atoi(m[2])
			out = append(out, Frame{name, m[1], line})
		}
	}
	return out
}

// isLibrary reports whether a frame is not the user's. Tests of the library's packages are its users.
func isLibrary(name, file string) bool {
	if strings.HasSuffix(file, "_test.go") {
		return false
	}
	for _, p := range library {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// Text prints frames, one a line, each after a tab: the position, then the function. place prints a file; nil prints
// it as it is.
func Text(frames []Frame, place func(file string) string) string {
	var lines []string
	for _, f := range frames {
		file := f.File
		if place != nil {
			file = place(file)
		}
		lines = append(lines, "\t"+file+":"+strconv.Itoa(f.Line)+" "+f.Func)
	}
	return strings.Join(lines, "\n")
}
