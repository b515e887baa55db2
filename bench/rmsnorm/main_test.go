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
	for i, want := range []int{2*16*512*2 + 512*2 + 16*4, 3*16*512*2 + 512*2 + 16*4} {
		if r.Cases[i].Bytes != want || r.Cases[i].Arms["gotile"].Median <= 0 {
			t.Errorf("%s: %d bytes, want %d; arms %v", r.Cases[i].Name, r.Cases[i].Bytes, want, r.Cases[i].Arms)
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-shapes", "3x5"}, "multiple of 8192"},
		{[]string{"-shapes", "big"}, "want ROWSxN"},
		{[]string{"-rounds", "0"}, "at least 1"},
		{[]string{"-device", "tpu"}, "tpu"},
		{[]string{"32768x4096"}, "-shapes"},
		{[]string{"-nope"}, "nope"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), c.args, &out, &errs); code == 0 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: exit %d, %q; want %q", c.args, code, errs.String(), c.want)
		}
	}
}
