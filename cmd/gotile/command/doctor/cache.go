package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/gotile/gotile/internal/cache"
	"github.com/gotile/gotile/internal/env"
)

// Cache is that of compiled kernels.
type Cache struct {
	Check
	Dir     string     `json:"dir,omitempty"` // empty: off
	Entries int        `json:"entries"`
	Size    int64      `json:"size"`  // bytes
	Limit   int64      `json:"limit"` // bytes
	Hits    int        `json:"hits"`
	Misses  int        `json:"misses"`
	Since   *time.Time `json:"since,omitempty"` // of the first lookup that is remembered
	Last    *Lookup    `json:"last_miss,omitempty"`
}

// Lookup is what became of one search for a compiled kernel.
type Lookup struct {
	Time   time.Time `json:"time"`
	Kernel string    `json:"kernel"`
	Arch   string    `json:"arch"`
	NVRTC  string    `json:"nvrtc"`
	Hit    bool      `json:"hit"`
	Why    string    `json:"why,omitempty"` // it missed
}

func (m *Machine) cache() Cache {
	c := Cache{Check: Check{State: OK}, Limit: cache.Limit}
	var err error
	if c.Dir, err = cache.Dir(); err != nil {
		c.Check = Check{Problem, message(err) + "; kernels are compiled in every process", "export " + env.Cache + "=DIR"}
		return c
	}
	if c.Dir == "" {
		c.Check = Check{Missing, env.Cache + "=off: kernels are compiled in every process", "unset " + env.Cache}
		return c
	}
	if err := writable(c.Dir); err != nil {
		c.Check = Check{Problem, message(err) + "; kernels are compiled in every process", "export " + env.Cache + "=DIR"}
	}
	files, _ := os.ReadDir(c.Dir) // one that does not exist yet is empty
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(f.Name(), cache.Suffix) {
			c.Entries++
			c.Size += info.Size()
		}
	}
	lookups, err := lookups(c.Dir, "")
	if err != nil && c.State == OK {
		c.Check = Check{Problem, message(err), "rm -r " + c.Dir}
	}
	for _, l := range lookups {
		if c.Since == nil {
			c.Since = &l.Time
		}
		if l.Hit {
			c.Hits++
		} else {
			c.Misses++
			c.Last = &l
		}
	}
	return c
}

// writable says why no entry could be written. A directory that does not exist yet is not made for it.
func writable(dir string) error {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is no directory", dir)
		case err == nil:
			f, err := os.CreateTemp(dir, "tmp-")
			if err != nil {
				return err
			}
			return errors.Join(f.Close(), os.Remove(f.Name()))
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		parent := dir[:max(0, strings.LastIndexByte(dir, os.PathSeparator))]
		if parent == "" {
			return err
		}
		dir = parent
	}
}

// lookups are those of a kernel, or of all, the oldest first.
func lookups(dir, kernel string) ([]Lookup, error) {
	journal, err := cache.Journal(dir)
	if err != nil {
		return nil, err
	}
	var out []Lookup
	for i, l := range journal {
		if l.Outcome != cache.Evicted && (kernel == "" || l.Kernel == kernel) {
			out = append(out, Lookup{l.Time, l.Kernel, l.Arch, l.NVRTC, !l.Missed(), cache.Why(journal, i)})
		}
	}
	return out, nil
}

// Lookups are those of a kernel in this user's cache, the oldest first.
func Lookups(kernel string) ([]Lookup, error) {
	dir, err := cache.Dir()
	if err != nil || dir == "" {
		return nil, err
	}
	return lookups(dir, kernel)
}
