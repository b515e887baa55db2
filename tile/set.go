package tile

import (
	"fmt"
	"sync"

	"github.com/gotile/gotile/internal/ir"
)

// Named is a configuration: it knows the name of the kernel it stands for.
type Named interface{ KernelName() string }

// Set is a package's kernels, known by name and built on demand. It is safe for concurrent use.
type Set struct{ families []Family }

// Family is the kernels of one Args type: one generated wrapper, which picks among them.
type Family struct {
	f      *family
	hashed bool
}

type family struct {
	entries []*entry // in order of preference
	mu      sync.Mutex
	args    string // the Args type of the first kernel built, and its name
	first   string
}

type entry struct {
	name  string
	build func() (*Kernel, error)
	once  sync.Once
	k     *Kernel
	err   error
}

// Configs is the family of the kernels that build makes of the configurations, in order of preference: a launch takes
// the first that fits, so smaller capacities come first. Kernels are built when asked for, each once.
func Configs[C Named](build func(C) (*Kernel, error), cs ...C) Set {
	f := &family{}
	for _, c := range cs {
		f.entries = append(f.entries, &entry{name: c.KernelName(), build: func() (*Kernel, error) { return build(c) }})
	}
	return Set{[]Family{{f: f}}}
}

// Sets joins sets.
func Sets(sets ...Set) Set {
	var all Set
	for _, s := range sets {
		all.families = append(all.families, s.families...)
	}
	return all
}

// Hashed is a set whose CUDA is not committed: gotile gen keeps a hash of each text, in kernels.sha256, and writes neither
// .cu files nor wrappers. It is for tests of many large kernels, which launch them by themselves; receipts are of what
// the hashes stand for.
func Hashed(s Set) Set {
	var out Set
	for _, f := range s.families {
		out.families = append(out.families, Family{f.f, true})
	}
	return out
}

// Hashed reports whether nothing but hashes of the family's CUDA is committed.
func (f Family) Hashed() bool { return f.hashed }

// Families are the families of the set, in order.
func (s Set) Families() []Family { return append([]Family(nil), s.families...) }

// Names are the names of all kernels, in order.
func (s Set) Names() []string {
	var out []string
	for _, f := range s.families {
		out = append(out, f.Names()...)
	}
	return out
}

// Build is the kernel of a name. A name that the set has not, or has twice, is an error.
func (s Set) Build(name string) (*Kernel, error) { return build(name, s.families) }

// Names are the names of the family's kernels, in order of preference.
func (f Family) Names() []string {
	var out []string
	for _, e := range f.f.entries {
		out = append(out, e.name)
	}
	return out
}

// Build is the kernel of a name, as of Set.
func (f Family) Build(name string) (*Kernel, error) { return build(name, []Family{f}) }

func build(name string, fs []Family) (*Kernel, error) {
	var found *entry
	var in *family
	var have []string
	for _, f := range fs {
		for _, e := range f.f.entries {
			have = append(have, e.name)
			if e.name != name {
				continue
			}
			if found != nil {
				return nil, fmt.Errorf("tile: two kernels are named %s; names say all that configurations differ in", name)
			}
			found, in = e, f.f
		}
	}
	if found == nil {
		return nil, fmt.Errorf("tile: no kernel is named %q; have %v", name, have)
	}
	found.once.Do(func() { in.fill(found) })
	return found.k, found.err
}

// fill builds an entry. Where that ends the goroutine, so do the callers that wait for it, and later ones get an error.
func (f *family) fill(e *entry) {
	ended := true
	defer func() {
		if ended {
			e.err = &Error{Pos: ir.Here(0), Rule: ErrPanic,
				Msg: fmt.Sprintf("building %s ended its goroutine (runtime.Goexit, testing's FailNow) or panicked: return an error, or let Define report a panic", e.name)}
		}
	}()
	e.k, e.err = f.make(e)
	ended = false
}

// make builds a kernel and checks that it is what the family says.
func (f *family) make(e *entry) (*Kernel, error) {
	k, err := e.build()
	switch {
	case err != nil:
		return nil, err
	case k == nil:
		return nil, fmt.Errorf("tile: building %s gave neither a kernel nor an error", e.name)
	case k.Name() != e.name:
		return nil, fmt.Errorf("tile: the configuration named %s builds a kernel named %s; Define it with KernelName()", e.name, k.Name())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch t := k.ir.ArgsType; {
	case f.first == "":
		f.args, f.first = t, e.name
	case f.args != t:
		return nil, fmt.Errorf("tile: %s has arguments of type %s and %s of type %s; a family has one Args type: join families with tile.Sets", f.first, f.args, e.name, t)
	}
	return k, nil
}
