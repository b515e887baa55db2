package fake_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// A kernel of the fake is a Go function, which finds its memory by address.
func ExampleNew() {
	var d *fake.Driver
	d = fake.New(map[string]fake.Kernel{"increment": func(c driver.LaunchConfig, args unsafe.Pointer) driver.Result {
		x := d.Bytes(*(*driver.Ptr)(args), 4)
		binary.LittleEndian.PutUint32(x, binary.LittleEndian.Uint32(x)+1)
		return driver.Success
	}}, fake.H200)

	c, _ := d.Retain(0)
	m, _ := c.LoadModule([]byte("\x7fELF"))
	f, _ := c.Function(m, "increment")
	x, _ := c.Alloc(4)
	c.CopyIn(x, []byte{41, 0, 0, 0})
	s, _ := c.NewStream()
	err := c.Launch(f, driver.LaunchConfig{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}, unsafe.Pointer(&x))
	out := make([]byte, 4)
	c.CopyOut(out, x)
	fmt.Println(out, err, d.Count("cuLaunchKernelEx"))
	fmt.Println(d.Live()) // what was not given back
	// Output:
	// [42 0 0 0] <nil> 1
	// map[context:1 memory:1 module:1 stream:1]
}

// Any call can be made to fail, as it may on a machine.
func ExampleDriver_Fail() {
	d := fake.New(nil, fake.H200)
	c, _ := d.Retain(0)
	d.Fail("cuMemAlloc", 2, driver.OutOfMemory)
	_, first := c.Alloc(16)
	_, second := c.Alloc(16)
	fmt.Println(first, errors.Is(second, driver.OutOfMemory))
	fmt.Println(d.Failed())
	// Output:
	// <nil> true
	// [cuMemAlloc]
}
