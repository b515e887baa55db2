package device

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
)

// Kernel is what a generated file hands over: the CUDA C for a GPU, the builder for the simulator, and the numbers
// that both must have.
type Kernel struct {
	Name      string
	Source    string      // CUDA C with an entry point called Name
	Embedded  []string    // the source compiled for some GPUs, as gotile gen -cubin wrote it: files of internal/image
	Targets   []string    // that the kernel supports; empty: all
	Threads   int         // of a block, a multiple of 32
	MinBlocks int         // resident on an SM, as promised to the compiler; 0: nothing promised
	Shared    int         // bytes of dynamic shared memory of a block
	Cluster   int         // blocks of a cluster, as the source declares; 0 or 1: no clusters
	ArgBytes  int         // size of the argument struct
	Waits     bool        // for the kernels ahead on its stream, so that it may begin before the last of them is over, if that
	Triggers  bool        // lets the next kernel begin
	Maps      []TensorMap // of its tensor maps, which stand first in the struct
	Build     func() (Program, error)
}

// Program is a built kernel; *tile.Kernel is one.
type Program interface {
	Lower(target string) (*thr.Kernel, error)
}

// Func is a kernel loaded on a device. It lives until the device is closed.
type Func struct {
	d      *Device
	k      *Kernel
	fn     function
	early  bool                            // the device lets a kernel begin before the one ahead of it is over
	counts atomic.Pointer[[]*atomic.Int64] // launches, by number of the phase
	maps   mapCache
}

// loading is the state of one kernel on one device.
type loading struct {
	mu sync.Mutex // held while loading: the second goroutine waits for the first
	f  atomic.Pointer[Func]
}

// Load makes a kernel ready to launch: on a GPU it takes the code that is embedded for it, else compiles the source or
// takes the compiled code from the cache; on the simulator it builds, lowers and compiles the kernel. Later calls with the same *Kernel cost some 20 ns and
// allocate nothing, so that a launch can always call it. A kernel that does not support the device's target is
// ErrTarget.
func (d *Device) Load(k *Kernel) (*Func, error) {
	if l, ok := d.funcs.Load(k); ok {
		if f := l.(*loading).f.Load(); f != nil {
			return f, nil
		}
	}
	return d.loadSlow(k)
}

func (d *Device) loadSlow(k *Kernel) (*Func, error) {
	if k == nil {
		return nil, fmt.Errorf("device: %s: load of a nil kernel", d.name)
	}
	release, err := d.use()
	if err != nil {
		return nil, err
	}
	defer release()
	v, _ := d.funcs.LoadOrStore(k, &loading{})
	l := v.(*loading)
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.f.Load(); f != nil {
		return f, nil
	}
	if err := k.check(d.target, d.info.SharedPerBlock); err != nil {
		return nil, fmt.Errorf("device: %s: %w", d.name, err)
	}
	fn, err := d.back.load(k)
	if err != nil {
		return nil, d.fail("Load", fmt.Errorf("kernel %s: %w", k.Name, err))
	}
	f := &Func{d: d, k: k, fn: fn, early: d.target.Has(target.GridDep)}
	l.f.Store(f)
	return f, nil
}

// Compile compiles a kernel's source, which NVRTC does in some tenths of a second, into the cache and the device's
// Images, so that a later Load of a kernel with this source finds it. It needs the kernel's Name, for messages, and its
// Source. Called by several goroutines it uses as many cores. On the simulator it does nothing.
func (d *Device) Compile(k *Kernel) error {
	if k == nil {
		return fmt.Errorf("device: %s: compilation of a nil kernel", d.name)
	}
	release, err := d.use()
	if err != nil {
		return err
	}
	defer release()
	if err := d.back.compile(k); err != nil {
		return d.fail("Compile", fmt.Errorf("kernel %s: %w", k.Name, err))
	}
	return nil
}

// check says why a target cannot have the kernel.
func (k *Kernel) check(t *target.Target, shared int) error {
	has := func(name string) bool { return name != "" && slices.Contains(k.Targets, name) }
	switch {
	case k.Name == "":
		return fmt.Errorf("the kernel has no name")
	case len(k.Targets) > 0 && !has(t.Name) && !has(t.Proxy):
		return fmt.Errorf("kernel %s: %w %s; it supports %s", k.Name, ErrTarget, t.Name, strings.Join(k.Targets, ", "))
	case k.Threads < 32 || k.Threads > 1024 || k.Threads%32 != 0:
		return fmt.Errorf("kernel %s: %d threads a block; a block has 32 to 1024, in warps of 32: %w", k.Name, k.Threads, ErrTarget)
	case k.Shared < 0 || k.Shared > shared:
		return fmt.Errorf("kernel %s: %d bytes of shared memory a block; %s has %d: %w", k.Name, k.Shared, t.Name, shared, ErrTarget)
	case k.Cluster < 0 || k.Cluster > max(1, t.Cluster):
		return fmt.Errorf("kernel %s: clusters of %d blocks; %s has up to %d: %w", k.Name, k.Cluster, t.Name, max(1, t.Cluster), ErrTarget)
	case len(k.Maps) > 0 && !t.Has(target.TMA):
		return fmt.Errorf("kernel %s: tensor copies, which %s has not: %w", k.Name, t.Name, ErrTarget)
	case k.ArgBytes < 0 || k.ArgBytes > maxArgBytes:
		return fmt.Errorf("kernel %s: %d bytes of arguments; a launch takes %d: %w", k.Name, k.ArgBytes, maxArgBytes, ErrTarget)
	}
	return nil
}

// maxArgBytes is CUDA's limit for the parameters of a kernel that is to run on every driver.
const maxArgBytes = 4096

// Kernel is what was loaded.
func (f *Func) Kernel() *Kernel { return f.k }

// Device is where it was loaded.
func (f *Func) Device() *Device { return f.d }

// Blocks is how many blocks the device holds at once: its SMs times the blocks that one SM holds. With clusters it is
// the blocks of the clusters that it holds at once, which may be less.
func (f *Func) Blocks() int { return f.fn.blocks() }
