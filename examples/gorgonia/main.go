//go:build gorgonia && !gotilegen

// Command gorgonia is a program that holds a context, a stream and memory of gorgonia.org/cu, and uses gotile beside it:
// gotile's memory and stream go to gorgonia.org/cu, and its own go to a kernel of gotile. It is built with -tags
// gorgonia; runtime/driver/gorgonia says what that needs.
package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"unsafe"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/examples/softmax"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/gorgonia"
	"gorgonia.org/cu"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gorgonia:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer) (err error) {
	dev, err := cu.GetDevice(0)
	if err != nil {
		return err
	}
	ctx, err := dev.MakeContext(cu.SchedAuto)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ctx.Destroy()) }() // last: what follows lives in it

	name, drv, err := gorgonia.Adopt(ctx)
	if err != nil {
		return err
	}
	d, err := device.Open(name, device.WithDriver(drv))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	fmt.Fprintf(stdout, "%s (%s), in a context of gorgonia.org/cu\n", d.Info().Name, name)

	if err := ctx.Lock(); err != nil { // the calls of gorgonia.org/cu below want it current
		return err
	}
	defer func() { err = errors.Join(err, ctx.Unlock()) }()
	if err := handOut(stdout, d); err != nil {
		return err
	}
	return adopt(stdout, d)
}

// handOut has gorgonia.org/cu fill memory of gotile, on a stream of gotile.
func handOut(stdout io.Writer, d *device.Device) error {
	s := d.Stream()
	x, err := s.NewTensor(dtype.F32, 4)
	if err != nil {
		return err
	}
	defer x.Close()
	raw, err := s.Handle()
	if err != nil {
		return err
	}
	if err := cu.MemsetD32Async(cu.DevicePtr(x.Addr()), uint(math.Float32bits(1.5)), 4, gorgonia.StreamOf(raw)); err != nil {
		return err
	}
	got, err := device.DownloadFloats(s, x) // after it: it is one stream
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "gorgonia.org/cu wrote into a tensor of gotile: %v\n", got)
	return nil
}

// adopt runs a kernel of gotile on memory of gorgonia.org/cu, on a stream of gorgonia.org/cu.
func adopt(stdout io.Writer, d *device.Device) (err error) {
	stream, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Destroy()) }()
	rows := [...]float32{0, 0, 0, 0, 1, 2, 3, 4}
	const bytes = int64(unsafe.Sizeof(rows))
	ptr, err := cu.MemAlloc(bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cu.MemFree(ptr)) }()
	if err := cu.MemcpyHtoDAsync(ptr, unsafe.Pointer(&rows), bytes, stream); err != nil {
		return err
	}

	s, err := d.AdoptStream(gorgonia.Stream(stream))
	if err != nil {
		return err
	}
	defer s.Close() // before the stream is destroyed
	b, err := d.AdoptBuffer(driver.Ptr(ptr), int(bytes))
	if err != nil {
		return err
	}
	x, err := device.View(b, 0, dtype.F32, []int{2, 4}, nil)
	if err != nil {
		return err
	}
	if err := softmax.Forward(s, x, x); err != nil {
		return err
	}

	if err := stream.Synchronize(); err != nil {
		return err
	}
	if err := cu.MemcpyDtoH(unsafe.Pointer(&rows), ptr, bytes); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "gotile's softmax of memory of gorgonia.org/cu: %.4f\n", rows)
	return nil
}
