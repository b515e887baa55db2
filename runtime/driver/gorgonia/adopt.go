//go:build gorgonia && cgo && !nocuda && linux && (amd64 || arm64)

package gorgonia

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
	"gorgonia.org/cu"
)

// Adopt makes a driver of a context that the program holds, such as the CUDAContext of a cu.Context, and gives the name
// of its device for device.Open, "cuda:0". The driver has no other context: a device of it works in the program's, which
// must outlive the device, and which the device does not destroy. The calls of the device set the context on whatever
// thread they come from, and put back what the thread had; they do not go through the goroutine of a cu.Ctx.
func Adopt(ctx cu.CUContext) (name string, drv driver.Driver, err error) {
	if ctx == (cu.CUContext{}) {
		return "", nil, errors.New("gorgonia: Adopt of the zero cu.CUContext; make one with cu.NewContext or Device.MakeContext")
	}
	c := &context{ctx: ctx, adopted: true}
	v, err := c.get("cuCtxGetDevice", deviceOf)
	if err != nil {
		return "", nil, err
	}
	c.dev = cu.Device(v)
	n, err := library{}.DeviceCount()
	if err != nil {
		return "", nil, err
	}
	for i := range n { // a CUdevice need not be the number that cuDeviceGet takes
		if d, err := device(i); err != nil {
			return "", nil, err
		} else if d == c.dev {
			return fmt.Sprintf("cuda:%d", i), &adopted{ctx: c, dev: i}, nil
		}
	}
	return "", nil, fmt.Errorf("gorgonia: the context is of CUdevice %d, which is none of the %d devices that the driver lists", v, n)
}

// adopted is the driver of one context.
type adopted struct {
	library
	ctx *context
	dev int
}

func (a *adopted) Retain(dev int) (driver.Context, error) {
	if dev != a.dev {
		return nil, &driver.Error{Call: "Retain", Code: driver.InvalidDevice, Text: fmt.Sprintf("the adopted context is of device %d, not %d", a.dev, dev)}
	}
	return a.ctx, nil
}

// ContextOf is a context of this package as gorgonia.org/cu knows it, to make current (CUContext.Lock,
// cu.SetCurrentContext) or to build a cu.Ctx of (cu.CtxFromCUContext). It is valid while the device is open, and not to
// be destroyed. Contexts of other drivers are an error.
func ContextOf(c driver.Context) (cu.CUContext, error) {
	own, ok := c.(*context)
	if !ok {
		return cu.CUContext{}, fmt.Errorf("gorgonia: ContextOf a %T, which is not of this package: open the device in a build with -tags gorgonia", c)
	}
	return own.ctx, nil
}

// Stream is a stream of gorgonia.org/cu for Device.AdoptStream. That of cu.NoStream is the legacy default stream.
func Stream(s cu.Stream) driver.Stream { return *(*driver.Stream)(unsafe.Pointer(&s)) }

// StreamOf is a stream of a device, by its Handle, for gorgonia.org/cu. Who owns it destroys it.
func StreamOf(s driver.Stream) cu.Stream { return stream(s) }
