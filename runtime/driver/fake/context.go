package fake

import (
	"bytes"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
)

// context is a driver.Context.
type context struct {
	*Driver
	dev    int
	device Device
	self   uintptr
}

// do runs one call: f returns the result.
func (c *context) do(call string, f func() driver.Result) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.enter(call); err != nil {
		return err
	}
	if c.live[c.self] != "context" {
		return fail(call, driver.InvalidContext)
	}
	if r := f(); r != driver.Success {
		if r.Sticky() {
			c.sticky = r
		}
		return fail(call, r)
	}
	return nil
}

// valid is Success where ok, else code.
func valid(ok bool, code driver.Result) driver.Result {
	if ok {
		return driver.Success
	}
	return code
}

func (c *context) Release() error {
	return c.do("cuDevicePrimaryCtxRelease", func() driver.Result {
		return valid(c.drop("context", c.self), driver.InvalidContext)
	})
}

func (c *context) LoadModule(image []byte) (m driver.Module, err error) {
	err = c.do("cuModuleLoadData", func() driver.Result {
		if !bytes.HasPrefix(image, []byte("\x7fELF")) {
			return driver.InvalidImage
		}
		m = driver.Module(c.handle("module"))
		for name, n := range c.vars {
			c.globals[global{m, name}] = c.place(n)
		}
		c.images = append(c.images, bytes.Clone(image))
		return driver.Success
	})
	return m, err
}

func (c *context) UnloadModule(m driver.Module) error {
	return c.do("cuModuleUnload", func() driver.Result {
		for g, p := range c.globals {
			if g.module == m {
				delete(c.mem, p)
				delete(c.globals, g)
			}
		}
		return valid(c.drop("module", uintptr(m)), driver.InvalidHandle)
	})
}

func (c *context) Function(m driver.Module, name string) (f driver.Function, err error) {
	err = c.do("cuModuleGetFunction", func() driver.Result {
		if c.live[uintptr(m)] != "module" {
			return driver.InvalidHandle
		}
		if c.kernels[name] == nil {
			return driver.NotFound
		}
		c.next += 0x10
		f = driver.Function(c.next)
		c.funcs[f] = &function{name: name, module: m, shared: 48 << 10}
		return driver.Success
	})
	return f, err
}

// global is a variable of a module.
type global struct {
	module driver.Module
	name   string
}

func (c *context) Global(m driver.Module, name string) (p driver.Ptr, n int, err error) {
	err = c.do("cuModuleGetGlobal", func() driver.Result {
		if c.live[uintptr(m)] != "module" {
			return driver.InvalidHandle
		}
		p = c.globals[global{m, name}]
		n = len(c.mem[p])
		return valid(p != 0, driver.NotFound)
	})
	return p, n, err
}

// function finds a function whose module is loaded.
func (c *context) function(f driver.Function) *function {
	if fn := c.funcs[f]; fn != nil && c.live[uintptr(fn.module)] == "module" {
		return fn
	}
	return nil
}

func (c *context) FunctionAttribute(f driver.Function, a driver.FunctionAttribute) (v int, err error) {
	err = c.do("cuFuncGetAttribute", func() driver.Result {
		fn := c.function(f)
		if fn == nil {
			return driver.InvalidHandle
		}
		switch a {
		case driver.FunctionMaxThreads:
			v = 1024
		case driver.FunctionRegisters:
			v = 32
		case driver.MaxDynamicShared:
			v = fn.shared
		}
		return driver.Success
	})
	return v, err
}

func (c *context) SetFunctionAttribute(f driver.Function, a driver.FunctionAttribute, v int) error {
	return c.do("cuFuncSetAttribute", func() driver.Result {
		fn := c.function(f)
		if fn == nil {
			return driver.InvalidHandle
		}
		if a != driver.MaxDynamicShared || v < 0 || v > c.device.Shared {
			return driver.InvalidValue
		}
		fn.shared = v
		return driver.Success
	})
}

// blocksPerSM is what an SM holds of a launch.
func (c *context) blocksPerSM(threads, shared int) int {
	n := c.device.ThreadsPerSM / threads
	if shared > 0 {
		n = min(n, (c.device.Shared+1024)/(shared+1024)) // the hardware keeps 1 KB a block
	}
	return n
}

func (c *context) MaxActiveBlocks(f driver.Function, threads, shared int) (n int, err error) {
	err = c.do("cuOccupancyMaxActiveBlocksPerMultiprocessor", func() driver.Result {
		if c.function(f) == nil {
			return driver.InvalidHandle
		}
		if threads <= 0 {
			return driver.InvalidValue
		}
		n = c.blocksPerSM(threads, shared)
		return driver.Success
	})
	return n, err
}

// gpcSMs is the size of the groups of SMs that a cluster lies within.
const gpcSMs = 16

func (c *context) MaxActiveClusters(f driver.Function, l driver.LaunchConfig) (n int, err error) {
	err = c.do("cuOccupancyMaxActiveClusters", func() driver.Result {
		cluster, threads := int(l.Cluster[0]), int(l.Block[0])
		switch {
		case c.function(f) == nil:
			return driver.InvalidHandle
		case threads <= 0 || l.Grid[0] == 0:
			return driver.InvalidValue
		case cluster < 1 || cluster > 8 || int(l.Grid[0])%cluster != 0:
			return driver.InvalidClusterSize
		}
		perSM := c.blocksPerSM(threads, int(l.Shared))
		for sms := c.device.SMs; sms > 0; sms -= gpcSMs {
			n += min(sms, gpcSMs) * perSM / cluster
		}
		return driver.Success
	})
	return n, err
}

func (c *context) Alloc(n int) (p driver.Ptr, err error) {
	err = c.do("cuMemAlloc", func() driver.Result { return c.reserve(n, &p) })
	return p, err
}

// reserve makes memory.
func (c *context) reserve(n int, p *driver.Ptr) driver.Result {
	if n <= 0 {
		return driver.InvalidValue
	}
	if c.used[c.dev]+int64(n) > c.device.Memory {
		return driver.OutOfMemory
	}
	*p = c.place(n)
	c.live[uintptr(*p)] = "memory"
	c.used[c.dev] += int64(n)
	return driver.Success
}

// place finds an address for memory of n bytes.
func (c *context) place(n int) driver.Ptr {
	c.next = (c.next + 511) &^ 255 // a gap and the driver's alignment
	p := driver.Ptr(c.next)
	c.next += uintptr(n)
	c.mem[p] = make([]byte, n)
	return p
}

func (c *context) Free(p driver.Ptr) error {
	return c.do("cuMemFree", func() driver.Result { return c.release(p) })
}

func (c *context) release(p driver.Ptr) driver.Result {
	if !c.drop("memory", uintptr(p)) {
		return driver.InvalidValue
	}
	c.used[c.dev] -= int64(len(c.mem[p]))
	delete(c.mem, p)
	return driver.Success
}

// AllocAsync refuses a stream that captures: the driver makes nodes of it, for which gotile has no use.
func (c *context) AllocAsync(n int, s driver.Stream) (p driver.Ptr, err error) {
	err = c.do("cuMemAllocAsync", func() driver.Result {
		if c.captures[s] != nil {
			return driver.NotSupported
		}
		if r := valid(c.live[uintptr(s)] == "stream", driver.InvalidHandle); r != driver.Success {
			return r
		}
		return c.reserve(n, &p)
	})
	return p, err
}

func (c *context) FreeAsync(p driver.Ptr, s driver.Stream) error {
	return c.do("cuMemFreeAsync", func() driver.Result {
		if c.captures[s] != nil {
			return driver.NotSupported
		}
		if r := valid(c.live[uintptr(s)] == "stream", driver.InvalidHandle); r != driver.Success {
			return r
		}
		return c.release(p)
	})
}

func (c *context) AllocHost(n int) (b []byte, err error) {
	err = c.do("cuMemHostAlloc", func() driver.Result {
		if n <= 0 {
			return driver.InvalidValue
		}
		if int64(n) > c.device.Memory { // the host has as much
			return driver.OutOfMemory
		}
		b = make([]byte, n)
		c.hosts[unsafe.SliceData(b)] = c.handle("host memory")
		return driver.Success
	})
	return b, err
}

func (c *context) FreeHost(b []byte) error {
	return c.do("cuMemFreeHost", func() driver.Result {
		at := unsafe.SliceData(b)
		h := c.hosts[at]
		delete(c.hosts, at)
		return valid(c.drop("host memory", h), driver.InvalidValue)
	})
}

// copyIn and copyOut are refused where the stream captures; s is 0 where there is none.
func (c *context) copyIn(call string, dst driver.Ptr, src []byte, s driver.Stream) error {
	return c.do(call, func() driver.Result {
		if c.breaks(uintptr(s)) {
			return driver.CaptureUnsupported
		}
		d := c.Bytes(dst, len(src))
		copy(d, src)
		return valid(d != nil, driver.InvalidValue)
	})
}

func (c *context) copyOut(call string, dst []byte, src driver.Ptr, s driver.Stream) error {
	return c.do(call, func() driver.Result {
		if c.breaks(uintptr(s)) {
			return driver.CaptureUnsupported
		}
		b := c.Bytes(src, len(dst))
		copy(dst, b)
		return valid(b != nil, driver.InvalidValue)
	})
}

// move is a copy within the device.
func (c *context) move(dst, src driver.Ptr, n int) driver.Result {
	d, s := c.Bytes(dst, n), c.Bytes(src, n)
	copy(d, s)
	return valid(d != nil && s != nil, driver.InvalidValue)
}

func (c *context) CopyIn(dst driver.Ptr, src []byte) error {
	return c.copyIn("cuMemcpyHtoD", dst, src, 0)
}

func (c *context) CopyOut(dst []byte, src driver.Ptr) error {
	return c.copyOut("cuMemcpyDtoH", dst, src, 0)
}

func (c *context) Copy(dst, src driver.Ptr, n int) error {
	return c.do("cuMemcpyDtoD", func() driver.Result { return c.move(dst, src, n) })
}

func (c *context) CopyInAsync(dst driver.Ptr, src []byte, s driver.Stream) error {
	return c.copyIn("cuMemcpyHtoDAsync", dst, src, s)
}

func (c *context) CopyOutAsync(dst []byte, src driver.Ptr, s driver.Stream) error {
	return c.copyOut("cuMemcpyDtoHAsync", dst, src, s)
}

func (c *context) CopyAsync(dst, src driver.Ptr, n int, s driver.Stream) error {
	return c.queue("cuMemcpyDtoDAsync", s, func() driver.Result { return c.move(dst, src, n) })
}

func (c *context) Set8Async(dst driver.Ptr, value uint8, n int, s driver.Stream) error {
	return c.queue("cuMemsetD8Async", s, func() driver.Result {
		b := c.Bytes(dst, n)
		for i := range b {
			b[i] = value
		}
		return valid(b != nil, driver.InvalidValue)
	})
}

func (c *context) Set32Async(dst driver.Ptr, value uint32, n int, s driver.Stream) error {
	return c.queue("cuMemsetD32Async", s, func() driver.Result {
		b := c.Bytes(dst, 4*n)
		if b == nil || dst%4 != 0 {
			return driver.InvalidValue
		}
		for i := range n {
			*(*uint32)(unsafe.Pointer(&b[4*i])) = value
		}
		return driver.Success
	})
}

func (c *context) Launch(f driver.Function, l driver.LaunchConfig, args unsafe.Pointer) error {
	// Not through do: a launch allocates nothing.
	const call = "cuLaunchKernelEx"
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.enter(call); err != nil {
		return err
	}
	fn := c.function(f)
	threads := l.Block[0] * l.Block[1] * l.Block[2]
	switch {
	case fn == nil || c.live[uintptr(l.Stream)] != "stream":
		return fail(call, driver.InvalidHandle)
	case l.Grid[0]*l.Grid[1]*l.Grid[2] == 0 || threads == 0 || threads > 1024 || int(l.Shared) > fn.shared || args == nil:
		return fail(call, driver.InvalidValue)
	}
	if cap := c.captures[l.Stream]; cap != nil {
		if r := c.record(cap, fn, l, args); r != driver.Success {
			return fail(call, r)
		}
		return nil
	}
	if r := c.kernels[fn.name](l, args); r != driver.Success {
		// A kernel's failure shows at the next synchronisation.
		c.sticky = r
	}
	return nil
}
