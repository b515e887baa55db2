package env

import (
	"fmt"
	"io"
)

// Warn writes one line to w for each variable with gotile's prefix that gotile does not have, such as a misspelt one, and
// for each op that Off names and the program does not have. Programs call it first.
func Warn(w io.Writer) {
	for _, name := range Unknown() {
		fmt.Fprintf(w, "gotile: warning: the environment variable %s is set, but gotile has none of that name; gotile help lists them\n", name)
	}
	WarnOps(w)
}
