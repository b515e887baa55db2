package env

import (
	"strings"
	"testing"
)

func TestWarn(t *testing.T) {
	t.Setenv("GOTILE_NVTRC", "x")
	t.Setenv(NVRTC, "y")
	var out strings.Builder
	Warn(&out)
	if want := "gotile: warning: the environment variable GOTILE_NVTRC is set, but gotile has none of that name; gotile help lists them\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
