package device

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	entries "github.com/gotile/gotile/internal/cache"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// meetingCompiler compiles when so many processes have begun to, of which each leaves a file in a directory: then none of
// them has found an entry that another has made.
type meetingCompiler struct {
	fakeCompiler
	dir       string
	processes int
}

func (c *meetingCompiler) compile(k *Kernel, arch string) ([]byte, error) {
	if err := os.WriteFile(filepath.Join(c.dir, fmt.Sprint(os.Getpid())), nil, 0o666); err != nil {
		return nil, err
	}
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		switch here, err := os.ReadDir(c.dir); {
		case err != nil:
			return nil, err
		case len(here) == c.processes:
			return c.fakeCompiler.compile(k, arch)
		case time.Since(start) > time.Minute:
			return nil, fmt.Errorf("after a minute %d of %d processes compile", len(here), c.processes)
		}
	}
}

// compilerCount is a compiler that knows how often it was used.
type compilerCount interface {
	compiler
	count() int64
}

func (c *fakeCompiler) count() int64 { return c.compiled.Load() }

// loaded opens a device with a cache in dir and loads the test kernel; what the driver is given must be the kernel. It
// returns the number of compilations.
func loaded(t *testing.T, dir string, comp compilerCount) int64 {
	t.Helper()
	t.Setenv(env.Cache, dir)
	drv := newFake(fake.H200)
	d := opened(t, "cuda:0", withFake(drv, nil), func(c *config) { c.nvrtc = func() (compiler, error) { return comp, nil } })
	k := scaleKernel()
	must(d.Load(k))
	want := must((&fakeCompiler{}).compile(k, "sm_90a"))
	if got := drv.Images(); len(got) != 1 || !bytes.Equal(got[0], want) {
		t.Errorf("the driver was given %q", got)
	}
	return comp.count()
}

// Processes that compile one kernel at the same time all get it, and so does who comes later, without compiling.
func TestCacheProcessesCompileAtOnce(t *testing.T) {
	const processes = 3
	meeting := func(dir string) string { return filepath.Join(filepath.Dir(dir), "meeting") }
	if dir := os.Getenv(cacheChild); dir != "" {
		fmt.Printf("compiled %d times\n", loaded(t, dir, &meetingCompiler{dir: meeting(dir), processes: processes}))
		return
	}
	dir := filepath.Join(t.TempDir(), "cache")
	ok(t, os.Mkdir(meeting(dir), 0o755))
	var wg sync.WaitGroup
	for range processes {
		wg.Go(func() {
			if out := cacheProcess(t, dir); !strings.Contains(out, "compiled 1 times") {
				t.Error(out)
			}
		})
	}
	wg.Wait()
	if n := loaded(t, dir, &fakeCompiler{}); n != 0 {
		t.Errorf("compiled %d times with a warm cache", n)
	}
	if files := cached(dir); len(files) != 1 {
		t.Errorf("%v", files)
	}
}

// cached is what a cache's directory holds besides the journal.
func cached(dir string) []fs.DirEntry {
	return slices.DeleteFunc(must(os.ReadDir(dir)), func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), "journal") })
}

// A disk that fills up in the middle of an entry: nothing of it stays, the kernel is compiled each time, and kept when
// there is room again.
func TestCacheWriteFails(t *testing.T) {
	c, log := newCache(t)
	full := errors.New("no space left on device")
	c.fill = func(f *os.File, data []byte) error {
		f.Write(data[:len(data)/2])
		return full
	}
	key := cacheKey("a")
	for range 3 {
		if !fetch(t, c, key) {
			t.Error("half an entry was used")
		}
	}
	if files := cached(c.dir); len(files) != 0 {
		t.Errorf("left on the full disk: %v", files)
	}
	if n := strings.Count(log.String(), "not cached"); n != 1 || !strings.Contains(log.String(), full.Error()) {
		t.Errorf("%d complaints: %s", n, log)
	}
	c.fill = fillFile
	if !fetch(t, c, key) || fetch(t, c, key) {
		t.Error("not kept when there is room again")
	}
}

// The same on a real disk of 64 KB, which other files fill.
func TestCacheFullDisk(t *testing.T) {
	if dir := os.Getenv(cacheChild); dir != "" {
		ok(t, os.WriteFile(filepath.Join(dir, "small"), make([]byte, 8<<10), 0o644))
		err := os.WriteFile(filepath.Join(dir, "rest"), make([]byte, 1<<20), 0o644)
		if err == nil {
			t.Fatal("the disk is not full")
		}
		ok(t, os.Remove(filepath.Join(dir, "small"))) // room for some of an entry, or for a few
		var log logBuffer
		t.Setenv(env.Cache, dir)
		c := openCache(log.logger())
		for i := range 20 {
			key := cacheKey(fmt.Sprint(i))
			fetch(t, c, key)
			fetch(t, c, key)
		}
		if !strings.Contains(log.String(), "not cached") {
			t.Errorf("20 entries on 8 KB: %s", &log)
		}
		return
	}
	dir := t.TempDir()
	mount := []string{"unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=64k tmpfs "$` + cacheChild + `" && exec "$0" "$@"`}
	probe := exec.Command(mount[0], append(mount[1:], "true")...)
	probe.Env = append(os.Environ(), cacheChild+"="+dir)
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("no file system may be mounted here: %v %s", err, out)
	}
	cacheProcess(t, dir, mount...)
}

// What stands in an entry's place and is none: it is replaced where that is possible, and never waited for.
func TestCacheForeignEntries(t *testing.T) {
	key := cacheKey("a")
	for name, place := range map[string]func(path string) error{
		"another version": func(path string) error {
			file := bytes.Replace(seal(key, entry(key)), []byte("cubin-1"), []byte("cubin-0"), 1)
			return os.WriteFile(path, file, 0o644)
		},
		"unreadable":   func(path string) error { return os.Symlink(path, path) }, // ELOOP, for root as well
		"dangling":     func(path string) error { return os.Symlink(path+".none", path) },
		"pipe":         makePipe,
		"empty folder": func(path string) error { return os.Mkdir(path, 0o755) },
		"huge": func(path string) error {
			if err := os.WriteFile(path, seal(key, entry(key)), 0o644); err != nil {
				return err
			}
			return os.Truncate(path, 8<<30) // sparse
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, log := newCache(t)
			ok(t, os.MkdirAll(c.dir, 0o755))
			if err := place(filepath.Join(c.dir, key+entries.Suffix)); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("once, on linux, is enough")
			} else if err != nil {
				t.Fatal(err)
			}
			if !fetch(t, c, key) {
				t.Error("used as an entry")
			}
			if fetch(t, c, key) {
				t.Errorf("not replaced: %s", log)
			}
		})
	}
}

// What stands in the journal's place and is none costs the record, never a compilation, and is never waited for.
func TestCacheForeignJournal(t *testing.T) {
	for name, place := range map[string]func(path string) error{
		"pipe":     makePipe,
		"folder":   func(path string) error { return os.Mkdir(path, 0o755) },
		"dangling": func(path string) error { return os.Symlink(filepath.Join(path+".none", "x"), path) },
		"loop":     func(path string) error { return os.Symlink(path, path) },
	} {
		t.Run(name, func(t *testing.T) {
			c, log := newCache(t)
			ok(t, os.MkdirAll(c.dir, 0o755))
			if err := place(filepath.Join(c.dir, "journal")); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("once, on linux, is enough")
			} else if err != nil {
				t.Fatal(err)
			}
			within(20*time.Second, func() {
				if key := cacheKey("a"); !fetch(t, c, key) || fetch(t, c, key) {
					t.Error("the entry is not kept")
				}
				entries.Journal(c.dir) // of gotile doctor; it may be an error
			})
			if n := strings.Count(log.String(), "not cached"); n > 1 {
				t.Errorf("%d complaints: %s", n, log)
			}
		})
	}
}

// Entries are evicted all the time while others read them.
func TestCacheEvictionUnderReaders(t *testing.T) {
	c, _ := newCache(t)
	c.limit = 2 * int64(len(seal(cacheKey("0"), entry(cacheKey("0")))))
	var wg sync.WaitGroup
	for range 2 { // readers of one entry that others push out
		wg.Go(func() {
			for range 300 {
				fetch(t, c, cacheKey("0"))
			}
		})
	}
	for g := range 2 {
		wg.Go(func() {
			for i := range 300 {
				fetch(t, c, cacheKey(fmt.Sprint(g, i)))
			}
		})
	}
	wg.Wait()
	var total int64
	for _, f := range cached(c.dir) {
		total += must(f.Info()).Size()
	}
	if total > 2*c.limit {
		t.Errorf("%d bytes are kept, the limit is %d", total, c.limit)
	}
}
