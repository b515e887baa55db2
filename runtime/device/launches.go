package device

import (
	"slices"
	"sync/atomic"
)

// LaunchKey is what launches are counted by.
type LaunchKey struct {
	Kernel string // its name
	Phase  string // the stream's, as SetPhase set it
}

// SetPhase names what the stream's launches are part of from now on, such as "forward"; the default is "". Launches are
// counted by it (Device.LaunchesBy). The device remembers every phase: name kinds of work, not steps.
func (s *Stream) SetPhase(name string) {
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.phases, name)
	if i < 0 {
		i = len(d.phases)
		d.phases = append(d.phases, name)
	}
	s.phase.Store(int32(i))
}

// Phase is what SetPhase set.
func (s *Stream) Phase() string {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	return s.d.phases[s.phase.Load()]
}

// LaunchesBy counts the launches since the device was opened, by kernel name and phase. Launches that failed and
// launches of 0 blocks are not counted; a graph's count whenever it is launched, not when it is captured.
func (d *Device) LaunchesBy() map[LaunchKey]int {
	d.mu.Lock()
	phases := d.phases // names are only added
	d.mu.Unlock()
	out := map[LaunchKey]int{}
	d.funcs.Range(func(_, l any) bool {
		f := l.(*loading).f.Load()
		if f == nil {
			return true
		}
		for i, n := range f.allCounts() {
			if n != nil && n.Load() > 0 && i < len(phases) {
				out[LaunchKey{f.k.Name, phases[i]}] += int(n.Load())
			}
		}
		return true
	})
	return out
}

// Launches is LaunchesBy without the phases: by kernel name.
func (d *Device) Launches() map[string]int {
	out := map[string]int{}
	for k, n := range d.LaunchesBy() {
		out[k.Kernel] += n
	}
	return out
}

// count is the counter of a phase. It allocates at the first call for a phase only.
func (f *Func) count(phase int32) *atomic.Int64 {
	if all := f.allCounts(); int(phase) < len(all) && all[phase] != nil {
		return all[phase]
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	all := slices.Clone(f.allCounts()) // who reads the old list goes on with it
	for len(all) <= int(phase) {
		all = append(all, nil)
	}
	if all[phase] == nil {
		all[phase] = new(atomic.Int64)
	}
	f.counts.Store(&all)
	return all[phase]
}

// allCounts is the counters by number of the phase; nil where there was no launch.
func (f *Func) allCounts() []*atomic.Int64 {
	if p := f.counts.Load(); p != nil {
		return *p
	}
	return nil
}
