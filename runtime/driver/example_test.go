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
