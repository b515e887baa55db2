package nvrtc

import (
	"regexp"
	"strings"
)

// fatalWarnings are messages of ptxas with which a kernel compiles, but not to what was asked for. The line itself
// says why.
var fatalWarnings = map[string]string{
	"C7506": "setmaxnreg is ignored",
	"C7507": "setmaxnreg is ignored",
	"C7508": "setmaxnreg is ignored",
	"C7511": "wgmma is serialised",
	"C7514": "wgmma is serialised",
	"C7515": "wgmma is serialised",
	"C7517": "wgmma is serialised",
	"C7518": "wgmma is serialised",
}

var code = regexp.MustCompile(`\(?\b(C7\d{3})\b\)?`)

// Fatal gives the lines of a log that must fail a check although the compiler only warns, in the order of the log,
// each with the reason. It gives nil for a log that may pass.
func Fatal(log string) []string {
	var out []string
	for line := range strings.Lines(log) {
		if m := code.FindStringSubmatch(line); m != nil {
			if why, bad := fatalWarnings[m[1]]; bad {
				out = append(out, strings.TrimSpace(line)+" ["+why+"]")
			}
		}
	}
	return out
}
