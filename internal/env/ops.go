package env

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// ops are the names of the program's ops, which Off may hold. Package autodiff, which this one cannot import, notes them
// where ops are declared.
var ops struct {
	sync.Mutex
	names []string
}

// AddOp notes an op of the program.
func AddOp(name string) {
	ops.Lock()
	defer ops.Unlock()
	if !slices.Contains(ops.names, name) {
		ops.names = append(ops.names, name)
	}
}

// Ops lists the names of the program's ops, sorted.
func Ops() []string {
	ops.Lock()
	defer ops.Unlock()
	return slices.Sorted(slices.Values(ops.names))
}

// SwitchedOff lists the ops that Off names.
func SwitchedOff() []string {
	return strings.FieldsFunc(Get(Off), func(r rune) bool { return r == ',' || r == ' ' })
}

// WarnOps writes one line to w for each name in Off that no op of the program has. A program without ops cannot know: the
// kernels that it generates or times may be another's ops.
func WarnOps(w io.Writer) {
	all := Ops()
	if len(all) == 0 {
		return
	}
	for _, name := range SwitchedOff() {
		if !slices.Contains(all, name) {
			fmt.Fprintf(w, "gotile: warning: %s names the op %q, but the program has %s\n", Off, name, strings.Join(all, ", "))
		}
	}
}
