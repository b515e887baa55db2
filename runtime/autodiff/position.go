package autodiff

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// position is a place in the code that uses this package, kept as a program counter.
type position uintptr

// dir is this package's directory, with a slash at the end.
var dir = func() string {
	_, file, _, _ := runtime.Caller(0)
	return file[:strings.LastIndexByte(file, '/')+1]
}()

type place struct {
	text    string
	library bool
}

var places sync.Map // uintptr -> place; programs have few call sites

func (p position) place() place {
	if v, ok := places.Load(uintptr(p)); ok {
		return v.(place)
	}
	f, _ := runtime.CallersFrames([]uintptr{uintptr(p)}).Next()
	rest, inside := strings.CutPrefix(f.File, dir)
	v := place{
		text:    fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line),
		library: f.File == "" || strings.HasPrefix(f.Function, "runtime.") || inside && !strings.Contains(rest, "/") && !strings.HasSuffix(rest, "_test.go"),
	}
	places.Store(uintptr(p), v)
	return v
}

// String is "file.go:12"; empty where nothing is known.
func (p position) String() string {
	if p == 0 {
		return ""
	}
	return p.place().text
}

// here is the first position outside of this package.
func here() position {
	var pcs [16]uintptr
	n := runtime.Callers(2, pcs[:])
	for _, pc := range pcs[:n] {
		if p := position(pc); !p.place().library {
			return p
		}
	}
	return 0
}
