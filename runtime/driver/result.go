package driver

import (
	"errors"
	"fmt"
)

// Result is a CUresult.
type Result int32

// The results that gotile acts upon.
const (
	Success            Result = 0
	InvalidValue       Result = 1
	OutOfMemory        Result = 2
	NotInitialized     Result = 3
	StubLibrary        Result = 34
	NoDevice           Result = 100
	InvalidDevice      Result = 101
	InvalidImage       Result = 200
	InvalidContext     Result = 201
	NoBinaryForGPU     Result = 209
	InvalidHandle      Result = 400
	NotFound           Result = 500
	NotReady           Result = 600
	IllegalAddress     Result = 700
	OutOfResources     Result = 701
	LaunchFailed       Result = 719
	NotSupported       Result = 801
	CaptureUnsupported Result = 900 // a call that a capture does not allow
	CaptureInvalidated Result = 901 // by such a call
	CaptureWrongThread Result = 908
	InvalidClusterSize Result = 912
)

// results names the codes a caller may meet without a driver at hand to ask (the fake, a library that is missing);
// sticky ones leave the context unusable.
var results = map[Result]struct {
	name   string
	sticky bool
}{
	Success:            {"CUDA_SUCCESS", false},
	InvalidValue:       {"CUDA_ERROR_INVALID_VALUE", false},
	OutOfMemory:        {"CUDA_ERROR_OUT_OF_MEMORY", false},
	NotInitialized:     {"CUDA_ERROR_NOT_INITIALIZED", false},
	StubLibrary:        {"CUDA_ERROR_STUB_LIBRARY", false},
	NoDevice:           {"CUDA_ERROR_NO_DEVICE", false},
	InvalidDevice:      {"CUDA_ERROR_INVALID_DEVICE", false},
	InvalidImage:       {"CUDA_ERROR_INVALID_IMAGE", false},
	InvalidContext:     {"CUDA_ERROR_INVALID_CONTEXT", false},
	NoBinaryForGPU:     {"CUDA_ERROR_NO_BINARY_FOR_GPU", false},
	InvalidHandle:      {"CUDA_ERROR_INVALID_HANDLE", false},
	NotFound:           {"CUDA_ERROR_NOT_FOUND", false},
	NotReady:           {"CUDA_ERROR_NOT_READY", false},
	OutOfResources:     {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", false},
	NotSupported:       {"CUDA_ERROR_NOT_SUPPORTED", false},
	CaptureUnsupported: {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", false},
	CaptureInvalidated: {"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", false},
	CaptureWrongThread: {"CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", false},
	InvalidClusterSize: {"CUDA_ERROR_INVALID_CLUSTER_SIZE", false},
	214:                {"CUDA_ERROR_ECC_UNCORRECTABLE", true},
	220:                {"CUDA_ERROR_NVLINK_UNCORRECTABLE", true},
	226:                {"CUDA_ERROR_CONTAINED", true},
	IllegalAddress:     {"CUDA_ERROR_ILLEGAL_ADDRESS", true},
	702:                {"CUDA_ERROR_LAUNCH_TIMEOUT", true},
	709:                {"CUDA_ERROR_CONTEXT_IS_DESTROYED", true},
	710:                {"CUDA_ERROR_ASSERT", true},
	714:                {"CUDA_ERROR_HARDWARE_STACK_ERROR", true},
	715:                {"CUDA_ERROR_ILLEGAL_INSTRUCTION", true},
	716:                {"CUDA_ERROR_MISALIGNED_ADDRESS", true},
	717:                {"CUDA_ERROR_INVALID_ADDRESS_SPACE", true},
	718:                {"CUDA_ERROR_INVALID_PC", true},
	LaunchFailed:       {"CUDA_ERROR_LAUNCH_FAILED", true},
	721:                {"CUDA_ERROR_TENSOR_MEMORY_LEAK", true},
}

// String is the name in cuda.h, or "CUresult(N)" for codes that the table lacks.
func (r Result) String() string {
	if e, ok := results[r]; ok {
		return e.name
	}
	return fmt.Sprintf("CUresult(%d)", int32(r))
}

// Sticky reports whether the context is unusable after r: every later call fails until the process ends.
func (r Result) Sticky() bool { return results[r].sticky }

// Error is a failed call of the driver.
type Error struct {
	Call string // the C function, such as cuMemAlloc
	Code Result
	Name string // the driver's name of Code
	Text string // the driver's description; may be empty
}

// Error is "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
func (e *Error) Error() string {
	name := e.Name
	if name == "" {
		name = e.Code.String()
	}
	if e.Text == "" {
		return e.Call + ": " + name
	}
	return e.Call + ": " + name + " (" + e.Text + ")"
}

// Is makes errors.Is(err, driver.OutOfMemory) work.
func (e *Error) Is(target error) bool {
	r, ok := target.(Result)
	return ok && r == e.Code
}

// Error makes a Result a target of errors.Is.
func (r Result) Error() string { return r.String() }

// CodeOf is the result of the driver call that err comes from; Success where it comes from none.
func CodeOf(err error) Result {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Success
}
