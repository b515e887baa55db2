package device

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	printer "github.com/gotile/gotile/codegen/cuda"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/internal/thr"
	"github.com/gotile/gotile/internal/waitfor"
	"github.com/gotile/gotile/runtime/driver"
)

// WithWatchdog bounds the waits of a GPU's kernels: where a warp waits for longer than bound, at least 1 ms, for an
// mbarrier, at a barrier or in a loop that only asks, the kernel ends, the device is lost to the process, and the error
// that shows it is ErrDeadlock with the table of who waits where, for what, and who could bring it. Kernels are built and
// printed again for it, also where code is embedded, and are slower; what they compute stays the same. 0 is no watchdog.
// The variable GOTILE_WATCHDOG does it for a whole program. The simulator always finds deadlocks.
func WithWatchdog(bound time.Duration) Option {
	return func(c *config) { c.watchdog, c.badWatchdog = bound, nil }
}

// minWatchdog is far above what a wait takes that ends.
const minWatchdog = time.Millisecond

// watchdogFromEnv is the bound that the variable sets.
func watchdogFromEnv() (time.Duration, error) {
	text := env.Get(env.Watchdog)
	if text == "" {
		return 0, nil
	}
	bound, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, which is no duration such as 2s or 500ms; 0 is no watchdog", env.Watchdog, text)
	}
	return bound, nil
}

// checkWatchdog refuses bounds that are none.
func (c *config) checkWatchdog() error {
	if c.badWatchdog != nil {
		return c.badWatchdog
	}
	if c.watchdog < 0 || c.watchdog > 0 && c.watchdog < minWatchdog {
		return fmt.Errorf("a watchdog after %v: it is 0, for none, or at least %v", c.watchdog, minWatchdog)
	}
	return nil
}

// watched is a loaded kernel with a watchdog.
type watched struct {
	k     *thr.Kernel
	sites []waitfor.Site
	host  []byte // pinned, where its blocks report
}

// watchdogs are those of a device.
type watchdogs struct {
	bound time.Duration // 0: none

	mu   sync.Mutex
	live []*watched
}

// watch prints a kernel with a watchdog and, where asked for, with the lines of Go.
func watch(k *Kernel, t *target.Target, lines bool) (*Kernel, *watched, error) {
	low, err := lower(k, t.Name, "WithWatchdog", env.Watchdog)
	if err != nil {
		return nil, nil, err
	}
	align := 16
	for _, s := range low.Shared {
		align = max(align, s.Align)
	}
	if need := (waitfor.SharedBytes + align - 1) / align * align; low.SharedBytes+need > t.Shared {
		return nil, nil, fmt.Errorf("the watchdog takes %d bytes of shared memory beside the kernel's %d, and %s has %d; watch a config with fewer stages", need, low.SharedBytes, t.Name, t.Shared)
	}
	clean, err := printer.Print(low, printer.Options{})
	if err == nil && body(clean) != body(k.Source) {
		err = errStale
	}
	if err != nil {
		return nil, nil, err
	}
	out, w := *k, &watched{k: low}
	out.Source, w.sites, err = printer.PrintWatched(low, printer.Options{Lines: lines, Path: wholePath})
	return &out, w, err
}

// arm gives a module the bound, and memory to report in.
func (d *watchdogs) arm(ctx driver.Context, m driver.Module, w *watched) error {
	at, n, err := ctx.Global(m, waitfor.Limits)
	if err != nil {
		return err
	}
	if n != waitfor.LimitBytes {
		return fmt.Errorf("the watchdog's variable has %d bytes, want %d", n, waitfor.LimitBytes)
	}
	host, err := ctx.AllocHost(waitfor.Reports * waitfor.ReportBytes)
	if err != nil {
		return err
	}
	clear(host)
	grace := min(max(d.bound/4, 20*time.Millisecond), time.Second) // for other blocks to report, too
	var limits []byte
	for _, v := range []uint64{uint64(uintptr(unsafe.Pointer(unsafe.SliceData(host)))), uint64(d.bound), uint64(grace), waitfor.Reports} {
		limits = binary.LittleEndian.AppendUint64(limits, v)
	}
	if err := ctx.CopyIn(at, limits); err != nil {
		return errors.Join(err, ctx.FreeHost(host))
	}
	w.host = host
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live = append(d.live, w)
	return nil
}

// disarm gives the memory back, after the module.
func (d *watchdogs) disarm(ctx driver.Context, w *watched) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live = slices.DeleteFunc(d.live, func(o *watched) bool { return o == w })
	host := w.host
	w.host = nil
	return ctx.FreeHost(host)
}

// deadlock is what the watchdogs have reported; nil: nothing.
func (d *watchdogs) deadlock() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.live {
		reports := waitfor.Decode(w.host)
		if len(reports) > 0 {
			return fmt.Errorf("%w in kernel %s: a warp has waited for %v\n%s", ErrDeadlock, w.k.Name,
				reports[0].Waited.Round(time.Millisecond), waitfor.Describe(w.k, w.sites, reports))
		}
	}
	return nil
}
