package env

import (
	"slices"
	"strings"
	"testing"
)

// Unknown ops are named with the known ones, where the program has any.
func TestWarnOps(t *testing.T) {
	t.Setenv(Off, " norm,,cube , nrom")
	if got, want := SwitchedOff(), []string{"norm", "cube", "nrom"}; !slices.Equal(got, want) {
		t.Errorf("switched off: %q, want %q", got, want)
	}
	var out strings.Builder
	if Warn(&out); out.Len() > 0 {
		t.Errorf("a program without ops says %q", out.String())
	}
	for _, name := range []string{"norm", "cube", "norm"} {
		AddOp(name)
	}
	defer func() { ops.names = nil }()
	Warn(&out)
	if want := "gotile: warning: GOTILE_OFF names the op \"nrom\", but the program has cube, norm\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
