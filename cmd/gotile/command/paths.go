package command

import (
	"path/filepath"
	"strings"

	"github.com/gotile/gotile/internal/env"
)

// fromHere is a path for a program that runs in its package's directory. A program may be just a name, to be looked up.
func fromHere(path string, program bool) string {
	if path == "" || program && !strings.ContainsRune(path, filepath.Separator) {
		return path
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// absolute gives NAME=VALUE for the environment variables that hold a path relative to the user's directory, made
// absolute: programs run in their package's directory.
func absolute() []string {
	var out []string
	for _, name := range []string{env.Cache, env.Conformance, env.Dump, env.NVRTC} {
		v := env.Get(name)
		switch {
		case v == "" || filepath.IsAbs(v):
			continue
		case name == env.Cache && v == "off":
			continue
		case name == env.NVRTC && !strings.ContainsRune(v, filepath.Separator): // a name that the system's loader looks up
			continue
		}
		if abs, err := filepath.Abs(v); err == nil {
			out = append(out, name+"="+abs)
		}
	}
	return out
}
