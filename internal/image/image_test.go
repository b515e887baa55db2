package image

import (
	"errors"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	o := Origin{Source: "void k() {}", Options: "--fmad=false", Arch: "sm_90a"}
	for _, code := range []string{"\x7fELF\n\x00 code\n", ""} {
		file := string(Seal(o, "13.0", []byte(code)))
		i, err := Parse(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(i.Code) != code || i.Arch != "sm_90a" || i.NVRTC != "13.0" || i.Fresh(o) != nil || !Is(file) {
			t.Errorf("%q gives %+v", file, i)
		}
	}
}

func TestStale(t *testing.T) {
	o := Origin{Source: "a", Options: "b", Arch: "sm_90a"}
	i, err := Parse(string(Seal(o, "13.0", []byte("code"))))
	if err != nil {
		t.Fatal(err)
	}
	for words, other := range map[string]Origin{
		"another text":             {"a ", "b", "sm_90a"},
		"other options":            {"a", "b ", "sm_90a"},
		"for sm_90a, not sm_120a":  {"a", "b", "sm_120a"},
		"another text of the kern": {"b", "a", "sm_90a"},
	} {
		if err := i.Fresh(other); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v, want %q", other, err, words)
		}
	}
}

// Every truncation and every changed byte is refused, or still says the truth: a changed head is of another origin.
func TestDamaged(t *testing.T) {
	o := Origin{Source: "a", Options: "b", Arch: "sm_90a"}
	file := string(Seal(o, "13.0", []byte("some code")))
	head := strings.IndexByte(file, '\n')
	for n := range len(file) {
		if i, err := Parse(file[:n]); err == nil {
			t.Errorf("%d of %d bytes give %+v", n, len(file), i)
		}
		changed := []byte(file)
		changed[n] ^= 1
		i, err := Parse(string(changed))
		nvrtc := n >= len(magic)+len("sm_90a ") && n < len(magic)+len("sm_90a 13.0")
		if err == nil && !nvrtc && (n > head || i.Fresh(o) == nil) {
			t.Errorf("byte %d of %d changed: %+v", n, len(file), i)
		}
	}
	for _, file := range []string{"", "\n", magic, magic + "\n", magic + "a b c d\n", "// Code\n"} {
		if i, err := Parse(file); err == nil {
			t.Errorf("%q gives %+v", file, i)
		}
	}
}
