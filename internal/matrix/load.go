package matrix

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gotile/gotile/internal/printed"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/device"
)

// loads keeps a module's kernel for each target, so that a launch need not lower and print it.
type loads struct {
	mu       sync.Mutex
	byTarget map[string]*loaded
	sources  []*printed.Source
}

type loaded struct {
	lowered *thr.Kernel
	kernel  *device.Kernel
}

// load is the module's kernel for a device: on a GPU, the text that receipts are of.
func (m *module) load(d *device.Device) (*loaded, error) {
	m.loads.mu.Lock()
	defer m.loads.mu.Unlock()
	target := d.Target().Name
	if l := m.loads.byTarget[target]; l != nil {
		return l, nil
	}
	k, err := Kernels().Build(m.KernelName())
	if err != nil {
		return nil, err
	}
	low, err := k.Lower(target)
	if err != nil {
		return nil, err
	}
	l := &loaded{low, &device.Kernel{Name: low.Name, Threads: low.Threads, MinBlocks: low.MinBlocks, Shared: low.SharedBytes, ArgBytes: low.ArgBytes,
		Build: func() (device.Program, error) { return k, nil }}}
	if d.Kind() != device.Sim {
		if m.loads.sources == nil {
			if m.loads.sources, err = printed.Sources(k); err != nil {
				return nil, err
			}
		}
		i := slices.IndexFunc(m.loads.sources, func(s *printed.Source) bool { return slices.Contains(s.Targets, target) })
		if i < 0 {
			return nil, fmt.Errorf("matrix: no text of %s is for %s", m.KernelName(), target)
		}
		l.kernel.Source = m.loads.sources[i].Text
	}
	if m.loads.byTarget == nil {
		m.loads.byTarget = map[string]*loaded{}
	}
	m.loads.byTarget[target] = l
	return l, nil
}
