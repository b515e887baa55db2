package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/device"
)

// TestSim: the simulator is silent without a mistake, and explains each of them. One explanation is in the documentation.
func TestSim(t *testing.T) {
	var out bytes.Buffer
	if err := run(context.Background(), &out, nil); err != nil || strings.Count(out.String(), "are right") != 2 {
		t.Errorf("%+v\n%s", err, &out)
	}
	doc, err := os.ReadFile("../../docs/debugging.md")
	if err != nil {
		t.Fatal(err)
	}
	for mistake, want := range map[string]string{
		copies:  "0 of 1 arrival pending, 1024 bytes expected, 0 copied",
		arrives: "1 of 1 arrival pending, 1024 bytes expected, 1024 copied",
		release: "who arrives does so at main.go:91",
	} {
		err := run(context.Background(), &out, []string{"-rows", "1", "-mistake", mistake})
		if !errors.Is(err, device.ErrDeadlock) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", mistake, err)
		} else if mistake == release && !strings.Contains(string(doc), err.Error()) {
			t.Errorf("docs/debugging.md does not have\n%v", err)
		}
	}
	if err := run(context.Background(), &out, []string{"-mistake", "none"}); err == nil || !strings.Contains(err.Error(), "there are copy, arrive and release") {
		t.Errorf("%v", err)
	}
}

// TestSites: a watchdog watches each wait of the kernel, at its line.
func TestSites(t *testing.T) {
	k, err := ring(copies)
	if err != nil {
		t.Fatal(err)
	}
	low, err := k.Lower("sm_90a")
	if err != nil {
		t.Fatal(err)
	}
	_, sites, err := cuda.PrintWatched(low, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	var got []string
	for _, s := range sites {
		if s.Fn == thr.MBarWait {
			got = append(got, strings.TrimSpace(lines[s.Pos.Frame().Line-1]))
		}
	}
	if want := []string{"empty.At(stage).Wait(p, parity) // the first ones pass", "full.At(stage).Wait(c, parity)"}; !slices.Equal(got, want) {
		t.Errorf("the sites are %q, want %q", got, want)
	}
}
