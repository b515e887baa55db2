package nvrtc

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var (
	ptxLine   = regexp.MustCompile(`^ptxas .*ptx input, line (\d+);`)
	fileEntry = regexp.MustCompile(`(?m)^\s*\.file\s+(\d+) "(.*?)"`)
	// With the place that an inlined function was called at, which is the last one.
	locEntry = regexp.MustCompile(`^\s*\.loc\s+(\d+) (\d+) \d+(?:, function_name [^,]*, inlined_at (\d+) (\d+) \d+)?`)
)

// sourceLine is where line n of PTX, counted from 1, comes from, by the table of lines in it; of an inlined function
// where it was called. Without a table it is nowhere.
func sourceLine(ptx string, n int) (file string, line int) {
	number := ""
	for i, text := range strings.Split(ptx, "\n") {
		if i+1 > n {
			break
		}
		m := locEntry.FindStringSubmatch(text)
		switch {
		case m == nil:
		case m[3] != "":
			number = m[3]
			line, _ = strconv.Atoi(m[4])
		default:
			number = m[1]
			line, _ = strconv.Atoi(m[2])
		}
	}
	for _, m := range fileEntry.FindAllStringSubmatch(ptx, -1) {
		if m[1] == number && line > 0 {
			return asWritten(m[2]), line
		}
	}
	return "", 0
}

// asWritten undoes what NVRTC makes of a relative name in a marker: one under the working directory.
func asWritten(file string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, ok := strings.CutPrefix(file, dir+string(filepath.Separator)); ok {
			return rel
		}
	}
	return file
}
