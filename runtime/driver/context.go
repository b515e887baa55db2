//go:build linux && (amd64 || arm64) && !nocuda

package driver

import "unsafe"

// context is a primary context of libcuda.
type context struct {
	lib *library
	dev uintptr // CUdevice
	ctx uintptr // CUcontext
}

func (c *context) Release() error {
	f := newFrame()
	defer f.done()
	f.args[0] = c.dev
	return c.lib.call(cuDevicePrimaryCtxRelease, f, 1)
}

// call calls p with up to six arguments and no result.
func (c *context) call(p proc, args ...uintptr) error {
	f := newFrame()
	defer f.done()
	n := copy(f.args[:], args)
	return c.lib.check(c.lib.callIn(c.ctx, p, f, n))
}

// callKeep is call with the address of host memory as argument at; the memory stays alive during the call.
func (c *context) callKeep(p proc, at int, host unsafe.Pointer, args ...uintptr) error {
	f := newFrame()
	defer f.done()
	n := copy(f.args[:], args)
	f.keep = host
	f.args[at] = uintptr(host)
	return c.lib.check(c.lib.callIn(c.ctx, p, f, n))
}

// create calls p, whose first parameter points to the handle or address that it returns.
func (c *context) create(p proc, args ...uintptr) (uintptr, error) {
	f := newFrame()
	defer f.done()
	f.out = 0
	f.args[0] = addr(&f.out)
	n := 1 + copy(f.args[1:], args)
	err := c.lib.check(c.lib.callIn(c.ctx, p, f, n))
	return f.out, err
}

// number calls p, whose first parameter points to the int that it returns.
func (c *context) number(p proc, args ...uintptr) (int, error) {
	f := newFrame()
	defer f.done()
	f.out4 = 0
	f.args[0] = addr(&f.out4)
	n := 1 + copy(f.args[1:], args)
	err := c.lib.check(c.lib.callIn(c.ctx, p, f, n))
	return int(f.out4), err
}

// query calls a function that returns NotReady while what it asks about is not done.
func (c *context) query(p proc, handle uintptr) (bool, error) {
	f := newFrame()
	defer f.done()
	f.args[0] = handle
	from, r := c.lib.callIn(c.ctx, p, f, 1)
	if r == NotReady {
		return false, nil
	}
	return r == Success, c.lib.check(from, r)
}

func (c *context) LoadModule(image []byte) (Module, error) {
	f := newFrame()
	defer f.done()
	f.keep = unsafe.Pointer(unsafe.SliceData(image))
	f.args[0], f.args[1] = addr(&f.out), uintptr(f.keep)
	err := c.lib.check(c.lib.callIn(c.ctx, cuModuleLoadData, f, 2))
	return Module(f.out), err
}

func (c *context) UnloadModule(m Module) error { return c.call(cuModuleUnload, uintptr(m)) }

func (c *context) Function(m Module, name string) (Function, error) {
	cname := append([]byte(name), 0)
	f := newFrame()
	defer f.done()
	f.keep = unsafe.Pointer(&cname[0])
	f.args[0], f.args[1], f.args[2] = addr(&f.out), uintptr(m), uintptr(f.keep)
	err := c.lib.check(c.lib.callIn(c.ctx, cuModuleGetFunction, f, 3))
	return Function(f.out), err
}

func (c *context) Global(m Module, name string) (Ptr, int, error) {
	cname := append([]byte(name), 0)
	f := newFrame()
	defer f.done()
	f.keep = unsafe.Pointer(&cname[0])
	f.args[0], f.args[1], f.args[2], f.args[3] = addr(&f.out), addr(&f.size), uintptr(m), uintptr(f.keep)
	err := c.lib.check(c.lib.callIn(c.ctx, cuModuleGetGlobal, f, 4))
	return Ptr(f.out), int(f.size), err
}

func (c *context) FunctionAttribute(f Function, a FunctionAttribute) (int, error) {
	return c.number(cuFuncGetAttribute, uintptr(a), uintptr(f))
}

func (c *context) SetFunctionAttribute(f Function, a FunctionAttribute, value int) error {
	return c.call(cuFuncSetAttribute, uintptr(f), uintptr(a), uintptr(value))
}

func (c *context) MaxActiveBlocks(f Function, threads, sharedBytes int) (int, error) {
	return c.number(cuOccupancyMaxActiveBlocks, uintptr(f), uintptr(threads), uintptr(sharedBytes))
}

func (c *context) MaxActiveClusters(fn Function, l LaunchConfig) (int, error) {
	f := newFrame()
	defer f.done()
	f.out4 = 0
	f.setConfig(l)
	f.args[0], f.args[1], f.args[2] = addr(&f.out4), uintptr(fn), addr(&f.config)
	err := c.lib.check(c.lib.callIn(c.ctx, cuOccupancyMaxActiveClusters, f, 3))
	return int(f.out4), err
}

func (c *context) Alloc(bytes int) (Ptr, error) {
	p, err := c.create(cuMemAlloc, uintptr(bytes))
	return Ptr(p), err
}

func (c *context) Free(p Ptr) error { return c.call(cuMemFree, uintptr(p)) }

func (c *context) AllocAsync(bytes int, s Stream) (Ptr, error) {
	p, err := c.create(cuMemAllocAsync, uintptr(bytes), uintptr(s))
	return Ptr(p), err
}

func (c *context) FreeAsync(p Ptr, s Stream) error {
	return c.call(cuMemFreeAsync, uintptr(p), uintptr(s))
}

func (c *context) AllocHost(bytes int) ([]byte, error) {
	f := newFrame()
	defer f.done()
	f.text = nil
	f.args[0], f.args[1], f.args[2] = addr(&f.text), uintptr(bytes), 0
	if err := c.lib.check(c.lib.callIn(c.ctx, cuMemHostAlloc, f, 3)); err != nil {
		return nil, err
	}
	return unsafe.Slice(f.text, bytes), nil
}

func (c *context) FreeHost(b []byte) error {
	return c.callKeep(cuMemFreeHost, 0, unsafe.Pointer(unsafe.SliceData(b)), 0)
}

func (c *context) CopyIn(dst Ptr, src []byte) error {
	return c.callKeep(cuMemcpyHtoD, 1, unsafe.Pointer(unsafe.SliceData(src)), uintptr(dst), 0, uintptr(len(src)))
}

func (c *context) CopyOut(dst []byte, src Ptr) error {
	return c.callKeep(cuMemcpyDtoH, 0, unsafe.Pointer(unsafe.SliceData(dst)), 0, uintptr(src), uintptr(len(dst)))
}

func (c *context) Copy(dst, src Ptr, bytes int) error {
	return c.call(cuMemcpyDtoD, uintptr(dst), uintptr(src), uintptr(bytes))
}

func (c *context) CopyInAsync(dst Ptr, src []byte, s Stream) error {
	return c.callKeep(cuMemcpyHtoDAsync, 1, unsafe.Pointer(unsafe.SliceData(src)), uintptr(dst), 0, uintptr(len(src)), uintptr(s))
}

func (c *context) CopyOutAsync(dst []byte, src Ptr, s Stream) error {
	return c.callKeep(cuMemcpyDtoHAsync, 0, unsafe.Pointer(unsafe.SliceData(dst)), 0, uintptr(src), uintptr(len(dst)), uintptr(s))
}

func (c *context) CopyAsync(dst, src Ptr, bytes int, s Stream) error {
	return c.call(cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), uintptr(s))
}

func (c *context) Set8Async(dst Ptr, value uint8, n int, s Stream) error {
	return c.call(cuMemsetD8Async, uintptr(dst), uintptr(value), uintptr(n), uintptr(s))
}

func (c *context) Set32Async(dst Ptr, value uint32, n int, s Stream) error {
	return c.call(cuMemsetD32Async, uintptr(dst), uintptr(value), uintptr(n), uintptr(s))
}

// streamNonBlocking is CU_STREAM_NON_BLOCKING.
const streamNonBlocking = 1

func (c *context) NewStream() (Stream, error) {
	s, err := c.create(cuStreamCreate, streamNonBlocking)
	return Stream(s), err
}

func (c *context) DestroyStream(s Stream) error { return c.call(cuStreamDestroy, uintptr(s)) }
func (c *context) SyncStream(s Stream) error    { return c.call(cuStreamSynchronize, uintptr(s)) }

func (c *context) QueryStream(s Stream) (bool, error) { return c.query(cuStreamQuery, uintptr(s)) }

func (c *context) WaitEvent(s Stream, e Event) error {
	return c.call(cuStreamWaitEvent, uintptr(s), uintptr(e), 0)
}

func (c *context) NewEvent() (Event, error) {
	e, err := c.create(cuEventCreate, 0)
	return Event(e), err
}

func (c *context) DestroyEvent(e Event) error { return c.call(cuEventDestroy, uintptr(e)) }
func (c *context) SyncEvent(e Event) error    { return c.call(cuEventSynchronize, uintptr(e)) }

func (c *context) QueryEvent(e Event) (bool, error) { return c.query(cuEventQuery, uintptr(e)) }

func (c *context) RecordEvent(e Event, s Stream) error {
	return c.call(cuEventRecord, uintptr(e), uintptr(s))
}

func (c *context) Elapsed(from, to Event) (float32, error) {
	f := newFrame()
	defer f.done()
	f.args[0], f.args[1], f.args[2] = addr(&f.outf), uintptr(from), uintptr(to)
	err := c.lib.check(c.lib.callIn(c.ctx, cuEventElapsedTime, f, 3))
	return f.outf, err
}

func (c *context) Launch(fn Function, l LaunchConfig, args unsafe.Pointer) error {
	f := newFrame()
	f.setConfig(l)
	f.params[0] = args
	f.args[0], f.args[1], f.args[2], f.args[3] = addr(&f.config), uintptr(fn), addr(&f.params), 0
	err := c.lib.check(c.lib.callIn(c.ctx, cuLaunchKernelEx, f, 4))
	f.done()
	return err
}
