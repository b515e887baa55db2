//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/ebitengine/purego"
)

// libraries are tried in order; the second is where WSL keeps it.
var libraries = []string{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}

var openOnce = sync.OnceValues(func() (*library, error) { return openLibrary(libraries...) })

// Open opens libcuda and initialises it, once for the process: later calls give the first call's result.
func Open() (Driver, error) {
	l, err := openOnce()
	if err != nil {
		return nil, err
	}
	return l, nil
}

// library is libcuda: the address of each function in use, by its field's index.
type library struct {
	fn [numProcs]uintptr
}

func openLibrary(paths ...string) (*library, error) {
	// dlerror, which gives the reason of a failure, is of the thread that failed.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var handle uintptr
	var first error
	for _, p := range paths {
		h, err := purego.Dlopen(p, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			handle = h
			break
		}
		if first == nil {
			first = err
		}
	}
	if handle == 0 {
		return nil, fmt.Errorf("driver: %w: %v", ErrNoLibrary, first)
	}
	l := &library{}
	for p, name := range symbols {
		addr, err := purego.Dlsym(handle, name)
		if err != nil && proc(p) == cuTensorMapEncodeTiled {
			continue // newer than the rest; EncodeTiled says so
		}
		if err != nil {
			return nil, fmt.Errorf("driver: libcuda lacks %s: gotile needs a driver for CUDA 11.8 or newer (release 520): %w", name, err)
		}
		l.fn[p] = addr
	}
	// cuInit is called once for the process and asks for no context.
	f := newFrame()
	defer f.done()
	f.args[0] = 0
	if err := l.call(cuInit, f, 1); err != nil {
		return nil, err
	}
	return l, nil
}

// proc is a function of libcuda.
type proc int

const (
	cuInit proc = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceTotalMem
	cuDeviceGetAttribute
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuModuleLoadData
	cuModuleUnload
	cuModuleGetFunction
	cuModuleGetGlobal
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuOccupancyMaxActiveBlocks
	cuOccupancyMaxActiveClusters
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemcpyHtoD
	cuMemcpyDtoH
	cuMemcpyDtoD
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemsetD8Async
	cuMemsetD32Async
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamQuery
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventSynchronize
	cuEventQuery
	cuEventElapsedTime
	cuLaunchKernelEx
	cuStreamBeginCapture
	cuStreamEndCapture
	cuGraphGetNodes
	cuGraphInstantiate
	cuGraphLaunch
	cuGraphDestroy
	cuGraphExecDestroy
	cuMemAllocAsync
	cuMemFreeAsync
	cuTensorMapEncodeTiled
	numProcs
)

// symbols are the names the library exports; cuda.h maps the plain names to the suffixed ones.
var symbols = [numProcs]string{
	cuInit:                       "cuInit",
	cuDriverGetVersion:           "cuDriverGetVersion",
	cuGetErrorName:               "cuGetErrorName",
	cuGetErrorString:             "cuGetErrorString",
	cuDeviceGetCount:             "cuDeviceGetCount",
	cuDeviceGet:                  "cuDeviceGet",
	cuDeviceGetName:              "cuDeviceGetName",
	cuDeviceTotalMem:             "cuDeviceTotalMem_v2",
	cuDeviceGetAttribute:         "cuDeviceGetAttribute",
	cuDevicePrimaryCtxRetain:     "cuDevicePrimaryCtxRetain",
	cuDevicePrimaryCtxRelease:    "cuDevicePrimaryCtxRelease_v2",
	cuCtxSetCurrent:              "cuCtxSetCurrent",
	cuModuleLoadData:             "cuModuleLoadData",
	cuModuleUnload:               "cuModuleUnload",
	cuModuleGetFunction:          "cuModuleGetFunction",
	cuModuleGetGlobal:            "cuModuleGetGlobal_v2",
	cuFuncGetAttribute:           "cuFuncGetAttribute",
	cuFuncSetAttribute:           "cuFuncSetAttribute",
	cuOccupancyMaxActiveBlocks:   "cuOccupancyMaxActiveBlocksPerMultiprocessor",
	cuOccupancyMaxActiveClusters: "cuOccupancyMaxActiveClusters",
	cuMemAlloc:                   "cuMemAlloc_v2",
	cuMemFree:                    "cuMemFree_v2",
	cuMemHostAlloc:               "cuMemHostAlloc",
	cuMemFreeHost:                "cuMemFreeHost",
	cuMemcpyHtoD:                 "cuMemcpyHtoD_v2",
	cuMemcpyDtoH:                 "cuMemcpyDtoH_v2",
	cuMemcpyDtoD:                 "cuMemcpyDtoD_v2",
	cuMemcpyHtoDAsync:            "cuMemcpyHtoDAsync_v2",
	cuMemcpyDtoHAsync:            "cuMemcpyDtoHAsync_v2",
	cuMemcpyDtoDAsync:            "cuMemcpyDtoDAsync_v2",
	cuMemsetD8Async:              "cuMemsetD8Async",
	cuMemsetD32Async:             "cuMemsetD32Async",
	cuStreamCreate:               "cuStreamCreate",
	cuStreamDestroy:              "cuStreamDestroy_v2",
	cuStreamSynchronize:          "cuStreamSynchronize",
	cuStreamQuery:                "cuStreamQuery",
	cuStreamWaitEvent:            "cuStreamWaitEvent",
	cuEventCreate:                "cuEventCreate",
	cuEventDestroy:               "cuEventDestroy_v2",
	cuEventRecord:                "cuEventRecord",
	cuEventSynchronize:           "cuEventSynchronize",
	cuEventQuery:                 "cuEventQuery",
	cuEventElapsedTime:           "cuEventElapsedTime",
	cuLaunchKernelEx:             "cuLaunchKernelEx",
	cuStreamBeginCapture:         "cuStreamBeginCapture_v2",
	cuStreamEndCapture:           "cuStreamEndCapture",
	cuGraphGetNodes:              "cuGraphGetNodes",
	cuGraphInstantiate:           "cuGraphInstantiateWithFlags",
	cuGraphLaunch:                "cuGraphLaunch",
	cuGraphDestroy:               "cuGraphDestroy",
	cuGraphExecDestroy:           "cuGraphExecDestroy",
	cuMemAllocAsync:              "cuMemAllocAsync",
	cuMemFreeAsync:               "cuMemFreeAsync",
	cuTensorMapEncodeTiled:       "cuTensorMapEncodeTiled",
}
