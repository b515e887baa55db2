//go:build gorgonia && cgo && !nocuda && linux && (amd64 || arm64)

package gorgonia

import (
	"errors"

	"github.com/gotile/gotile/runtime/driver"
	"gorgonia.org/cu"
)

// Open gives the driver over the devices' primary contexts. It does not fail: a process in which it could has ended
// already.
func Open() (driver.Driver, error) { return library{}, nil }

// library is the driver; gorgonia.org/cu holds its state.
type library struct{}

// Binding is how receipts and results call the driver.
func (library) Binding() string { return "gorgonia" }

// code is the result behind an error of gorgonia.org/cu, whose type has no exported name.
func code(err error) driver.Result {
	r := cu.Success
	switch {
	case err == nil:
		return driver.Success
	case errors.As(err, &r):
		return driver.Result(r)
	}
	return driver.Result(cu.Unknown)
}

// fail is the error of a C function; nil for Success.
func fail(call string, r driver.Result) error {
	if r == driver.Success {
		return nil
	}
	return &driver.Error{Call: call, Code: r, Name: text(r, false), Text: text(r, true)}
}

// failed is fail for an error of gorgonia.org/cu.
func failed(call string, err error) error { return fail(call, code(err)) }

func (library) Version() (int, error) {
	v := cu.Version()
	if v < 0 { // the code is lost
		return 0, fail("cuDriverGetVersion", driver.Result(cu.Unknown))
	}
	return v, nil
}

func (library) DeviceCount() (int, error) {
	n, err := cu.NumDevices()
	return n, failed("cuDeviceGetCount", err)
}

func device(dev int) (cu.Device, error) {
	d, err := cu.GetDevice(dev)
	return d, failed("cuDeviceGet", err)
}

func (library) DeviceName(dev int) (string, error) {
	d, err := device(dev)
	if err != nil {
		return "", err
	}
	name, err := d.Name()
	return name, failed("cuDeviceGetName", err)
}

func (library) DeviceMemory(dev int) (int64, error) {
	d, err := device(dev)
	if err != nil {
		return 0, err
	}
	n, err := d.TotalMem()
	return n, failed("cuDeviceTotalMem", err)
}

func (library) DeviceAttribute(dev int, a driver.DeviceAttribute) (int, error) {
	d, err := device(dev)
	if err != nil {
		return 0, err
	}
	v, err := d.Attribute(cu.DeviceAttribute(a))
	return v, failed("cuDeviceGetAttribute", err)
}

func (library) Retain(dev int) (driver.Context, error) {
	d, err := device(dev)
	if err != nil {
		return nil, err
	}
	ctx, err := d.RetainPrimaryCtx()
	if err != nil {
		return nil, failed("cuDevicePrimaryCtxRetain", err)
	}
	return &context{ctx: ctx, dev: d}, nil
}
