package driver_test

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// What driver.Open gives on a machine with a GPU is used like this; the fake stands in for it here.
func ExampleDriver() {
	var d driver.Driver = fake.New(nil, fake.H200)
	name, _ := d.DeviceName(0)
	sms, _ := d.DeviceAttribute(0, driver.MultiprocessorCount)
	fmt.Println(name, sms)

	c, err := d.Retain(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Release()
	p, _ := c.Alloc(4)
	defer c.Free(p)
	s, _ := c.NewStream()
	defer c.DestroyStream(s)
	c.Set8Async(p, 7, 4, s)
	c.SyncStream(s)
	out := make([]byte, 4)
	c.CopyOut(out, p)
	fmt.Println(out)
	// Output:
	// NVIDIA H200 132
	// [7 7 7 7]
}

// The code of a failed call is a target of errors.Is.
func ExampleResult() {
	var err error = &driver.Error{Call: "cuMemAlloc", Code: driver.OutOfMemory}
	err = fmt.Errorf("weights: %w", err)
	fmt.Println(errors.Is(err, driver.OutOfMemory), driver.CodeOf(err), driver.CodeOf(err).Sticky())
	fmt.Println(err)
	fmt.Println(driver.IllegalAddress.Sticky()) // nothing works after it
	// Output:
	// true CUDA_ERROR_OUT_OF_MEMORY false
	// weights: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY
	// true
}

// A tensor map describes a tensor of up to five dimensions, innermost first, and the box of it that one copy moves.
// Check names the rule that a description breaks.
func ExampleTiled() {
	t := driver.Tiled{
		Type: driver.TensorBF16, Addr: 1 << 20,
		Dim: []uint64{4096, 512}, Stride: []uint64{4096 * 2}, // 512 rows of 4096 elements
		Box: []uint32{64, 128}, Swizzle: driver.TensorSwizzle128,
	}
	fmt.Println(t.Check())
	t.Box[0] = 128
	fmt.Println(t.Check())
	// Output:
	// <nil>
	// cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE (a row of the box is 256 bytes; the swizzle takes 128: split the box into panels, or use a wider swizzle)
}

// What is queued on a stream between BeginCapture and EndCapture becomes a graph, which is launched as one.
func ExampleContext() {
	d := fake.New(nil, fake.H200)
	c, err := d.Retain(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Release()
	p, _ := c.Alloc(4)
	s, _ := c.NewStream()
	c.BeginCapture(s)
	c.Set8Async(p, 1, 4, s)
	c.Set8Async(p, 2, 2, s)
	g, err := c.EndCapture(s)
	nodes, _ := c.GraphNodes(g)
	fmt.Println(nodes, "nodes", err)

	exec, _ := c.Instantiate(g)
	c.LaunchGraph(exec, s)
	c.SyncStream(s)
	out := make([]byte, 4)
	c.CopyOut(out, p)
	fmt.Println(out)
	// Output:
	// 2 nodes <nil>
	// [2 2 1 1]
}

// Where there is no driver, the error says so, and of what kind it is; package device then has the simulator alone.
func ExampleOpen() {
	d, err := driver.Open()
	switch {
	case err == nil:
		v, err := d.Version() // 13000: CUDA 13.0
		fmt.Println(v >= 12000, err)
	default:
		_, asked := errors.AsType[*driver.Error](err) // libcuda was there, and refused
		fmt.Println(asked || errors.Is(err, driver.ErrNoLibrary) || errors.Is(err, errors.ErrUnsupported), nil)
	}
	// Output: true <nil>
}
