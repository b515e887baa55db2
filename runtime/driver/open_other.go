//go:build nocuda || !linux || !(amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"runtime"
)

// Open always fails here: gotile reaches CUDA on linux/amd64 and linux/arm64, in builds without the tag nocuda.
// The error is errors.ErrUnsupported.
func Open() (Driver, error) {
	return nil, fmt.Errorf("driver: no CUDA in this build (%s/%s; it needs linux/amd64 or linux/arm64 without -tags nocuda): %w",
		runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}
