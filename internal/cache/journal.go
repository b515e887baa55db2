package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The journal is a file of lines in the cache's directory. Each is written at once, by appending, so processes need no
// lock; a line that is not whole is passed over. When it has grown it becomes the old one, which is lost then.
const (
	journalName  = "journal"
	oldSuffix    = ".old"
	journalLimit = 512 << 10 // bytes
)

// Outcome is what became of a lookup, or of an entry.
type Outcome string

// The outcomes.
const (
	Hit     Outcome = "hit"
	Miss    Outcome = "miss"
	Damaged Outcome = "damaged" // a miss: the entry was there, but not whole
	Evicted Outcome = "evicted" // no lookup: the entry went, to stay within the limit
)

// Lookup is one line. Of an eviction only Time, Outcome and Key are known.
type Lookup struct {
	Time    time.Time
	Outcome Outcome
	Key     string // of the entry
	Kernel  string
	Arch    string // sm_90a
	NVRTC   string // the compiler's version
	Source  string // hash of the CUDA C
	Options string // hash of the compiler's options
}

const fields = 8

// Note appends a line to the journal of a directory. A failure costs the record, no more: whoever calls goes on.
func Note(dir string, l Lookup) error {
	path := filepath.Join(dir, journalName)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // a pipe would make the writer wait
		return notRegular(path)
	}
	if err == nil && info.Size() > journalLimit {
		if err := os.Rename(path, path+oldSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) { // another process was first
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	line := []string{l.Time.UTC().Format(time.RFC3339), string(l.Outcome), l.Key, l.Kernel, l.Arch, l.NVRTC, l.Source, l.Options}
	_, err = f.WriteString(strings.Join(line, "\t") + "\n")
	return errors.Join(err, f.Close())
}

// Journal reads the lines of a directory, the oldest first. Without a journal there are none.
func Journal(dir string) ([]Lookup, error) {
	var out []Lookup
	for _, name := range []string{journalName + oldSuffix, journalName} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, notRegular(path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if l, ok := parse(strings.TrimSuffix(line, "\n")); ok {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

func notRegular(path string) error {
	return fmt.Errorf("%s is no regular file: remove it, and the journal begins anew", path)
}

func parse(line string) (Lookup, bool) {
	f := strings.Split(line, "\t")
	if len(f) != fields {
		return Lookup{}, false
	}
	at, err := time.Parse(time.RFC3339, f[0])
	l := Lookup{at, Outcome(f[1]), f[2], f[3], f[4], f[5], f[6], f[7]}
	switch l.Outcome {
	case Hit, Miss, Damaged, Evicted:
		return l, err == nil
	}
	return l, false
}

// Missed reports whether the kernel was compiled.
func (l Lookup) Missed() bool { return l.Outcome == Miss || l.Outcome == Damaged }

// Why says why the lookup at index i of a journal missed; empty where it did not.
func Why(journal []Lookup, i int) string {
	l := journal[i]
	if l.Outcome == Damaged {
		return "its entry was damaged"
	}
	if l.Outcome != Miss {
		return ""
	}
	var last *Lookup // of this kernel and architecture
	var archs []string
	evicted, known := false, false
	for _, p := range journal[:i] {
		switch {
		case p.Key == l.Key:
			known, evicted = true, p.Outcome == Evicted
		case p.Kernel == l.Kernel && p.Arch == l.Arch:
			last = &p
		case p.Kernel == l.Kernel && (len(archs) == 0 || archs[len(archs)-1] != p.Arch):
			archs = append(archs, p.Arch)
		}
	}
	switch {
	case evicted:
		return fmt.Sprintf("its entry was evicted: the cache holds %d MB", Limit>>20)
	case known:
		return "its entry is gone: it was removed, or could not be written"
	case last != nil:
		return strings.Join(changes(*last, l), ", and ")
	case archs != nil:
		return "it had been compiled for " + archs[len(archs)-1] + " only"
	}
	return "it had not been compiled before"
}

// changes are the differences between two lookups of one kernel.
func changes(before, now Lookup) []string {
	var out []string
	if before.Source != now.Source {
		out = append(out, "its CUDA text has changed")
	}
	if before.NVRTC != now.NVRTC {
		out = append(out, fmt.Sprintf("NVRTC is %s, it was %s", now.NVRTC, before.NVRTC))
	}
	if before.Options != now.Options {
		out = append(out, "gotile gives the compiler other options")
	}
	return out
}
