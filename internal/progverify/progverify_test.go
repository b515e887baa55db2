package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotile/gotile/runtime/device"
)

// TestVerification runs programs with the simulator in the place of the GPU: they agree, and a receipt is made of it.
func TestVerification(t *testing.T) {
	var out bytes.Buffer
	v := verification{count: 12, parallel: 2, stdout: &out}
	got, err := v.target(context.Background(), "sim", "sm_90a")
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	want, err := current("sm_90a", 0, 12)
	if err != nil {
		t.Fatal(err)
	}
	if want.Seconds = got.Seconds; got != want || got.Launched != 12 {
		t.Errorf("recorded %+v, want %+v", got, want)
	}
	if !strings.Contains(out.String(), "sm_90a: 12 programs, 0 not for it, 0 differ") {
		t.Errorf("%s", &out)
	}
}

// TestClusters: programs with clusters are left out where there are none, and counted.
func TestClusters(t *testing.T) {
	var out bytes.Buffer
	v := verification{count: 40, parallel: 1, stdout: &out}
	got, err := v.target(context.Background(), "sim", "sm_80")
	if err != nil || got.Launched == 0 || got.Launched == 40 {
		t.Fatalf("%+v, %v\n%s", got, err, &out)
	}
}

// TestCheck: receipts are fresh only as long as programs and texts are what was verified.
func TestCheck(t *testing.T) {
	const count = 3
	fresh := func() receipt {
		r := receipt{Device: "GPU", Programs: count}
		for _, target := range []string{"sm_90a", "sm_90a-as-120"} {
			now, err := current(target, 0, count)
			if err != nil {
				t.Fatal(err)
			}
			r.Runs = append(r.Runs, now)
		}
		return r
	}
	for _, c := range []struct {
		name   string
		change func(*receipt)
		red    string
	}{
		{"fresh", func(*receipt) {}, ""},
		{"another text", func(r *receipt) { r.Runs[1].Texts = r.Runs[1].Texts[1:] + "0" }, "sm_90a-as-120"},
		{"another launch", func(r *receipt) { r.Runs[0].Launches = "" }, "sm_90a"},
		{"fewer programs", func(r *receipt) { r.Programs-- }, "is of 2 programs, there are 3"},
		{"one target", func(r *receipt) { r.Runs = r.Runs[:1] }, "runs on 1 targets"},
		{"fewer launches", func(r *receipt) { r.Runs[0].Launched-- }, "has changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, r := t.TempDir(), fresh()
			c.change(&r)
			if err := r.write(filepath.Join(dir, "gpu.json")); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err := checkReceipts(dir, count, &out)
			if (err != nil) != (c.red != "") || !strings.Contains(out.String(), c.red) || c.red != "" && !strings.HasPrefix(out.String(), "RED  random_programs ") {
				t.Errorf("%v\n%s", err, &out)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		var out bytes.Buffer
		if err := checkReceipts(t.TempDir(), count, &out); err == nil || !strings.Contains(out.String(), "no GPU has run them") {
			t.Errorf("%v\n%s", err, &out)
		}
	})
	t.Run("not a receipt", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "gpu.json"), []byte(`{"device": "GPU", "runs": [{}]} {}`), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := checkReceipts(dir, count, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "not a receipt") {
			t.Errorf("%v", err)
		}
	})
}

// TestCommand: flags and exit codes; without a GPU it says so.
func TestCommand(t *testing.T) {
	var out, bad bytes.Buffer
	if code := run(context.Background(), []string{"-p", "0"}, &out, &bad); code != 2 {
		t.Errorf("code %d: %s", code, &bad)
	}
	if code := run(context.Background(), []string{"-h"}, &out, &bad); code != 0 || !strings.Contains(bad.String(), "500 random programs") {
		t.Errorf("code %d: %s", code, &bad)
	}
	if len(device.List()) > 1 {
		t.Skip("there is a GPU")
	}
	if code := run(context.Background(), []string{"-receipts", t.TempDir()}, &out, &bad); code != 1 || !strings.Contains(bad.String(), "a GPU is needed") {
		t.Errorf("code %d: %s", code, &bad)
	}
}
