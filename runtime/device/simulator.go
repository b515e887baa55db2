package device

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gotile/gotile/internal/ir"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/sim"
)

// SimConfig sets up a simulated device. The zero value is good.
type SimConfig struct {
	SMs                int            // default 4
	BlocksPerSM        int            // blocks an SM holds, whatever the kernel; default 2
	Workers            int            // goroutines that run blocks; default: one a CPU
	Seed               uint64         // of schedules and block order
	Copies             sim.Completion // when asynchronous copies arrive; default: by seed
	Memory             int64          // bytes; default 16 GiB, reserved as it is allocated
	GlobalRaces        bool           // report conflicting accesses of two threads to global memory; kernels with acquires and releases always do
	TrackUninitialised bool           // report kernels that read memory nobody has written; slower
	StepLimit          int64          // instructions in loops after which a warp is reported not to end; default 2^31, minutes
}

// simTarget is what the simulator is where WithTarget says nothing.
const simTarget = "sm_90a"

// simulator is the backend that runs thread IR on the host. Work is done when the call returns, so there is nothing to
// wait for.
type simulator struct {
	c      SimConfig
	ctx    context.Context
	target *target.Target
	mem    *sim.Memory

	mu     sync.Mutex
	used   int64
	sizes  map[uint64]int
	next   uint64 // stream and event handles
	events map[uint64]time.Time

	captures map[uint64]*simGraph // by stream

	launches sim.Launch            // so far
	latest   map[uint64]sim.Launch // by stream: the number of its last launch
}

func (d *Device) openSim(c *config) error {
	name := c.target
	if name == "" {
		name = simTarget
	}
	t, err := target.Lookup(name)
	if err != nil {
		return err
	}
	s := c.sim
	if s.SMs < 0 || s.BlocksPerSM < 0 || s.Workers < 0 || s.Memory < 0 || s.StepLimit < 0 {
		return fmt.Errorf("negative number in %+v: %w", s, ErrShape)
	}
	s.SMs, s.BlocksPerSM = orDefault(s.SMs, 4), orDefault(s.BlocksPerSM, 2)
	s.Memory = orDefault(s.Memory, 16<<30)
	d.target = t
	d.info = Info{
		Name: "gotile simulator", GPU: "sim", Major: t.CC / 10, Minor: t.CC % 10,
		SMs: s.SMs, Memory: s.Memory, SharedPerBlock: t.Shared,
	}
	d.back = &simulator{
		c: s, ctx: c.ctx, target: t, mem: sim.NewMemory(s.TrackUninitialised), sizes: map[uint64]int{}, events: map[uint64]time.Time{},
		captures: map[uint64]*simGraph{}, latest: map[uint64]sim.Launch{},
	}
	return nil
}

func orDefault[T int | int64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

func (s *simulator) alloc(n int) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int64(n) > s.c.Memory-s.used {
		return 0, &driver.Error{Call: "sim.Memory.Alloc", Code: driver.OutOfMemory, Name: "out of memory",
			Text: fmt.Sprintf("%d of %d bytes in use", s.used, s.c.Memory)}
	}
	addr, err := s.mem.Alloc(n)
	if err != nil {
		return 0, err
	}
	s.used += int64(n)
	s.sizes[addr] = n
	return addr, nil
}

func (s *simulator) free(addr uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mem.Free(addr); err != nil {
		return err
	}
	s.used -= int64(s.sizes[addr])
	delete(s.sizes, addr)
	return nil
}

func (s *simulator) handle() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return s.next
}

func (s *simulator) allocHost(n int) ([]byte, error) { return make([]byte, n), nil }
func (s *simulator) freeHost([]byte) error           { return nil }

// pooled: addresses are given out once, so that an access after Close is reported.
func (s *simulator) pooled() bool { return false }

func (s *simulator) idle(uint64) (bool, error) { return true, nil }

func (s *simulator) newStream() (uint64, error)              { return s.handle(), nil }
func (s *simulator) freeStream(uint64) error                 { return nil }
func (s *simulator) sync(context.Context, uint64) error      { return nil }
func (s *simulator) wait(_, _ uint64) error                  { return nil }
func (s *simulator) syncEvent(context.Context, uint64) error { return nil }
func (s *simulator) compiler() string                        { return "" }
func (s *simulator) close() error                            { return nil }

// deadlock: a launch says so itself.
func (s *simulator) deadlock() error { return nil }

func (s *simulator) copyIn(_, dst uint64, src []byte) error {
	b, err := s.mem.Bytes(dst, len(src))
	copy(b, src)
	return err
}

func (s *simulator) copyOut(_ uint64, dst []byte, src uint64) error {
	b, err := s.mem.Peek(src, len(dst))
	copy(dst, b)
	return err
}

func (s *simulator) copy(stream, dst, src uint64, n int) error {
	return s.queue(stream, simNode{do: func() error {
		b, err := s.mem.Peek(src, n)
		if err != nil {
			return err
		}
		return s.copyIn(stream, dst, b)
	}})
}

func (s *simulator) fill(stream, dst uint64, value byte, n int) error {
	return s.queue(stream, simNode{do: func() error {
		b, err := s.mem.Bytes(dst, n)
		for i := range b {
			b[i] = value
		}
		return err
	}})
}

func (s *simulator) record(uint64) (uint64, error) {
	e := s.handle()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events[e] = time.Now()
	return e, nil
}

func (s *simulator) freeEvent(e uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.events, e)
	return nil
}

func (s *simulator) elapsed(from, to uint64) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[to].Sub(s.events[from]), nil
}

// simFunc is a kernel compiled for the simulator.
type simFunc struct {
	s        *simulator
	name     string
	program  *sim.Program
	resident int  // blocks
	triggers bool // it lets the next kernel begin
}

// compile has nothing to do: programs are compiled as they are loaded.
func (s *simulator) compile(*Kernel) error { return nil }

// load builds the kernel and checks that the numbers in the generated file are those of the kernel of today.
func (s *simulator) load(k *Kernel) (function, error) {
	if k.Build == nil {
		return nil, fmt.Errorf("it has no Build function, so the simulator cannot run it")
	}
	p, err := k.Build()
	if err != nil {
		return nil, err
	}
	low, err := p.Lower(s.target.Name)
	if err != nil {
		return nil, err
	}
	if low.Name != k.Name || low.Threads != k.Threads || max(low.Cluster, 1) != max(k.Cluster, 1) || low.SharedBytes != k.Shared || low.ArgBytes != k.ArgBytes ||
		low.Waits != k.Waits || low.Triggers != k.Triggers {
		return nil, fmt.Errorf("the generated file is stale: it says %s with %d threads, clusters of %d, %d bytes of shared memory and %d of arguments, "+
			"the kernel is %s with %d, %d, %d and %d; run go generate",
			k.Name, k.Threads, max(k.Cluster, 1), k.Shared, k.ArgBytes, low.Name, low.Threads, max(low.Cluster, 1), low.SharedBytes, low.ArgBytes)
	}
	if maps := mapsOf(low); !sameMaps(maps, k.Maps) {
		return nil, fmt.Errorf("the generated file is stale: it says %s with the tensor maps %v, the kernel has %v; run go generate", k.Name, k.Maps, maps)
	}
	program, err := sim.Compile(low)
	if err != nil {
		return nil, err
	}
	return &simFunc{s, k.Name, program, s.resident(max(1, k.Cluster)), low.Triggers}, nil
}

// mapsOf describes the tensor maps of a lowered kernel.
func mapsOf(k *thr.Kernel) []TensorMap {
	number := map[*ir.Arg]int{}
	for _, a := range k.IR.Args {
		if !a.Scalar() {
			number[a] = len(number)
		}
	}
	var out []TensorMap
	for _, a := range k.Args {
		if a.Kind == thr.ArgMap {
			out = append(out, TensorMap{number[a.Arg], a.Map.Box, a.Map.Swizzle, a.Map.Promotion(a.Arg.DT), a.Map.Optional})
		}
	}
	return out
}

// encode makes the simulator's form of a tensor map, by the driver's rules.
func (s *simulator) encode(t *driver.Tiled) (driver.TensorMap, error) {
	if err := t.Check(); err != nil {
		return driver.TensorMap{}, err
	}
	m := sim.TensorMap{Addr: uint64(t.Addr), Rank: len(t.Dim)}
	copy(m.Dim[:], t.Dim)
	copy(m.Stride[1:], t.Stride)
	copy(m.Box[:], t.Box)
	if t.Swizzle != driver.TensorSwizzleNone {
		m.Swizzle = 16 << t.Swizzle
	}
	return m.Words(), nil
}

// resident is the number of blocks that run at once, in whole clusters; one cluster always does.
func (s *simulator) resident(cluster int) int {
	return max(1, s.c.SMs*s.c.BlocksPerSM/cluster) * cluster
}

func (f *simFunc) launch(stream uint64, grid int, args []byte, dependent bool) error {
	own := bytes.Clone(args) // a graph outlives the call
	return f.s.queue(stream, simNode{f.name, grid, own, func() error {
		o := sim.Options{Workers: f.s.c.Workers, Seed: f.s.c.Seed, Copies: f.s.c.Copies, StepLimit: f.s.c.StepLimit, GlobalRaces: f.s.c.GlobalRaces || f.program.Ordered()}
		if f.triggers || dependent {
			o.Launch, o.Overlaps = f.s.number(stream, dependent)
		}
		_, err := f.program.Run(f.s.ctx, f.s.mem, grid, own, o)
		return err
	}})
}

// number numbers a launch, and names the one that it may overlap with.
func (s *simulator) number(stream uint64, dependent bool) (n, overlaps sim.Launch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if dependent {
		overlaps = s.latest[stream]
	}
	s.launches++
	s.latest[stream] = s.launches
	return s.launches, overlaps
}

func (f *simFunc) blocks() int  { return f.resident }
func (f *simFunc) close() error { return nil }
