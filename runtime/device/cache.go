package device

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	entries "github.com/gotile/gotile/internal/cache"
	"github.com/gotile/gotile/internal/env"
)

// cache keeps compiled kernels on disk, one file a key. Several processes may share it: files appear whole, by
// rename, and are verified when read, so nothing is locked. Whatever is wrong with it costs a compilation, never more.
type cache struct {
	dir   string // empty: off
	limit int64  // bytes; the least recently used entries go when it is exceeded
	log   *slog.Logger
	once  sync.Once // the first complaint; there is one
	// fill writes an entry's bytes; tests put a full disk here.
	fill func(f *os.File, data []byte) error
}

const (
	cacheMagic = "gotile-cubin-1 "
	tempPrefix = "tmp-"
	tempAge    = time.Hour // after which the file of a process that died is removed
	touchAge   = time.Hour // entries are marked as used at most this often
)

// openCache finds the directory.
func openCache(log *slog.Logger) *cache {
	c := &cache{limit: entries.Limit, log: log, fill: fillFile}
	var err error
	if c.dir, err = entries.Dir(); err != nil {
		c.complain(err)
	}
	return c
}

func fillFile(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return err
}

// complain logs that the cache does not work, once.
func (c *cache) complain(err error) {
	c.once.Do(func() {
		c.log.Warn("gotile: compiled kernels are not cached", "dir", c.dir, "error", err, "setting", env.Cache)
	})
}

// cacheKey is the name of what the parts determine. Each part is hashed with its length, so that no two lists of
// parts are the same bytes.
func cacheKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// get returns the entry of a key, building it where it is missing or damaged, and notes what was the case for l.
func (c *cache) get(key string, l entries.Lookup, build func() ([]byte, error)) ([]byte, error) {
	if c.dir == "" {
		return build()
	}
	path := filepath.Join(c.dir, key+entries.Suffix)
	data, outcome := c.read(path, key)
	if outcome != entries.Hit {
		var err error
		if data, err = build(); err != nil {
			return nil, err
		}
		if err := c.write(path, key, data); err != nil {
			c.complain(err)
		}
	}
	l.Outcome, l.Key = outcome, key
	c.note(l)
	return data, nil
}

// note adds a line to the journal.
func (c *cache) note(l entries.Lookup) {
	l.Time = time.Now()
	if err := entries.Note(c.dir, l); err != nil {
		c.complain(err)
	}
}

// read returns a verified entry and deletes a damaged one.
func (c *cache) read(path, key string) ([]byte, entries.Outcome) {
	info, err := os.Stat(path)
	var file []byte
	// What the cache did not write may be a pipe, which would make the reader wait, or of any size.
	if err == nil && info.Mode().IsRegular() && info.Size() <= c.limit {
		file, err = os.ReadFile(path)
	}
	if err != nil {
		if !os.IsNotExist(err) {
			c.complain(err)
		}
		return nil, entries.Miss
	}
	if data, ok := unseal(file, key); ok {
		if time.Since(info.ModTime()) > touchAge {
			os.Chtimes(path, time.Time{}, time.Now()) // a failure costs the entry its place, no more
		}
		return data, entries.Hit
	}
	c.log.Warn("gotile: a damaged entry of the cache is compiled again", "file", path)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		c.complain(err)
	}
	return nil, entries.Damaged
}

// seal puts a line before the data: magic, key and checksum. The key in it tells a renamed entry.
func seal(key string, data []byte) []byte {
	return append(header(key, data), data...)
}

func header(key string, data []byte) []byte {
	sum := sha256.Sum256(data)
	return []byte(cacheMagic + key + " " + hex.EncodeToString(sum[:]) + "\n")
}

// unseal is the inverse of seal; false where the file is not what seal made.
func unseal(file []byte, key string) ([]byte, bool) {
	n := bytes.IndexByte(file, '\n') + 1
	data := file[n:]
	return data, n > 0 && bytes.Equal(file[:n], header(key, data))
}

// write stores an entry: a temporary file in the same directory, renamed when complete.
func (c *cache) write(path, key string, data []byte) error {
	file := seal(key, data)
	if int64(len(file)) > c.limit {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, tempPrefix)
	if err != nil {
		return err
	}
	err = c.fill(f, file)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return c.evict(path)
}

// evict removes the least recently used entries, but not the one just written, until the rest is within the limit.
func (c *cache) evict(keep string) error {
	dir, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	var total int64
	for _, e := range dir {
		i, err := e.Info()
		if err != nil || !i.Mode().IsRegular() {
			continue // another process removed it, or it is none of ours
		}
		switch {
		case strings.HasPrefix(i.Name(), tempPrefix) && time.Since(i.ModTime()) > tempAge:
			os.Remove(filepath.Join(c.dir, i.Name()))
		case strings.HasSuffix(i.Name(), entries.Suffix):
			files = append(files, i)
			total += i.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, i := range files {
		if total <= c.limit {
			break
		}
		path := filepath.Join(c.dir, i.Name())
		if path == keep {
			continue
		}
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		total -= i.Size()
		c.note(entries.Lookup{Outcome: entries.Evicted, Key: strings.TrimSuffix(i.Name(), entries.Suffix)})
	}
	return nil
}
