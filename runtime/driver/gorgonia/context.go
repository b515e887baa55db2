//go:build gorgonia && cgo && !nocuda && linux && (amd64 || arm64)

package gorgonia

import (
	"runtime"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
	"gorgonia.org/cu"
)

// context is a context of gorgonia.org/cu.
type context struct {
	ctx     cu.CUContext
	dev     cu.Device
	adopted bool // not ours to release
}

func (c *context) Release() error {
	if c.adopted {
		return nil
	}
	return failed("cuDevicePrimaryCtxRelease", c.dev.ReleasePrimaryCtx())
}

// enter makes the context current on a locked thread, until leave; the program's own code may have another current
// there, which leave puts back.
func (c *context) enter() (entered int, err error) {
	runtime.LockOSThread()
	if entered = makeCurrent(c.ctx, !c.adopted); entered < 0 {
		runtime.UnlockOSThread()
		return entered, fail("cuCtxSetCurrent", driver.Result(-entered))
	}
	return entered, nil
}

func leave(entered int) {
	if entered > 0 {
		putBack()
	}
	runtime.UnlockOSThread()
}

// do makes a call of gorgonia.org/cu.
func (c *context) do(call string, f func() error) error {
	entered, err := c.enter()
	if err != nil {
		return err
	}
	err = f()
	leave(entered)
	return failed(call, err)
}

// raw makes a call of extra.go.
func (c *context) raw(call string, f func() driver.Result) error {
	entered, err := c.enter()
	if err != nil {
		return err
	}
	r := f()
	leave(entered)
	return fail(call, r)
}

// get is raw for a call that gives a number.
func (c *context) get(call string, f func() (uint64, driver.Result)) (v uint64, err error) {
	err = c.raw(call, func() (r driver.Result) { v, r = f(); return r })
	return v, err
}

// The handles of gorgonia.org/cu are structs of one pointer, which only its own functions make.

func module(m driver.Module) cu.Module       { return *(*cu.Module)(unsafe.Pointer(&m)) }
func function(f driver.Function) cu.Function { return *(*cu.Function)(unsafe.Pointer(&f)) }
func stream(s driver.Stream) cu.Stream       { return *(*cu.Stream)(unsafe.Pointer(&s)) }
func event(e driver.Event) cu.Event          { return *(*cu.Event)(unsafe.Pointer(&e)) }

func (c *context) LoadModule(image []byte) (driver.Module, error) {
	// Not cu.LoadData, which takes a string of C and ends a cubin at its first zero.
	m, err := c.get("cuModuleLoadData", func() (uint64, driver.Result) { return rawLoad(image) })
	return driver.Module(m), err
}

func (c *context) UnloadModule(m driver.Module) error {
	return c.do("cuModuleUnload", func() error { return module(m).Unload() })
}

func (c *context) Function(m driver.Module, name string) (f driver.Function, err error) {
	err = c.do("cuModuleGetFunction", func() error {
		fn, err := module(m).Function(name)
		f = *(*driver.Function)(unsafe.Pointer(&fn))
		return err
	})
	return f, err
}

func (c *context) Global(m driver.Module, name string) (p driver.Ptr, bytes int, err error) {
	err = c.do("cuModuleGetGlobal", func() error {
		at, n, err := module(m).Global(name)
		p, bytes = driver.Ptr(at), int(n)
		return err
	})
	return p, bytes, err
}

func (c *context) FunctionAttribute(f driver.Function, a driver.FunctionAttribute) (v int, err error) {
	err = c.do("cuFuncGetAttribute", func() (err error) {
		v, err = function(f).Attribute(cu.FunctionAttribute(a))
		return err
	})
	return v, err
}

func (c *context) SetFunctionAttribute(f driver.Function, a driver.FunctionAttribute, value int) error {
	return c.raw("cuFuncSetAttribute", func() driver.Result { return rawSetAttribute(f, a, value) })
}

func (c *context) MaxActiveBlocks(f driver.Function, threads, sharedBytes int) (n int, err error) {
	err = c.do("cuOccupancyMaxActiveBlocksPerMultiprocessor", func() (err error) {
		n, err = function(f).MaxActiveBlocksPerMultiProcessor(threads, int64(sharedBytes))
		return err
	})
	return n, err
}

func (c *context) MaxActiveClusters(f driver.Function, l driver.LaunchConfig) (int, error) {
	n, err := c.get("cuOccupancyMaxActiveClusters", func() (uint64, driver.Result) { return rawMaxClusters(f, l) })
	return int(n), err
}

func (c *context) NewStream() (s driver.Stream, err error) {
	err = c.do("cuStreamCreate", func() error {
		made, err := cu.MakeStream(cu.NonBlocking)
		s = Stream(made)
		return err
	})
	return s, err
}

func (c *context) DestroyStream(s driver.Stream) error {
	return c.do("cuStreamDestroy", func() error {
		old := stream(s)
		return old.Destroy()
	})
}

func (c *context) SyncStream(s driver.Stream) error {
	return c.do("cuStreamSynchronize", func() error { return stream(s).Synchronize() })
}

func (c *context) QueryStream(s driver.Stream) (bool, error) {
	// Not cu.Stream.Query: its error would be allocated at every question of a wait that polls.
	entered, err := c.enter()
	if err != nil {
		return false, err
	}
	r := rawQuery(s)
	leave(entered)
	if r == driver.NotReady {
		return false, nil
	}
	return r == driver.Success, fail("cuStreamQuery", r)
}

func (c *context) WaitEvent(s driver.Stream, e driver.Event) error {
	return c.do("cuStreamWaitEvent", func() error { return stream(s).Wait(event(e), 0) })
}

func (c *context) NewEvent() (e driver.Event, err error) {
	err = c.do("cuEventCreate", func() error {
		made, err := cu.MakeEvent(cu.DefaultEvent)
		e = *(*driver.Event)(unsafe.Pointer(&made))
		return err
	})
	return e, err
}

func (c *context) DestroyEvent(e driver.Event) error {
	return c.do("cuEventDestroy", func() error {
		old := event(e)
		return cu.DestroyEvent(&old)
	})
}

func (c *context) RecordEvent(e driver.Event, s driver.Stream) error {
	return c.do("cuEventRecord", func() error { return event(e).Record(stream(s)) })
}

func (c *context) SyncEvent(e driver.Event) error {
	return c.do("cuEventSynchronize", func() error { return event(e).Synchronize() })
}

func (c *context) QueryEvent(e driver.Event) (bool, error) {
	err := c.do("cuEventQuery", func() error { return event(e).Query() })
	if driver.CodeOf(err) == driver.NotReady {
		return false, nil
	}
	return err == nil, err
}

func (c *context) Elapsed(from, to driver.Event) (ms float32, err error) {
	err = c.do("cuEventElapsedTime", func() error {
		t, err := event(from).Elapsed(event(to))
		ms = float32(t)
		return err
	})
	return ms, err
}

func (c *context) Launch(f driver.Function, l driver.LaunchConfig, args unsafe.Pointer) error {
	// Not through raw: a launch allocates nothing.
	entered, err := c.enter()
	if err != nil {
		return err
	}
	r := rawLaunch(f, l, args)
	leave(entered)
	return fail("cuLaunchKernelEx", r)
}
