package device

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// What one device compiles, those that share its Images load without compiling, cache or no cache.
func TestImagesAreShared(t *testing.T) {
	for _, dir := range []string{"off", t.TempDir()} {
		t.Setenv(env.Cache, dir)
		drv, comp, images := newFake(fake.H200), &fakeCompiler{}, &Images{}
		a := opened(t, "cuda:0", withFake(drv, comp), WithImages(images))
		b := opened(t, "cuda:0", withFake(drv, comp), WithImages(images))
		ok(t, a.Compile(&Kernel{Name: "scale", Source: scaleSource}))
		if n := drv.Count("cuModuleLoadData"); n != 0 || comp.compiled.Load() != 1 {
			t.Errorf("cache %s: Compile loaded %d modules and compiled %d times", dir, n, comp.compiled.Load())
		}
		must(a.Load(scaleKernel()))
		must(b.Load(scaleKernel()))
		ok(t, b.Compile(scaleKernel()))
		other := scaleKernel()
		other.Source += "\n"
		must(b.Load(other))
		if comp.compiled.Load() != 2 {
			t.Errorf("cache %s: compiled %d times for two sources", dir, comp.compiled.Load())
		}
	}
}

// Compile without Images leaves its work in the cache.
func TestCompileIntoTheCache(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	comp := &fakeCompiler{}
	ok(t, opened(t, "cuda:0", withFake(newFake(fake.H200), comp)).Compile(scaleKernel()))
	must(opened(t, "cuda:0", withFake(newFake(fake.H200), comp)).Load(scaleKernel()))
	if comp.compiled.Load() != 1 {
		t.Errorf("compiled %d times", comp.compiled.Load())
	}
}

// A failure is the caller's, and is not kept: Load reports its own.
func TestCompileFails(t *testing.T) {
	t.Setenv(env.Cache, "off")
	comp := &fakeCompiler{err: errors.New("scale.cu:4: no such variable")}
	d := opened(t, "cuda:0", withFake(newFake(fake.H200), comp), WithImages(&Images{}))
	is(t, d.Compile(scaleKernel()), comp.err, "kernel scale", "cuda:0", "Compile")
	_, err := d.Load(scaleKernel())
	is(t, err, comp.err, "kernel scale", "Load")
	comp.err = nil
	must(d.Load(scaleKernel()))
	if err := d.Compile(nil); err == nil {
		t.Error("a nil kernel is accepted")
	}
	ok(t, d.Close())
	is(t, d.Compile(scaleKernel()), ErrClosed)
	ok(t, opened(t, "sim").Compile(scaleKernel()))
}

// meeting is a compiler whose calls return when all have come.
type meeting struct {
	fakeCompiler
	left atomic.Int64
	all  chan bool
}

func (m *meeting) compile(k *Kernel, arch string) ([]byte, error) {
	if m.left.Add(-1) == 0 {
		close(m.all)
	}
	<-m.all
	return m.fakeCompiler.compile(k, arch)
}

// Many goroutines compile at the same time: nothing holds a lock meanwhile.
func TestCompileConcurrently(t *testing.T) {
	t.Setenv(env.Cache, t.TempDir())
	const n = 8
	comp := &meeting{all: make(chan bool)}
	comp.left.Store(n)
	d := opened(t, "cuda:0", withFake(newFake(fake.H200), &comp.fakeCompiler), WithImages(&Images{}), func(c *config) {
		c.nvrtc = func() (compiler, error) { return comp, nil }
	})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := d.Compile(&Kernel{Name: "scale", Source: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
