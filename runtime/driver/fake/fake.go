// Package fake is a CUDA driver for tests: memory is Go memory, kernels are Go functions that a launch runs at once,
// calls are counted, and any call can be made to fail. It is strict where libcuda is: handles and addresses must be
// live, copies in bounds, dynamic shared memory above 48 KB asked for, and a sticky error stays.
package fake

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
)

// Device describes one device of the fake.
type Device struct {
	Name         string
	Memory       int64 // bytes
	Major, Minor int   // compute capability
	SMs          int
	ThreadsPerSM int
	Shared       int // bytes of dynamic shared memory a block can ask for
	L2           int // bytes
}

// H200 is a device like the one that gotile is measured on, with a small memory.
var H200 = Device{Name: "NVIDIA H200", Memory: 1 << 28, Major: 9, Minor: 0, SMs: 132, ThreadsPerSM: 2048, Shared: 227 << 10, L2: 60 << 20}

// Kernel is what a launch runs. It finds memory with Driver.Bytes.
type Kernel func(c driver.LaunchConfig, args unsafe.Pointer) driver.Result

// Driver is a driver.Driver.
type Driver struct {
	devices []Device
	kernels map[string]Kernel

	mu      sync.Mutex
	counts  map[string]int
	faults  []*fault
	images  [][]byte // of the modules that were loaded
	failed  []string // calls that faults made fail
	mem     map[driver.Ptr][]byte
	used    []int64           // bytes, by device
	next    uintptr           // of all handles and addresses
	hosts   map[*byte]uintptr // handles of pinned memory
	live    map[uintptr]string
	funcs   map[driver.Function]*function
	sticky  driver.Result
	held    bool
	clock   map[driver.Event]float32
	args    map[string]int // bytes of a kernel's argument struct
	globals map[global]driver.Ptr
	vars    map[string]int // variables of every module, with their sizes

	captures map[driver.Stream]*capture
	graphs   map[uintptr][]node // of graphs and of what they were instantiated to
	now      float32
}

type fault struct {
	call string
	left int
	code driver.Result
}

type function struct {
	name   string
	module driver.Module
	shared int // MaxDynamicShared
}

// New gives a driver with devices and the kernels that its modules hold; every module holds all.
func New(kernels map[string]Kernel, devices ...Device) *Driver {
	return &Driver{
		devices: devices, kernels: maps.Clone(kernels), counts: map[string]int{}, mem: map[driver.Ptr][]byte{},
		used: make([]int64, len(devices)), next: 0x10000, live: map[uintptr]string{},
		funcs: map[driver.Function]*function{}, clock: map[driver.Event]float32{}, args: map[string]int{}, vars: map[string]int{}, globals: map[global]driver.Ptr{}, hosts: map[*byte]uintptr{},
		captures: map[driver.Stream]*capture{}, graphs: map[uintptr][]node{},
	}
}

// Fail makes the n-th call from now (1: the next) of a C function fail with a code; an empty name counts all calls.
func (d *Driver) Fail(call string, n int, code driver.Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, &fault{call, n, code})
}

// Variable gives every module that is loaded from now on a variable of so many bytes, which are 0 at first.
func (d *Driver) Variable(name string, bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.vars[name] = bytes
}

// Values are the bytes of a variable in each module that is loaded. Kernels may call it.
func (d *Driver) Values(name string) [][]byte {
	var out [][]byte
	for g, p := range d.globals {
		if g.name == name {
			out = append(out, d.mem[p])
		}
	}
	return out
}

// Host is pinned memory by its address, which is the one that kernels use. Kernels may call it.
func (d *Driver) Host(addr uint64, n int) []byte {
	for first, h := range d.hosts {
		if uint64(uintptr(unsafe.Pointer(first))) == addr && d.live[h] != "" {
			return unsafe.Slice(first, n)
		}
	}
	return nil
}

// Count is how often a C function was called, failures included; an empty name counts all calls.
func (d *Driver) Count(call string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if call != "" {
		return d.counts[call]
	}
	n := 0
	for _, c := range d.counts {
		n += c
	}
	return n
}

// Failed lists the calls that Fail made fail.
func (d *Driver) Failed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.failed)
}

// Images lists what LoadModule was given, and took.
func (d *Driver) Images() [][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.images)
}

// Live counts the handles not given back yet, by kind: memory, stream, event, module, context,
// graph, exec, host memory.
func (d *Driver) Live() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[string]int{}
	for _, kind := range d.live {
		out[kind]++
	}
	return out
}

// Hold makes streams and events not ready, as if a kernel ran on, until it is called with false. Waiting for one
// while held fails with LaunchFailed instead of hanging.
func (d *Driver) Hold(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = on
}

// Bytes is the memory from p on; nil where n bytes there are not of one allocation. Kernels may call it.
func (d *Driver) Bytes(p driver.Ptr, n int) []byte {
	for base, b := range d.mem {
		if p >= base && uint64(p-base)+uint64(n) <= uint64(len(b)) {
			return b[p-base:][:n:n]
		}
	}
	return nil
}

// enter counts a call and gives its error: an injected one, or the sticky one. It is called with d.mu held.
func (d *Driver) enter(call string) error {
	d.counts[call]++
	for i, f := range d.faults {
		if f.call != "" && f.call != call {
			continue
		}
		if f.left--; f.left == 0 {
			d.faults = append(d.faults[:i:i], d.faults[i+1:]...)
			d.failed = append(d.failed, call)
			if f.code.Sticky() {
				d.sticky = f.code
			}
			return fail(call, f.code)
		}
	}
	if d.sticky != 0 {
		return fail(call, d.sticky)
	}
	if d.refused(call) {
		return fail(call, driver.CaptureUnsupported)
	}
	return nil
}

func fail(call string, code driver.Result) error {
	return &driver.Error{Call: call, Code: code, Text: "injected or found by the fake"}
}

// handle makes a live handle.
func (d *Driver) handle(kind string) uintptr {
	d.next += 0x10
	d.live[d.next] = kind
	return d.next
}

// drop ends a handle's life; false where it is not a live one of its kind.
func (d *Driver) drop(kind string, h uintptr) bool {
	if d.live[h] != kind {
		return false
	}
	delete(d.live, h)
	return true
}

// Version is that of CUDA 13.0.
func (d *Driver) Version() (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return 13000, d.enter("cuDriverGetVersion")
}

// DeviceCount is the number of devices that New was given.
func (d *Driver) DeviceCount() (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.devices), d.enter("cuDeviceGetCount")
}

func (d *Driver) device(call string, dev int) (Device, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.enter(call); err != nil {
		return Device{}, err
	}
	if dev < 0 || dev >= len(d.devices) {
		return Device{}, fail(call, driver.InvalidDevice)
	}
	return d.devices[dev], nil
}

// DeviceName is the Name of a device.
func (d *Driver) DeviceName(dev int) (string, error) {
	v, err := d.device("cuDeviceGetName", dev)
	return v.Name, err
}

// DeviceMemory is the Memory of a device, in bytes.
func (d *Driver) DeviceMemory(dev int) (int64, error) {
	v, err := d.device("cuDeviceTotalMem", dev)
	return v.Memory, err
}

// DeviceAttribute is what a device was described with; every attribute of package driver has a value.
func (d *Driver) DeviceAttribute(dev int, a driver.DeviceAttribute) (int, error) {
	v, err := d.device("cuDeviceGetAttribute", dev)
	if err != nil {
		return 0, err
	}
	switch a {
	case driver.MaxThreadsPerBlock:
		return 1024, nil
	case driver.MultiprocessorCount:
		return v.SMs, nil
	case driver.L2CacheSize:
		return v.L2, nil
	case driver.MaxThreadsPerSM:
		return v.ThreadsPerSM, nil
	case driver.ComputeCapabilityMajor:
		return v.Major, nil
	case driver.ComputeCapabilityMinor:
		return v.Minor, nil
	case driver.MaxSharedPerBlockOptin:
		return v.Shared, nil
	}
	return 0, fail("cuDeviceGetAttribute", driver.InvalidValue)
}

// Retain gives a context of its own to each call; all contexts of a driver see one memory.
func (d *Driver) Retain(dev int) (driver.Context, error) {
	v, err := d.device("cuDevicePrimaryCtxRetain", dev)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return &context{Driver: d, dev: dev, device: v, self: d.handle("context")}, nil
}

// String describes the devices.
func (d *Driver) String() string { return fmt.Sprintf("fake driver with %v", d.devices) }
