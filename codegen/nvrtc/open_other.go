//go:build !linux || (!amd64 && !arm64) || nocuda

package nvrtc

import (
	"errors"
	"fmt"
	"runtime"
)

type api struct{}

// Open fails with errors.ErrUnsupported: NVRTC is opened on linux/amd64 and linux/arm64 only, and not in programs
// built with the tag nocuda.
func Open(path string) (*Library, error) {
	return nil, fmt.Errorf("nvrtc on %s/%s, or built with the tag nocuda: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

func (l *Library) compile(src, name string, options []string) (*Result, string, error) {
	return nil, "", errors.ErrUnsupported
}
