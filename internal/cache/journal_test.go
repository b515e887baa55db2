package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gotile/gotile/internal/env"
)

func TestDir(t *testing.T) {
	for value, want := range map[string]string{"off": "", " /a/b ": "/a/b"} {
		t.Setenv(env.Cache, value)
		if dir, err := Dir(); err != nil || dir != want {
			t.Errorf("%q: %q, %v", value, dir, err)
		}
	}
	t.Setenv(env.Cache, "")
	if dir, err := Dir(); err != nil || filepath.Base(dir) != "gotile" {
		t.Errorf("default %q, %v", dir, err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if dir, err := Dir(); err == nil {
		t.Skip("this platform has a cache directory without HOME: ", dir)
	}
}

func look(outcome Outcome, key, kernel, arch, nvrtc, source, options string) Lookup {
	return Lookup{time.Unix(1e9, 0).UTC(), outcome, key, kernel, arch, nvrtc, source, options}
}

func TestJournal(t *testing.T) {
	dir := t.TempDir()
	if got, err := Journal(dir); err != nil || got != nil {
		t.Errorf("no journal: %v, %v", got, err)
	}
	want := []Lookup{look(Miss, "k", "softmax", "sm_90a", "13.0", "s", "o"), look(Hit, "k", "softmax", "sm_90a", "13.0", "s", "o"), look(Evicted, "k", "", "", "", "", "")}
	for _, l := range want {
		if err := Note(dir, l); err != nil {
			t.Fatal(err)
		}
	}
	// What a crash or another version left is passed over.
	path := filepath.Join(dir, journalName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(text), "\n", "\nbroken\n2001\thit\n2001-09-09T01:46:40Z\tburnt\t\t\t\t\t\t\n\n", 1) + "2001-09-09T01:4"
	if err := os.WriteFile(path, []byte(broken), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := Journal(dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

// A journal that has grown becomes the old one; what was before that is lost, the rest is not.
func TestJournalIsBounded(t *testing.T) {
	dir := t.TempDir()
	n := 3 * journalLimit / 1000
	for i := range n {
		if err := Note(dir, look(Hit, strings.Repeat("k", 950), fmt.Sprint(i), "", "", "", "")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Journal(dir)
	if err != nil || len(got) < journalLimit/1000 || len(got) > 2*journalLimit/950 {
		t.Fatalf("%d of %d lines, %v", len(got), n, err)
	}
	for i, l := range got {
		if l.Kernel != fmt.Sprint(n-len(got)+i) {
			t.Fatalf("line %d of %d is of lookup %s of %d", i, len(got), l.Kernel, n)
		}
	}
}

func TestJournalOfManyWriters(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for range 50 {
				if err := Note(dir, look(Hit, "key", fmt.Sprint(w), "a", "b", "c", "d")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got, err := Journal(dir); err != nil || len(got) != 400 {
		t.Errorf("%d lines of 400, %v", len(got), err)
	}
}

func TestWhy(t *testing.T) {
	first := look(Miss, "k1", "softmax", "sm_90a", "13.0", "s", "o")
	now := func(key, kernel, arch, nvrtc, source, options string) Lookup {
		return look(Miss, key, kernel, arch, nvrtc, source, options)
	}
	for _, c := range []struct {
		want    string
		journal []Lookup
	}{
		{"it had not been compiled before", []Lookup{first}},
		{"it had not been compiled before", []Lookup{first, now("k2", "other", "sm_90a", "13.0", "t", "o")}},
		{"its CUDA text has changed", []Lookup{first, now("k2", "softmax", "sm_90a", "13.0", "t", "o")}},
		{"NVRTC is 13.5, it was 13.0", []Lookup{first, now("k2", "softmax", "sm_90a", "13.5", "s", "o")}},
		{"gotile gives the compiler other options", []Lookup{first, now("k2", "softmax", "sm_90a", "13.0", "s", "p")}},
		{"its CUDA text has changed, and NVRTC is 13.5, it was 13.0", []Lookup{first, now("k2", "softmax", "sm_90a", "13.5", "t", "o")}},
		{"it had been compiled for sm_90a only", []Lookup{first, now("k2", "softmax", "sm_120a", "13.0", "s", "o")}},
		{"its entry is gone: it was removed, or could not be written", []Lookup{first, now("k2", "softmax", "sm_90a", "13.0", "t", "o"), first}},
		{"its entry was evicted: the cache holds 512 MB", []Lookup{first, look(Evicted, "k1", "", "", "", "", ""), first}},
		{"its entry is gone: it was removed, or could not be written", []Lookup{first, look(Evicted, "k1", "", "", "", "", ""), first, first}},
		{"its entry was damaged", []Lookup{first, look(Damaged, "k1", "softmax", "sm_90a", "13.0", "s", "o")}},
		{"", []Lookup{first, look(Hit, "k1", "softmax", "sm_90a", "13.0", "s", "o")}},
		{"", []Lookup{look(Evicted, "k1", "", "", "", "", "")}},
	} {
		if got := Why(c.journal, len(c.journal)-1); got != c.want {
			t.Errorf("%v: %q, want %q", c.journal, got, c.want)
		}
	}
}
