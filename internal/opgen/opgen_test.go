package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpToDate compares what the op table gives with what is in the tree.
func TestUpToDate(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := run(&out, []string{"-root", dir}); err != nil {
		t.Fatal(err)
	}
	for _, o := range outputs {
		got, err := os.ReadFile(filepath.Join(dir, o.path))
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(filepath.Join("..", "..", o.path))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(have), string(got)); d != "" {
			t.Errorf("%s is stale; run go generate ./tile (-have +want):\n%s", o.path, d)
		}
	}
}

func TestBadFlag(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, []string{"-nonsense"}); err == nil {
		t.Error("an unknown flag is accepted")
	}
}
