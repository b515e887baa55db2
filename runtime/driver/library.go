//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"bytes"
	"unsafe"
)

func (l *library) Version() (int, error) {
	f := newFrame()
	defer f.done()
	f.args[0] = addr(&f.out4)
	err := l.call(cuDriverGetVersion, f, 1)
	return int(f.out4), err
}

func (l *library) DeviceCount() (int, error) {
	f := newFrame()
	defer f.done()
	f.args[0] = addr(&f.out4)
	err := l.call(cuDeviceGetCount, f, 1)
	return int(f.out4), err
}

// device turns a number into a CUdevice.
func (l *library) device(dev int) (uintptr, error) {
	f := newFrame()
	defer f.done()
	f.args[0], f.args[1] = addr(&f.out4), uintptr(dev)
	err := l.call(cuDeviceGet, f, 2)
	return uintptr(f.out4), err
}

func (l *library) DeviceName(dev int) (string, error) {
	d, err := l.device(dev)
	if err != nil {
		return "", err
	}
	f := newFrame()
	defer f.done()
	buf := make([]byte, 256)
	f.keep = unsafe.Pointer(&buf[0])
	f.args[0], f.args[1], f.args[2] = uintptr(f.keep), uintptr(len(buf)), d
	if err := l.call(cuDeviceGetName, f, 3); err != nil {
		return "", err
	}
	name, _, _ := bytes.Cut(buf, []byte{0})
	return string(name), nil
}

func (l *library) DeviceMemory(dev int) (int64, error) {
	d, err := l.device(dev)
	if err != nil {
		return 0, err
	}
	f := newFrame()
	defer f.done()
	f.args[0], f.args[1] = addr(&f.out), d
	err = l.call(cuDeviceTotalMem, f, 2)
	return int64(f.out), err
}

func (l *library) DeviceAttribute(dev int, a DeviceAttribute) (int, error) {
	d, err := l.device(dev)
	if err != nil {
		return 0, err
	}
	f := newFrame()
	defer f.done()
	f.args[0], f.args[1], f.args[2] = addr(&f.out4), uintptr(a), d
	err = l.call(cuDeviceGetAttribute, f, 3)
	return int(f.out4), err
}

func (l *library) Retain(dev int) (Context, error) {
	d, err := l.device(dev)
	if err != nil {
		return nil, err
	}
	f := newFrame()
	defer f.done()
	f.args[0], f.args[1] = addr(&f.out), d
	if err := l.call(cuDevicePrimaryCtxRetain, f, 2); err != nil {
		return nil, err
	}
	return &context{lib: l, dev: d, ctx: f.out}, nil
}
