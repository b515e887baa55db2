package drivertest_test

import (
	"fmt"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
	"github.com/gotile/gotile/runtime/driver/drivertest"
	"github.com/gotile/gotile/runtime/driver/fake"
)

// What a test of a caller compares the fake's tensor maps with.
func ExamplePlain() {
	m := drivertest.Plain(&driver.Tiled{
		Type: driver.TensorBF16, Addr: 0x1000, Dim: []uint64{4096, 128}, Stride: []uint64{8192}, Box: []uint32{64, 32},
		Swizzle: driver.TensorSwizzle128,
	})
	fmt.Printf("address %#x, %d x %d elements, rows %d bytes apart, box %#x\n", m[0], m[2], m[3], m[7], m[11])
	// Output: address 0x1000, 4096 x 128 elements, rows 8192 bytes apart, box 0x2000000040
}

// The test of a driver: a Machine says how its tests load the kernel that reports how it was launched.
func ExampleMachine() {
	drv := fake.New(nil, fake.H200)
	m := drivertest.Machine{Driver: drv, Image: drivertest.Image(drv), Immediate: true, Transparent: true}
	// In a test: drivertest.Run(t, m).
	n, err := m.Driver.DeviceCount()
	fmt.Println(n, err, unsafe.Sizeof(drivertest.ReportArgs{}))
	// Output: 1 <nil> 16
}
