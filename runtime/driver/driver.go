// Package driver is the part of the CUDA driver API that gotile needs, as Go interfaces.
//
// Open gives the driver of this machine: libcuda opened with dlopen, so that one binary serves machines with and
// without a GPU. Package fake has a driver for tests. Package gorgonia, in builds with that tag, has one over
// gorgonia.org/cu. Package drivertest holds the tests that each of them passes.
//
// Callers need not care about threads: each call of a Context locks the goroutine to its thread, makes the context
// current, calls, and unlocks. All types are safe for concurrent use.
package driver

import (
	"errors"
	"unsafe"
)

// ErrNoLibrary says that libcuda could not be opened: there is no NVIDIA driver on the machine.
var ErrNoLibrary = errors.New("no NVIDIA driver")

// Handles of the driver. Zero is no handle; a zero Stream is the legacy default stream, which gotile does not use.
type (
	Module   uintptr
	Function uintptr
	Stream   uintptr
	Event    uintptr
	// Graph is a graph that was captured, GraphExec one made ready to launch.
	Graph     uintptr
	GraphExec uintptr
	// Ptr is an address in device memory.
	Ptr uint64
)

// Driver is what a process can ask before it has a context. Devices are numbered from 0.
type Driver interface {
	// Version is the newest CUDA version the driver supports: 1000*major + 10*minor.
	Version() (int, error)
	// DeviceCount is the number of devices visible to the process; 0 is no error.
	DeviceCount() (int, error)
	// DeviceName is the vendor's name, such as "NVIDIA H200".
	DeviceName(dev int) (string, error)
	// DeviceMemory is the size of the device's memory in bytes.
	DeviceMemory(dev int) (int64, error)
	DeviceAttribute(dev int, a DeviceAttribute) (int, error)
	// Retain takes a reference to the device's primary context, creating it where there is none.
	Retain(dev int) (Context, error)
}

// Context is a reference to a device's primary context. Sizes are in bytes. Host slices must stay untouched until an
// asynchronous copy is done; a Context keeps them alive for the duration of the call only.
type Context interface {
	// Release gives the reference back; the last one destroys the context with all that lives in it.
	Release() error

	// LoadModule loads a cubin.
	LoadModule(image []byte) (Module, error)
	UnloadModule(m Module) error
	Function(m Module, name string) (Function, error)
	// Global is the address and the size in bytes of a variable of a module: one with C linkage in __device__ or
	// __constant__ memory.
	Global(m Module, name string) (Ptr, int, error)
	FunctionAttribute(f Function, a FunctionAttribute) (int, error)
	SetFunctionAttribute(f Function, a FunctionAttribute, value int) error
	// MaxActiveBlocks is how many blocks of f one SM holds at once.
	MaxActiveBlocks(f Function, threads, sharedBytes int) (int, error)
	// MaxActiveClusters is how many clusters of f the device holds at once; c gives block, shared memory and cluster.
	MaxActiveClusters(f Function, c LaunchConfig) (int, error)

	Alloc(bytes int) (Ptr, error)
	Free(p Ptr) error
	// AllocAsync takes memory from the device's default pool, in the order of s: work queued on s later may use it.
	AllocAsync(bytes int, s Stream) (Ptr, error)
	// FreeAsync gives it back, in the order of s.
	FreeAsync(p Ptr, s Stream) error
	// AllocHost gives page-locked host memory, which asynchronous copies need to be asynchronous. Kernels reach it by the
	// same address: all 64-bit systems have unified addressing.
	AllocHost(bytes int) ([]byte, error)
	// FreeHost takes what AllocHost gave.
	FreeHost(b []byte) error
	CopyIn(dst Ptr, src []byte) error
	CopyOut(dst []byte, src Ptr) error
	Copy(dst, src Ptr, bytes int) error
	CopyInAsync(dst Ptr, src []byte, s Stream) error
	CopyOutAsync(dst []byte, src Ptr, s Stream) error
	CopyAsync(dst, src Ptr, bytes int, s Stream) error
	// Set8Async sets bytes, Set32Async words of 32 bits; n counts elements.
	Set8Async(dst Ptr, value uint8, n int, s Stream) error
	Set32Async(dst Ptr, value uint32, n int, s Stream) error

	// NewStream creates a stream that does not synchronise with the legacy default stream.
	NewStream() (Stream, error)
	DestroyStream(s Stream) error
	SyncStream(s Stream) error
	// QueryStream reports whether all work of the stream is done.
	QueryStream(s Stream) (bool, error)
	// WaitEvent makes later work of s wait for e.
	WaitEvent(s Stream, e Event) error

	// NewEvent creates an event that takes the time when recorded.
	NewEvent() (Event, error)
	DestroyEvent(e Event) error
	RecordEvent(e Event, s Stream) error
	SyncEvent(e Event) error
	// QueryEvent reports whether the event has happened.
	QueryEvent(e Event) (bool, error)
	// Elapsed is the time between two events in milliseconds, with a resolution of about half a microsecond.
	Elapsed(from, to Event) (float32, error)

	// Launch starts a kernel with one parameter, the struct that args points to. The driver has copied it when Launch
	// returns.
	Launch(f Function, c LaunchConfig, args unsafe.Pointer) error

	// EncodeTiled makes a tensor map. A description that breaks a rule is InvalidValue with the rule; a driver that is too
	// old for tensor maps (CUDA 11) gives NotSupported.
	EncodeTiled(t *Tiled) (TensorMap, error)

	// BeginCapture turns what is queued on s into nodes of a graph, until EndCapture. Both are called on one thread.
	// Until then what allocates or waits fails on that thread, and makes EndCapture fail; other threads are free.
	BeginCapture(s Stream) error
	EndCapture(s Stream) (Graph, error)
	GraphNodes(g Graph) (int, error)
	Instantiate(g Graph) (GraphExec, error)
	LaunchGraph(e GraphExec, s Stream) error
	DestroyGraph(g Graph) error
	// DestroyGraphExec may be called while the graph runs.
	DestroyGraphExec(e GraphExec) error
}

// LaunchConfig is the shape of a launch.
type LaunchConfig struct {
	Grid, Block [3]uint32
	Shared      uint32    // bytes of dynamic shared memory a block
	Cluster     [3]uint32 // blocks of a cluster; zero: no clusters
	Stream      Stream
	// Dependent lets the kernel begin while the one ahead of it on the stream still runs, once that allows it: programmatic
	// dependent launch (CUDA 11.8, compute capability 9.0). The kernel waits by griddepcontrol.wait.
	Dependent bool
}

// DeviceAttribute is a CUdevice_attribute.
type DeviceAttribute int32

// The device attributes in use.
const (
	MaxThreadsPerBlock     DeviceAttribute = 1
	MultiprocessorCount    DeviceAttribute = 16
	L2CacheSize            DeviceAttribute = 38 // bytes
	MaxThreadsPerSM        DeviceAttribute = 39
	ComputeCapabilityMajor DeviceAttribute = 75
	ComputeCapabilityMinor DeviceAttribute = 76
	MaxSharedPerBlockOptin DeviceAttribute = 97 // bytes, with MaxDynamicShared set
)

// FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

// The function attributes in use.
const (
	FunctionMaxThreads   FunctionAttribute = 0 // threads a block of this function can have
	FunctionStaticShared FunctionAttribute = 1 // bytes
	FunctionLocal        FunctionAttribute = 3 // bytes a thread, spills included
	FunctionRegisters    FunctionAttribute = 4 // a thread
	MaxDynamicShared     FunctionAttribute = 8 // bytes; more than 48 KB must be asked for
)
