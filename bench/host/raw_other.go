//go:build !gotilegen && !(linux && (amd64 || arm64) && !nocuda)

package host

import (
	"errors"
	"unsafe"

	"github.com/gotile/gotile/runtime/driver"
)

// rawLaunch needs libcuda.
func rawLaunch(driver.Function, driver.LaunchConfig, unsafe.Pointer) (func() error, error) {
	return nil, errors.ErrUnsupported
}
