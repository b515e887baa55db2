package tiletest

import (
	"flag"
	"os"
	"testing"
)

// recorder is a testing.TB that notes failures.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; panic(r) }

func golden(t *testing.T, name, got string) (failed bool) {
	r := &recorder{TB: t}
	defer func() { recover(); failed = r.failed }()
	Golden(r, name, got)
	return r.failed
}

func TestGolden(t *testing.T) {
	t.Chdir(t.TempDir())
	if !golden(t, "a/x.golden", "one\n") {
		t.Error("a missing file passes")
	}
	set := func(v string) {
		if err := flag.Set("update", v); err != nil {
			t.Fatal(err)
		}
	}
	old := flag.Lookup("update").Value.String()
	defer set(old)
	set("true")
	if golden(t, "a/x.golden", "one\n") {
		t.Error("-update fails")
	}
	set("false")
	if golden(t, "a/x.golden", "one\n") {
		t.Error("an equal file fails")
	}
	if !golden(t, "a/x.golden", "two\n") {
		t.Error("a different file passes")
	}
	if text, err := os.ReadFile("testdata/a/x.golden"); err != nil || string(text) != "one\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}
