package device

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	entries "github.com/gotile/gotile/internal/cache"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// newCache opens a cache in a directory that does not exist yet.
func newCache(t *testing.T) (*cache, *logBuffer) {
	t.Helper()
	t.Setenv(env.Cache, filepath.Join(t.TempDir(), "new", "cache"))
	log := &logBuffer{}
	return openCache(log.logger()), log
}

// entry is what the tests build for a key: some kilobytes that depend on it.
func entry(key string) []byte { return bytes.Repeat([]byte("code of "+key+"\n"), 100) }

// fetch gets an entry and reports whether it was built.
func fetch(t *testing.T, c *cache, key string) (built bool) {
	t.Helper()
	got, err := c.get(key, entries.Lookup{}, func() ([]byte, error) { built = true; return entry(key), nil })
	if err != nil || !bytes.Equal(got, entry(key)) {
		t.Errorf("key %.8s: %d bytes, error %v", key, len(got), err)
	}
	return built
}

func TestCacheKeepsEntries(t *testing.T) {
	c, log := newCache(t)
	key := cacheKey("source", "options", "sm_90a", "13.0")
	if !fetch(t, c, key) {
		t.Error("an empty cache has the entry")
	}
	if fetch(t, c, key) {
		t.Error("the entry was not kept")
	}
	if fetch(t, openCache(log.logger()), key) {
		t.Error("the next process does not find the entry")
	}
	failure := errors.New("does not compile")
	if _, err := c.get(cacheKey("x"), entries.Lookup{}, func() ([]byte, error) { return nil, failure }); err != failure {
		t.Errorf("error %v", err)
	}
	if !fetch(t, c, cacheKey("x")) {
		t.Error("a failure was kept")
	}
	if log.String() != "" {
		t.Errorf("log: %s", log)
	}
}

func TestCacheKey(t *testing.T) {
	seen := map[string]bool{}
	for _, parts := range [][]string{{"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}, {"", "abc"}, {"2:ab1:c"}} {
		k := cacheKey(parts...)
		if seen[k] {
			t.Errorf("%q has the key of other parts", parts)
		}
		seen[k] = true
	}
}

// Whatever happens to an entry's file, the entry is built again, once.
func TestCacheDamage(t *testing.T) {
	key := cacheKey("a")
	file := seal(key, entry(key))
	flipped := bytes.Clone(file)
	flipped[len(flipped)-1] ^= 1
	for name, damaged := range map[string][]byte{
		"empty": {}, "truncated": file[:len(file)/2], "header only": header(key, entry(key)), "longer": append(bytes.Clone(file), 0),
		"one bit": flipped, "other entry": seal(cacheKey("b"), entry("b")), "garbage": []byte("\x7fELF"), "no data": seal(key, nil)[:10],
	} {
		t.Run(name, func(t *testing.T) {
			c, log := newCache(t)
			fetch(t, c, key)
			path := filepath.Join(c.dir, key+entries.Suffix)
			ok(t, os.WriteFile(path, damaged, 0o644))
			if !fetch(t, c, key) {
				t.Error("a damaged entry is used")
			}
			if fetch(t, c, key) {
				t.Error("the entry was not repaired")
			}
			if !strings.Contains(log.String(), path) {
				t.Errorf("the log does not name the file: %s", log)
			}
		})
	}
	// A directory in the way cannot be read, replaced or deleted (it is not empty): compile without the cache.
	c, log := newCache(t)
	ok(t, os.MkdirAll(filepath.Join(c.dir, key+entries.Suffix, "x"), 0o755))
	for range 3 {
		if !fetch(t, c, key) {
			t.Error("not built")
		}
	}
	if n := strings.Count(log.String(), "not cached"); n != 1 {
		t.Errorf("%d complaints: %s", n, log)
	}
}

func TestCacheUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	ok(t, os.WriteFile(file, nil, 0o644))
	readOnly := t.TempDir()
	ok(t, os.Chmod(readOnly, 0o555))
	for name, dir := range map[string]string{"below a file": filepath.Join(file, "cache"), "a file": file, "read-only": readOnly} {
		t.Run(name, func(t *testing.T) {
			if name == "read-only" && os.Geteuid() == 0 {
				t.Skip("root writes to read-only directories")
			}
			t.Setenv(env.Cache, dir)
			var log logBuffer
			c := openCache(log.logger())
			for i := range 3 {
				if key := cacheKey(fmt.Sprint(i)); !fetch(t, c, key) {
					t.Error("not built")
				}
			}
			if n := strings.Count(log.String(), "not cached"); n != 1 || !strings.Contains(log.String(), env.Cache) {
				t.Errorf("%d complaints: %s", n, &log)
			}
		})
	}
}

func TestCacheOff(t *testing.T) {
	var log logBuffer
	t.Setenv(env.Cache, "off")
	c := openCache(log.logger())
	if first, second := fetch(t, c, cacheKey("a")), fetch(t, c, cacheKey("a")); !first || !second || log.String() != "" {
		t.Errorf("switched off, but something is kept or said: %s", &log)
	}
	if runtime.GOOS != "linux" {
		t.Skip("other systems find the user's cache directory otherwise")
	}
	t.Setenv(env.Cache, "")
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	c = openCache(log.logger())
	if first, second := fetch(t, c, cacheKey("a")), fetch(t, c, cacheKey("a")); !first || !second || strings.Count(log.String(), "not cached") != 1 {
		t.Errorf("without a home: %s", &log)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	if c := openCache(log.logger()); c.dir != filepath.Join(home, ".cache", "gotile") {
		t.Errorf("the default directory is %s", c.dir)
	}
}

func TestCacheEvicts(t *testing.T) {
	c, _ := newCache(t)
	size := int64(len(seal(cacheKey("0"), entry(cacheKey("0")))))
	c.limit = 3 * size
	key := func(i int) string { return cacheKey(fmt.Sprint(i)) }
	age := func(i int, d time.Duration) {
		ok(t, os.Chtimes(filepath.Join(c.dir, key(i)+entries.Suffix), time.Time{}, time.Now().Add(-d)))
	}
	for i := range 3 {
		fetch(t, c, key(i))
		age(i, time.Duration(10-i)*time.Hour)
	}
	fetch(t, c, key(0)) // used again: now 1 is the oldest
	stale, foreign := filepath.Join(c.dir, tempPrefix+"123"), filepath.Join(c.dir, "README")
	for _, f := range []string{stale, foreign} {
		ok(t, os.WriteFile(f, make([]byte, 3*size), 0o644))
		ok(t, os.Chtimes(f, time.Time{}, time.Now().Add(-2*tempAge)))
	}
	fetch(t, c, key(3))
	for i, want := range []bool{false, true, false, false} {
		if _, err := os.Stat(filepath.Join(c.dir, key(i)+entries.Suffix)); os.IsNotExist(err) != want {
			t.Errorf("entry %d evicted: %v, want %v", i, !want, want)
		}
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Error("the temporary file of a dead process stays")
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error("a file that is none of the cache's is gone")
	}
	c.limit = size - 1
	fetch(t, c, key(4))
	if !fetch(t, c, key(4)) {
		t.Error("an entry above the limit is kept")
	}
}

const cacheChild = "DEVICE_TEST_CACHE"

// cacheProcess runs the test that calls it in a process of its own, with a directory, and gives what that printed. The
// command is what the process is started by; nil: nothing.
func cacheProcess(t *testing.T, dir string, command ...string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Error(err)
		return ""
	}
	args := append(command, exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), cacheChild+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}

// hammer uses a small cache at random, damaging it now and then. No get may fail or give wrong bytes.
func hammer(c *cache, seed int) error {
	for i := range 300 {
		key := cacheKey(fmt.Sprint((i*7 + seed) % 20))
		got, err := c.get(key, entries.Lookup{}, func() ([]byte, error) { return entry(key), nil })
		if err != nil {
			return err
		}
		if !bytes.Equal(got, entry(key)) {
			return fmt.Errorf("key %.8s: wrong contents", key)
		}
		path := filepath.Join(c.dir, key+entries.Suffix)
		switch i % 11 {
		case 3:
			os.Truncate(path, int64(i))
		case 7:
			os.Remove(path)
		}
	}
	return nil
}

// Goroutines and processes share one cache, with evictions and damage all the time.
func TestCacheShared(t *testing.T) {
	if dir := os.Getenv(cacheChild); dir != "" {
		c := &cache{dir: dir, limit: 8 << 10, log: (&logBuffer{}).logger(), fill: fillFile}
		ok(t, hammer(c, os.Getpid()))
		return
	}
	c, _ := newCache(t)
	c.limit = 8 << 10
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			if err := hammer(c, g); err != nil {
				t.Error(err)
			}
		})
	}
	for range 2 {
		wg.Go(func() { cacheProcess(t, c.dir) })
	}
	wg.Wait()
	left, err := filepath.Glob(filepath.Join(c.dir, tempPrefix+"*"))
	if err != nil || len(left) != 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

// The device's key covers all that compiled code depends on.
func TestDeviceUsesTheCache(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	comp := &fakeCompiler{}
	load := func(change func(k *Kernel), opts ...Option) int64 {
		before := comp.compiled.Load()
		d := opened(t, "cuda:0", append([]Option{withFake(newFake(fake.H200), comp)}, opts...)...)
		k := scaleKernel()
		change(k)
		must(d.Load(k))
		return comp.compiled.Load() - before
	}
	same := func(*Kernel) {}
	if load(same) != 1 || load(same) != 0 {
		t.Error("the second process compiles again")
	}
	if load(func(k *Kernel) { k.Source += "\n" }) != 1 {
		t.Error("the source is not in the key")
	}
	if load(same, WithTarget("sm_90a-as-120")) != 0 {
		t.Error("the proxy compiles the same text for the same architecture again")
	}
	comp.suffix = ".1"
	if load(same) != 1 {
		t.Error("the compiler's version is not in the key")
	}
	comp.extra = " --fmad=true"
	if load(same) != 1 {
		t.Error("the options are not in the key")
	}
}

// The journal says of every lookup what became of it: compiled, found, damaged, evicted.
func TestCacheJournal(t *testing.T) {
	drv, comp := newFake(fake.H200), &fakeCompiler{}
	load := func(change func(*Kernel)) {
		t.Helper()
		k := scaleKernel()
		change(k)
		must(opened(t, "cuda:0", withFake(drv, comp)).Load(k))
	}
	same := func(*Kernel) {}
	openFake(t, drv)
	dir := must(entries.Dir())
	load(same)
	load(same)
	load(func(k *Kernel) { k.Source += " " })
	for _, f := range must(filepath.Glob(filepath.Join(dir, "*"+entries.Suffix))) {
		ok(t, os.WriteFile(f, []byte("damage"), 0o666))
	}
	load(same)
	comp.suffix = ".1"
	load(same)

	journal := must(entries.Journal(dir))
	want := []string{"miss: it had not been compiled before", "hit: ", "miss: its CUDA text has changed", "damaged: its entry was damaged", "miss: NVRTC is 13.0.1, it was 13.0"}
	var got []string
	for i, l := range journal {
		got = append(got, string(l.Outcome)+": "+entries.Why(journal, i))
		if l.Kernel != "scale" || l.Arch != "sm_90a" || time.Since(l.Time) > time.Hour {
			t.Errorf("line %d: %+v", i, l)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	c, _ := newCache(t)
	c.limit = 1 << 10
	for _, key := range []string{"a", "b"} {
		ok(t, os.MkdirAll(c.dir, 0o777))
		ok(t, c.write(filepath.Join(c.dir, key+entries.Suffix), key, bytes.Repeat([]byte(key), 800)))
	}
	if j := must(entries.Journal(c.dir)); len(j) != 1 || j[0].Outcome != entries.Evicted || j[0].Key != "a" {
		t.Errorf("evictions: %+v", j)
	}
}
