// Package device runs kernels: on an NVIDIA GPU ("cuda:0") or on the simulator ("sim"), behind one API.
//
// A Device owns memory (Buffer, seen through Tensor; HostBuffer), queues (Stream), points in time (Event), captured
// work (Graph) and loaded kernels (Func). It is safe for concurrent use. A Stream is not: use from two goroutines at
// once is refused with ErrConcurrent. Nothing here prints; WithLogger gives it a logger.
package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/runtime/driver"
)

// GenV1 is the version of what generated files expect of this package. They hold `const _ = device.GenV1`: when an
// incompatible change removes it, stale generated code fails to compile by name.
const GenV1 = 1

// Kind says what executes kernels.
type Kind string

// The kinds of devices.
const (
	Sim  Kind = "sim"
	CUDA Kind = "cuda"
)

// Device is an open device. Its methods are safe for concurrent use.
type Device struct {
	name   string
	kind   Kind
	target *target.Target
	info   Info
	log    *slog.Logger
	back   backend
	stream *Stream

	time    *timeline
	buffers *pool // device memory
	hosts   *pool // pinned host memory

	// life is held for reading by what creates, destroys and waits for events; for writing by Close, which then waits for
	// the streams' calls. So it is taken before a stream is entered, and before a graph's mu.
	life   sync.RWMutex
	closed bool
	sticky atomic.Pointer[Error] // the error after which the device is lost

	mu    sync.Mutex
	live  map[*handle]struct{} // everything to give back
	leaks []*handle            // found unreachable by the garbage collector, not yet given back
	// phases are the names that streams set, "" first; launches are counted by their numbers.
	phases   []string
	captures []*capture // under way

	capturing atomic.Int64 // len(captures)
	funcs     sync.Map     // *Kernel -> *loading
}

// config is what options set.
type config struct {
	log    *slog.Logger
	target string
	sim    SimConfig
	ctx    context.Context
	driver func() (driver.Driver, error)
	nvrtc  func() (compiler, error)
	images *Images // nil: none are kept
	lines  bool
	fresh  bool // embedded code is not used
	// watchdog is the longest wait, 0: any; badWatchdog says why the variable's is none.
	watchdog    time.Duration
	badWatchdog error
}

// Option is a choice of Open and Default.
type Option func(*config)

// WithLogger sets where the device reports what is no error: leaks, an unusable cache. The default, and nil, drop it.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) { c.log = cmp.Or(l, slog.New(slog.DiscardHandler)) }
}

// WithTarget sets what kernels are lowered and compiled for, where that is not the device's own architecture (on
// `sim`, where it is not sm_90a). "sm_90a-as-120" runs the kernels of sm_120a, with its 99 KB of shared memory, on
// sm_90a.
func WithTarget(name string) Option { return func(c *config) { c.target = name } }

// WithoutEmbedded makes the device compile every kernel, also where code for it is embedded: what compiles is then the
// NVRTC that Info names.
func WithoutEmbedded() Option { return func(c *config) { c.fresh = true } }

// WithSim sets up the simulated device; other devices ignore it.
func WithSim(s SimConfig) Option { return func(c *config) { c.sim = s } }

// WithDriver opens GPUs by a driver of the caller's, such as one over a context that the program holds already
// (runtime/driver/gorgonia).
func WithDriver(drv driver.Driver) Option {
	return func(c *config) {
		c.driver = func() (driver.Driver, error) {
			if drv == nil {
				return nil, errors.New("WithDriver was given no driver")
			}
			return drv, nil
		}
	}
}

// WithContext ends simulated launches when ctx is done. Launches on a GPU cannot be ended.
func WithContext(ctx context.Context) Option { return func(c *config) { c.ctx = ctx } }

// WithLines makes a GPU's kernels carry the lines of the Go code that recorded them, for compute-sanitizer, ncu and
// cuda-gdb: they are built and printed again, with markers, and compiled with a table of lines, also where code is
// embedded. What they execute stays the same. The variable GOTILE_LINES does it for a whole program. The simulator always knows the lines.
func WithLines() Option { return func(c *config) { c.lines = true } }

func newConfig(opts []Option) *config {
	c := &config{lines: env.On(env.Lines), log: slog.New(slog.DiscardHandler), ctx: context.Background(), driver: OpenDriver, nvrtc: openNVRTC}
	c.watchdog, c.badWatchdog = watchdogFromEnv()
	for _, o := range opts {
		o(c)
	}
	return c
}

// Open opens a device by name: "sim", or "cuda:N" with N from 0. A device that does not exist is ErrNoDevice, on
// platforms without CUDA errors.ErrUnsupported too.
func Open(name string, opts ...Option) (*Device, error) {
	return open(name, newConfig(opts))
}

func open(name string, c *config) (*Device, error) {
	d := &Device{name: name, log: c.log, live: map[*handle]struct{}{}, phases: []string{""}}
	err := c.checkWatchdog()
	if err != nil {
		return nil, fmt.Errorf("device: %s: %w", name, err)
	}
	if ordinal, ok := strings.CutPrefix(name, "cuda:"); ok {
		n, convErr := strconv.Atoi(ordinal)
		if convErr != nil || n < 0 || ordinal != strconv.Itoa(n) {
			return nil, fmt.Errorf("device: %q: what follows cuda: is not a number", name)
		}
		d.kind = CUDA
		err = d.openCUDA(n, c)
	} else if name == "sim" {
		d.kind = Sim
		err = d.openSim(c)
	} else {
		return nil, fmt.Errorf("device: unknown device %q; there are sim and cuda:N (cuda:0 is the first GPU)", name)
	}
	if err != nil {
		if driver.CodeOf(err) != driver.Success {
			return nil, d.fail("Open", err)
		}
		return nil, fmt.Errorf("device: %s: %w", name, err)
	}
	d.openPools()
	if d.stream, err = d.newStream(); err != nil {
		d.back.close()
		return nil, err
	}
	return d, nil
}

// Default opens the device that GOTILE_DEVICE names; without it cuda:0 if there is one, else sim.
func Default(opts ...Option) (*Device, error) { return openDefault(newConfig(opts)) }

func openDefault(c *config) (*Device, error) {
	if name := env.Get(env.Device); name != "" {
		d, err := open(name, c)
		if err != nil {
			return nil, fmt.Errorf("%w (chosen by %s)", err, env.Device)
		}
		return d, nil
	}
	d, err := open("cuda:0", c)
	if err == nil || !errors.Is(err, ErrNoDevice) {
		return d, err
	}
	c.log.Info("no GPU: using the simulator", "reason", err)
	return open("sim", c)
}

// List names the devices that Open can open: GPUs first, sim last.
func List() []string { return list(OpenDriver) }

func list(open func() (driver.Driver, error)) []string {
	var out []string
	if drv, err := open(); err == nil {
		if n, err := drv.DeviceCount(); err == nil {
			for i := range n {
				out = append(out, fmt.Sprintf("cuda:%d", i))
			}
		}
	}
	return append(out, "sim")
}

// Name is what Open was given: "sim", "cuda:0".
func (d *Device) Name() string { return d.name }

// Kind says what executes kernels.
func (d *Device) Kind() Kind { return d.kind }

// Target is what kernels are lowered and compiled for.
func (d *Device) Target() *target.Target { return d.target }

// Stream is the device's default stream. It is one stream like any other: goroutines that launch at the same time
// need streams of their own.
func (d *Device) Stream() *Stream { return d.stream }

// Close waits for what the device's streams do, then gives back everything the device owns; buffers, streams and
// functions refuse to be used from then on. Closing twice is fine. While a graph is captured it is ErrCapture.
func (d *Device) Close() error {
	if d == nil {
		return nil
	}
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return nil
	}
	if n := d.capturing.Load(); n > 0 {
		return fmt.Errorf("device: %s: Close: %w (%d under way)", d.name, ErrCapture, n)
	}
	d.closed = true
	var errs []error
	handles := d.takeAll()
	for _, h := range handles {
		if h.kind != streamHandle {
			continue
		}
		h.closed.Store(true) // first, so that whoever uses the stream without a pause lets go of it
		h.busy.lock()
		errs = append(errs, d.back.sync(context.Background(), h.raw))
		h.busy.unlock()
	}
	for _, h := range handles {
		h.closed.Store(true)
		if h.kind != streamHandle {
			errs = append(errs, d.giveBack(h))
		}
	}
	errs = append(errs, d.time.closeAll(), d.buffers.close(), d.hosts.close())
	d.funcs.Range(func(_, l any) bool {
		if f := l.(*loading).f.Load(); f != nil {
			errs = append(errs, f.fn.close())
		}
		return true
	})
	errs = append(errs, d.back.close())
	if d.sticky.Load() != nil {
		return nil // the device is lost, as its user knows: giving back cannot succeed
	}
	if err := errors.Join(errs...); err != nil {
		return d.fail("Close", err)
	}
	return nil
}

// use holds the device open; the caller calls the function it returns.
func (d *Device) use() (release func(), err error) {
	d.life.RLock()
	if d.closed {
		d.life.RUnlock()
		return nil, fmt.Errorf("device: %s: %w", d.name, ErrClosed)
	}
	if e := d.sticky.Load(); e != nil {
		d.life.RUnlock()
		return nil, e
	}
	return d.life.RUnlock, nil
}
