package device

import (
	"errors"
	"fmt"
	"unsafe"

	entries "github.com/gotile/gotile/internal/cache"
	"github.com/gotile/gotile/runtime/driver"
)

// cudaFunc is a kernel in a loaded module.
type cudaFunc struct {
	ctx      driver.Context
	module   driver.Module
	fn       driver.Function
	config   driver.LaunchConfig // but for grid and stream
	resident int
	dogs     *watchdogs
	watched  *watched // nil: without a watchdog
}

func (c *cuda) compile(k *Kernel) error {
	_, _, err := c.image(k)
	return err
}

// image is the compiled code of a kernel: embedded, from memory, from the cache, or made now. w is nil where it has no
// watchdog.
func (c *cuda) image(k *Kernel) (code []byte, w *watched, err error) {
	code, unused := c.embedded(k)
	if code != nil {
		return code, nil, nil
	}
	n, err := c.nvrtc()
	if err != nil {
		return nil, nil, errors.Join(unused, err)
	}
	clean := k
	switch {
	case c.bound > 0:
		k, w, err = watch(k, c.target, c.lines)
	case c.lines:
		k, err = lined(k, c.target.Name)
	}
	if err != nil {
		return nil, nil, err
	}
	if c.lines {
		n = n.withLines()
	}
	key, l := lookup(n, k, c.target.Arch)
	code, err = c.images.get(key, func() ([]byte, error) {
		return c.cache.get(key, l, func() ([]byte, error) {
			image, err := n.compile(k, c.target.Arch)
			return image, locate(err, n, clean, c.target)
		})
	})
	return code, w, err
}

// lookup is the key of a kernel's code in the cache, and what its journal says of it.
func lookup(n compiler, k *Kernel, arch string) (key string, l entries.Lookup) {
	return cacheKey(k.Source, n.options(), arch, n.version()),
		entries.Lookup{Kernel: k.Name, Arch: arch, NVRTC: n.version(), Source: cacheKey(k.Source)[:16], Options: cacheKey(n.options())[:16]}
}

func (c *cuda) load(k *Kernel) (function, error) {
	image, w, err := c.image(k)
	if err != nil {
		return nil, err
	}
	var f *cudaFunc
	c.apart(func() { f, err = c.loadImage(k, image, w) })
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (c *cuda) loadImage(k *Kernel, image []byte, w *watched) (*cudaFunc, error) {
	m, err := c.ctx.LoadModule(image)
	if err != nil {
		return nil, err
	}
	f := &cudaFunc{ctx: c.ctx, module: m, dogs: &c.watchdogs, watched: w, config: driver.LaunchConfig{Block: [3]uint32{uint32(k.Threads), 1, 1}, Shared: uint32(k.Shared)}}
	err = f.prepare(k, c.sms)
	if err == nil && w != nil {
		err = c.arm(c.ctx, m, w)
	}
	if err != nil {
		return nil, errors.Join(err, c.ctx.UnloadModule(m))
	}
	return f, nil
}

// defaultShared is the dynamic shared memory that a kernel can have without asking, in bytes.
const defaultShared = 48 << 10

// prepare finds the entry point, asks for its shared memory and counts the blocks the device holds.
func (f *cudaFunc) prepare(k *Kernel, sms int) error {
	var err error
	if f.fn, err = f.ctx.Function(f.module, k.Name); err != nil {
		return err
	}
	if k.Shared > defaultShared {
		if err := f.ctx.SetFunctionAttribute(f.fn, driver.MaxDynamicShared, k.Shared); err != nil {
			return err
		}
	}
	if k.Cluster > 1 {
		return f.countClusters(k)
	}
	perSM, err := f.ctx.MaxActiveBlocks(f.fn, k.Threads, k.Shared)
	if err != nil {
		return err
	}
	if perSM == 0 {
		return fmt.Errorf("an SM cannot hold a block of %d threads with %d bytes of shared memory and this many registers: %w", k.Threads, k.Shared, ErrTarget)
	}
	f.resident = perSM * sms
	return nil
}

// countClusters counts the blocks of the clusters that the device holds. It is less than what its SMs hold: a cluster
// lies within one group of SMs, and groups differ in size.
func (f *cudaFunc) countClusters(k *Kernel) error {
	c := f.config
	c.Grid[0], c.Cluster = uint32(k.Cluster), [3]uint32{uint32(k.Cluster), 1, 1}
	c.Grid[1], c.Grid[2] = 1, 1
	n, err := f.ctx.MaxActiveClusters(f.fn, c)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("the device cannot hold a cluster of %d blocks of %d threads with %d bytes of shared memory and this many registers: %w", k.Cluster, k.Threads, k.Shared, ErrTarget)
	}
	f.resident = n * k.Cluster
	return nil
}

func (f *cudaFunc) launch(s uint64, grid int, args []byte, dependent bool) error {
	c := f.config
	c.Dependent = dependent
	c.Grid, c.Stream = [3]uint32{uint32(grid), 1, 1}, driver.Stream(s)
	return f.ctx.Launch(f.fn, c, unsafe.Pointer(unsafe.SliceData(args)))
}

func (f *cudaFunc) blocks() int { return f.resident }

func (f *cudaFunc) close() error {
	err := f.ctx.UnloadModule(f.module)
	if f.watched != nil {
		err = errors.Join(err, f.dogs.disarm(f.ctx, f.watched))
	}
	return err
}
