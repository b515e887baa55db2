//go:build !gotilegen

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/bench"
)

func TestRunOnSim(t *testing.T) {
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-device", "sim", "-shapes", "16x512", "-rounds", "1", "-out", dir}, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	b, err := os.ReadFile(filepath.Join(dir, "sim", "rmsnorm.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r bench.Results
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != 2 || r.Cases[0].Name != "rmsnorm/fwd/16x512/bf16" || r.Cases[1].Name != "rmsnorm/bwd/16x512/bf16" {
		t.Errorf("cases %+v", r.Cases)
	}
	if want := "rmsnorm -device sim -rounds 1 -shapes 16x512"; r.Command != want {
		t.Errorf("command %q, want %q", r.Command, want)
	}
	for i, want := range []int{2*16*512*2 + 512*2 + 16*4, 3*16*512*2 + 512*2 + 16*4} {
		if r.Cases[i].Bytes != want || r.Cases[i].Arms["gotile"].Median <= 0 {
			t.Errorf("%s: %d bytes, want %d; arms %v", r.Cases[i].Name, r.Cases[i].Bytes, want, r.Cases[i].Arms)
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-shapes", "3x5"}, 2, "multiple of 8192"},
		{[]string{"-shapes", "big"}, 2, "want ROWSxN"},
		{[]string{"-rounds", "0"}, 2, "at least 1"},
		{[]string{"-device", "tpu"}, 1, "tpu"},
		{[]string{"32768x4096"}, 2, "-shapes"},
		{[]string{"-nope"}, 2, "rmsnorm: flag provided but not defined: -nope; run rmsnorm -h\n"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), c.args, &out, &errs); code != c.code || !strings.Contains(errs.String(), c.want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %q; want %d and one line with %q", c.args, code, errs.String(), c.code, c.want)
		}
	}
}

func TestHelpAndWarning(t *testing.T) {
	t.Setenv("GOTILE_TYPO", "1")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-h"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "-rounds") || !strings.Contains(errs.String(), "GOTILE_TYPO is set") {
		t.Errorf("exit %d, %q, %q", code, out.String(), errs.String())
	}
}
