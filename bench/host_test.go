package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestCardOf(t *testing.T) {
	for _, c := range []struct {
		device, visible string
		want            card
	}{
		{"cuda:0", "", "0"}, {"cuda:1", "3,5", "5"}, {"cuda:0", "GPU-abc", "GPU-abc"}, {"cuda:2", "3,5", "2"}, {"cuda:-1", "3,5", "-1"}, {"sim", "3", ""},
	} {
		t.Setenv("CUDA_VISIBLE_DEVICES", c.visible)
		if got := cardOf(c.device); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.device, c.visible, got, c.want)
		}
	}
}

// smi puts a program called nvidia-smi first in the path.
func smi(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script in place of nvidia-smi")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestStrangers(t *testing.T) {
	smi(t, fmt.Sprintf(`case "$*" in *compute-apps*) echo "%d, own"; echo "$$, child"; echo "%d, parent"; echo "4194305, none" ;; esac`, os.Getpid(), os.Getppid()))
	got := card("0").strangers(t.Context())
	want := fmt.Sprintf("[%d parent 4194305 none]", os.Getppid())
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc to tell children")
	}
	// The script has ended when its number is looked up, so it is a stranger, too: a process that is gone has no parent.
	if s := fmt.Sprint(got); !strings.HasSuffix(s, want[1:]) || strings.Contains(s, "own") {
		t.Errorf("strangers %s, want those of %s", s, want)
	}
	if !descends(os.Getpid(), os.Getppid()) || descends(os.Getppid(), os.Getpid()) {
		t.Error("parent and child are mixed up")
	}
}

func TestDoubt(t *testing.T) {
	smi(t, `echo "NVIDIA H200"`)
	for device, want := range map[string]string{"NVIDIA H200": "", "NVIDIA H200 MIG 1g.18gb": "", "NVIDIA GeForce RTX 5090": "GPU 0 is a NVIDIA H200: clocks"} {
		if got := card("0").doubt(t.Context(), device); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q", device, got)
		}
	}
	smi(t, "exit 9")
	if got := card("0").doubt(t.Context(), "x"); got != "" {
		t.Error(got)
	}
}

func TestClocks(t *testing.T) {
	smi(t, `echo "1980 MHz, 3201 MHz, 188.08 W, 50, 0x0000000000000000"`)
	if got := card("0").clocks(t.Context()); got["clocks.mem"] != "3201 MHz" || got["clocks_event_reasons.active"] != "0x0000000000000000" {
		t.Errorf("clocks %v", got)
	}
	if got := card("").clocks(t.Context()); len(got) > 0 {
		t.Errorf("clocks of no card: %v", got)
	}
	smiTime = 100 * time.Millisecond
	defer func() { smiTime = 30 * time.Second }()
	smi(t, "sleep 60") // whose own child keeps its output open
	start := time.Now()
	if got := card("0").clocks(t.Context()); len(got) > 0 || time.Since(start) > 10*time.Second {
		t.Errorf("a hanging nvidia-smi: %v after %v", got, time.Since(start))
	}
	smi(t, "exit 9")
	if got := card("0").clocks(t.Context()); len(got) > 0 {
		t.Errorf("clocks without a driver: %v", got)
	}
}

// A card has one lock, whatever it is called.
func TestLockPath(t *testing.T) {
	smi(t, `case "$*" in *--id=0*|*--id=GPU-abc*) echo GPU-abc ;; *) exit 6 ;; esac`)
	zero, name, other := card("0").lockPath(t.Context()), card("GPU-abc").lockPath(t.Context()), card("MIG-a/b").lockPath(t.Context())
	if zero != name || zero == other || filepath.Base(other) != "gotile-bench-MIG-a-b.lock" {
		t.Errorf("%s, %s, %s", zero, name, other)
	}
}

func TestLock(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("devices are locked on linux only")
	}
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(path, "works")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(path, "works"); err == nil || !strings.Contains(err.Error(), "another gotile bench works (") {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	if unlock, err = lock(path, "works"); err != nil {
		t.Fatalf("after unlocking: %v", err)
	}
	unlock()
}
