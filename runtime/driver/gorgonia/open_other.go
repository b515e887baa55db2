//go:build gorgonia && !(cgo && !nocuda && linux && (amd64 || arm64))

package gorgonia

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/gotile/gotile/runtime/driver"
)

// Open always fails here: -tags gorgonia needs cgo, on linux/amd64 or linux/arm64. The error is errors.ErrUnsupported.
func Open() (driver.Driver, error) {
	return nil, fmt.Errorf("gorgonia: no CUDA in this build (%s/%s; with -tags gorgonia it needs cgo, CGO_ENABLED=1 and a C compiler, on linux/amd64 or linux/arm64): %w",
		runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}
