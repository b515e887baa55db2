//go:build gorgonia && cgo && !nocuda && linux && (amd64 || arm64)

package gorgonia

import (
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
	"gorgonia.org/cu"
)

func (c *context) Alloc(bytes int) (p driver.Ptr, err error) {
	err = c.do("cuMemAlloc", func() error {
		made, err := cu.MemAlloc(int64(bytes))
		p = driver.Ptr(made)
		return err
	})
	return p, err
}

func (c *context) Free(p driver.Ptr) error {
	return c.do("cuMemFree", func() error { return cu.MemFree(cu.DevicePtr(p)) })
}

func (c *context) AllocAsync(bytes int, s driver.Stream) (driver.Ptr, error) {
	p, err := c.get("cuMemAllocAsync", func() (uint64, driver.Result) { return rawAllocAsync(bytes, s) })
	return driver.Ptr(p), err
}

func (c *context) FreeAsync(p driver.Ptr, s driver.Stream) error {
	return c.raw("cuMemFreeAsync", func() driver.Result { return rawFreeAsync(p, s) })
}

func (c *context) AllocHost(bytes int) ([]byte, error) {
	p, err := c.get("cuMemHostAlloc", func() (uint64, driver.Result) { return rawAllocHost(bytes) })
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), bytes), nil
}

func (c *context) FreeHost(b []byte) error {
	return c.do("cuMemFreeHost", func() error { return cu.MemFreeHost(host(b)) })
}

// host is the address of a slice's bytes.
func host(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

func (c *context) CopyIn(dst driver.Ptr, src []byte) error {
	return c.do("cuMemcpyHtoD", func() error { return cu.MemcpyHtoD(cu.DevicePtr(dst), host(src), int64(len(src))) })
}

func (c *context) CopyOut(dst []byte, src driver.Ptr) error {
	return c.do("cuMemcpyDtoH", func() error { return cu.MemcpyDtoH(host(dst), cu.DevicePtr(src), int64(len(dst))) })
}

func (c *context) Copy(dst, src driver.Ptr, bytes int) error {
	return c.do("cuMemcpyDtoD", func() error { return cu.MemcpyDtoD(cu.DevicePtr(dst), cu.DevicePtr(src), int64(bytes)) })
}

func (c *context) CopyInAsync(dst driver.Ptr, src []byte, s driver.Stream) error {
	return c.do("cuMemcpyHtoDAsync", func() error {
		return cu.MemcpyHtoDAsync(cu.DevicePtr(dst), host(src), int64(len(src)), stream(s))
	})
}

func (c *context) CopyOutAsync(dst []byte, src driver.Ptr, s driver.Stream) error {
	return c.do("cuMemcpyDtoHAsync", func() error {
		return cu.MemcpyDtoHAsync(host(dst), cu.DevicePtr(src), int64(len(dst)), stream(s))
	})
}

func (c *context) CopyAsync(dst, src driver.Ptr, bytes int, s driver.Stream) error {
	return c.do("cuMemcpyDtoDAsync", func() error {
		return cu.MemcpyDtoDAsync(cu.DevicePtr(dst), cu.DevicePtr(src), int64(bytes), stream(s))
	})
}

func (c *context) Set8Async(dst driver.Ptr, value uint8, n int, s driver.Stream) error {
	return c.do("cuMemsetD8Async", func() error { return cu.MemsetD8Async(cu.DevicePtr(dst), value, int64(n), stream(s)) })
}

func (c *context) Set32Async(dst driver.Ptr, value uint32, n int, s driver.Stream) error {
	return c.do("cuMemsetD32Async", func() error { return cu.MemsetD32Async(cu.DevicePtr(dst), uint(value), int64(n), stream(s)) })
}

func (c *context) EncodeTiled(t *driver.Tiled) (m driver.TensorMap, err error) {
	if err := t.Check(); err != nil {
		return m, err
	}
	err = c.raw("cuTensorMapEncodeTiled", func() driver.Result { return rawEncodeTiled(&m, t) })
	return m, err
}
