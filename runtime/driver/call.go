//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// frame holds what one call passes to C. Frames are reused, so that a call allocates nothing, and live on the heap:
// C writes results into them and a Go stack may move.
type frame struct {
	args [12]uintptr
	set  [1]uintptr // the argument of cuCtxSetCurrent

	out  uintptr // a handle, size or address that C returns
	size uintptr // a second result
	out4 int32   // an int that C returns
	outf float32
	text *byte // a C string, or host memory, that C returns; memory of libcuda, not of Go

	config launchConfig
	attrs  [2]launchAttribute
	params [1]unsafe.Pointer
	tiled  tiled

	// keep holds a pointer that args has as a number: it moves the object to the heap and keeps it alive.
	keep unsafe.Pointer
}

// launchConfig is CUlaunchConfig.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	_           uint32
	stream      uintptr
	attrs       *launchAttribute
	numAttrs    uint32
	_           uint32
}

// launchAttribute is CUlaunchAttribute with the value as a cluster's dimensions, of which the first is also an int.
type launchAttribute struct {
	id    uint32
	_     uint32
	value [3]uint32
	_     [13]uint32
}

const (
	attrCluster   = 4 // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
	attrDependent = 6 // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
)

// The layouts of cuda.h; a wrong size does not compile.
var (
	_ [56]byte = [unsafe.Sizeof(launchConfig{})]byte{}
	_ [72]byte = [unsafe.Sizeof(launchAttribute{})]byte{}
)

// setConfig fills in config, and the attributes where there are clusters or the kernel may begin early.
func (f *frame) setConfig(l LaunchConfig) {
	f.config = launchConfig{grid: l.Grid, block: l.Block, shared: l.Shared, stream: uintptr(l.Stream), attrs: &f.attrs[0]}
	add := func(id uint32, value [3]uint32) {
		f.attrs[f.config.numAttrs] = launchAttribute{id: id, value: value}
		f.config.numAttrs++
	}
	if l.Cluster != [3]uint32{} {
		add(attrCluster, l.Cluster)
	}
	if l.Dependent {
		add(attrDependent, [3]uint32{1})
	}
}

var frames = sync.Pool{New: func() any { return new(frame) }}

func newFrame() *frame { return frames.Get().(*frame) }

// done returns a frame to the pool, without the pointers it holds.
func (f *frame) done() {
	f.text, f.keep, f.params[0], f.config.attrs = nil, nil, nil, nil
	frames.Put(f)
}

// addr is the address of a field of a frame, as a number: frames do not move and live until done.
func addr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// call calls a function of libcuda that needs no context with the first n arguments of f.
func (l *library) call(p proc, f *frame, n int) error {
	r, _, _ := purego.SyscallN(l.fn[p], f.args[:n]...)
	return l.check(p, Result(r))
}

// callIn calls a function in a context and returns its result, or that of making the context current, with the
// function it comes from. The context is a property of the thread, and goroutines move between threads.
func (l *library) callIn(ctx uintptr, p proc, f *frame, n int) (proc, Result) {
	runtime.LockOSThread()
	f.set[0] = ctx
	from := cuCtxSetCurrent
	r, _, _ := purego.SyscallN(l.fn[cuCtxSetCurrent], f.set[:]...)
	if r == 0 {
		from = p
		r, _, _ = purego.SyscallN(l.fn[p], f.args[:n]...)
	}
	runtime.UnlockOSThread()
	return from, Result(r)
}

// check turns a result into an error in the driver's words.
func (l *library) check(p proc, r Result) error {
	if r == Success {
		return nil
	}
	call, _, _ := strings.Cut(symbols[p], "_v")
	return &Error{Call: call, Code: r, Name: l.text(cuGetErrorName, r), Text: l.text(cuGetErrorString, r)}
}

// text asks for a code's name or description; empty where the driver does not know the code.
func (l *library) text(p proc, r Result) string {
	f := newFrame()
	defer f.done()
	f.args[0], f.args[1] = uintptr(r), addr(&f.text)
	if e, _, _ := purego.SyscallN(l.fn[p], f.args[:2]...); e != 0 || f.text == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(f.text), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(f.text, n))
}
