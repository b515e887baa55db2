package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gotile/gotile/internal/target"
	"github.com/gotile/gotile/runtime/driver"
)

// cuda is the backend of a GPU.
type cuda struct {
	ctx    driver.Context
	target *target.Target
	sms    int
	cache  *cache
	images *Images
	fresh  bool // embedded code is not used
	log    *slog.Logger
	nvrtc  func() (compiler, error) // opens the compiler at the first call
	lines  bool                     // kernels are compiled with the lines of their Go source
	watchdogs

	capturing atomic.Int64 // captures under way
}

// openCUDA sets up the device with a number.
func (d *Device) openCUDA(ordinal int, c *config) error {
	drv, err := c.driver()
	if err != nil {
		if errors.Is(err, driver.ErrNoLibrary) || errors.Is(err, errors.ErrUnsupported) ||
			errors.Is(err, driver.NoDevice) || errors.Is(err, driver.StubLibrary) {
			return fmt.Errorf("%w: %w", ErrNoDevice, err)
		}
		return err
	}
	n, err := drv.DeviceCount()
	if err != nil && !errors.Is(err, driver.NoDevice) {
		return err
	}
	if ordinal >= n {
		return fmt.Errorf("%w: the driver shows %d GPUs", ErrNoDevice, n)
	}
	if err := d.describeCUDA(drv, ordinal); err != nil {
		return err
	}
	if d.target, err = chooseTarget(c.target, d.info.Major, d.info.Minor); err != nil {
		return err
	}
	d.info.SharedPerBlock = min(d.info.SharedPerBlock, d.target.Shared)
	ctx, err := drv.Retain(ordinal)
	if err != nil {
		return err
	}
	back := &cuda{ctx: ctx, target: d.target, sms: d.info.SMs, cache: openCache(c.log), images: c.images, fresh: c.fresh || c.lines || c.watchdog > 0, log: c.log, nvrtc: sync.OnceValues(c.nvrtc), lines: c.lines}
	back.bound = c.watchdog
	d.back = back
	return nil
}

// describeCUDA asks for everything but the compiler's version.
func (d *Device) describeCUDA(drv driver.Driver, ordinal int) error {
	var errs []error
	ask := func(a driver.DeviceAttribute) int {
		v, err := drv.DeviceAttribute(ordinal, a)
		errs = append(errs, err)
		return v
	}
	name, err := drv.DeviceName(ordinal)
	errs = append(errs, err)
	memory, err := drv.DeviceMemory(ordinal)
	errs = append(errs, err)
	version, err := drv.Version()
	errs = append(errs, err)
	d.info = Info{
		Name: name, GPU: shortName(name),
		Major: ask(driver.ComputeCapabilityMajor), Minor: ask(driver.ComputeCapabilityMinor),
		SMs: ask(driver.MultiprocessorCount), Memory: memory, L2: ask(driver.L2CacheSize), SharedPerBlock: ask(driver.MaxSharedPerBlockOptin),
		CUDA: fmt.Sprintf("%d.%d", version/1000, version%1000/10), Driver: driverRelease(),
	}
	if b, ok := drv.(interface{ Binding() string }); ok {
		d.info.Binding = b.Binding()
	}
	return errors.Join(errs...)
}

var release = regexp.MustCompile(`^NVRM version:.*?\s(\d+\.\d+(\.\d+)?)\s`)

// driverRelease reads the release that the kernel module reports; the driver API knows CUDA versions only.
func driverRelease() string {
	text, err := os.ReadFile("/proc/driver/nvidia/version")
	if err != nil {
		return ""
	}
	return parseRelease(text)
}

func parseRelease(text []byte) string {
	if m := release.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

func (c *cuda) alloc(bytes int) (uint64, error) {
	p, err := c.ctx.Alloc(bytes)
	return uint64(p), err
}

func (c *cuda) free(addr uint64) error { return c.ctx.Free(driver.Ptr(addr)) }

func (c *cuda) allocHost(bytes int) ([]byte, error) { return c.ctx.AllocHost(bytes) }
func (c *cuda) freeHost(host []byte) error          { return c.ctx.FreeHost(host) }
func (c *cuda) pooled() bool                        { return true }

func (c *cuda) idle(s uint64) (bool, error) { return c.ctx.QueryStream(driver.Stream(s)) }

func (c *cuda) newStream() (uint64, error) {
	s, err := c.ctx.NewStream()
	return uint64(s), err
}

func (c *cuda) freeStream(s uint64) error { return c.ctx.DestroyStream(driver.Stream(s)) }

func (c *cuda) copyIn(s, dst uint64, src []byte) error {
	return c.ctx.CopyInAsync(driver.Ptr(dst), src, driver.Stream(s))
}

func (c *cuda) copyOut(s uint64, dst []byte, src uint64) error {
	return c.ctx.CopyOutAsync(dst, driver.Ptr(src), driver.Stream(s))
}

func (c *cuda) copy(s, dst, src uint64, bytes int) error {
	return c.ctx.CopyAsync(driver.Ptr(dst), driver.Ptr(src), bytes, driver.Stream(s))
}

func (c *cuda) fill(s, dst uint64, value byte, bytes int) error {
	return c.ctx.Set8Async(driver.Ptr(dst), value, bytes, driver.Stream(s))
}

func (c *cuda) record(s uint64) (uint64, error) {
	e, err := c.ctx.NewEvent()
	if err != nil {
		return 0, err
	}
	if err := c.ctx.RecordEvent(e, driver.Stream(s)); err != nil {
		return 0, errors.Join(err, c.ctx.DestroyEvent(e))
	}
	return uint64(e), nil
}

func (c *cuda) freeEvent(e uint64) error { return c.ctx.DestroyEvent(driver.Event(e)) }
func (c *cuda) wait(s, e uint64) error   { return c.ctx.WaitEvent(driver.Stream(s), driver.Event(e)) }

func (c *cuda) elapsed(from, to uint64) (time.Duration, error) {
	ms, err := c.ctx.Elapsed(driver.Event(from), driver.Event(to))
	return time.Duration(float64(ms) * float64(time.Millisecond)), err
}

func (c *cuda) sync(ctx context.Context, s uint64) error {
	if ctx.Done() == nil {
		return c.ctx.SyncStream(driver.Stream(s))
	}
	return poll(ctx, func() (bool, error) { return c.ctx.QueryStream(driver.Stream(s)) })
}

func (c *cuda) syncEvent(ctx context.Context, e uint64) error {
	if ctx.Done() == nil {
		return c.ctx.SyncEvent(driver.Event(e))
	}
	return poll(ctx, func() (bool, error) { return c.ctx.QueryEvent(driver.Event(e)) })
}

func (c *cuda) encode(t *driver.Tiled) (driver.TensorMap, error) { return c.ctx.EncodeTiled(t) }

func (c *cuda) compiler() string {
	n, err := c.nvrtc()
	if err != nil {
		return ""
	}
	return n.version()
}

func (c *cuda) close() error { return c.ctx.Release() }
