//go:build !gotilegen && linux && (amd64 || arm64) && !nocuda

package host

import (
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gotile/gotile/runtime/driver"
)

// rawLaunch is a call of libcuda's cuLaunchKernel with arguments that are made once. The context must be current on the
// calling thread.
func rawLaunch(fn driver.Function, c driver.LaunchConfig, args unsafe.Pointer) (func() error, error) {
	lib, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	launch, err := purego.Dlsym(lib, "cuLaunchKernel")
	if err != nil {
		return nil, err
	}
	params := &[1]unsafe.Pointer{args} // on the heap, where it does not move; the function that is returned keeps it
	words := []uintptr{
		uintptr(fn), uintptr(c.Grid[0]), uintptr(c.Grid[1]), uintptr(c.Grid[2]), uintptr(c.Block[0]), uintptr(c.Block[1]), uintptr(c.Block[2]),
		uintptr(c.Shared), uintptr(c.Stream), uintptr(unsafe.Pointer(params)), 0,
	}
	return func() error {
		_ = params
		r, _, _ := purego.SyscallN(launch, words...)
		return resultError(r)
	}, nil
}
