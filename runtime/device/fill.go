package device

import (
	"errors"
	"log/slog"

	"github.com/gotile/gotile/internal/env"
)

// FillCache opens NVRTC and the cache to compile kernels for an architecture, such as sm_90a, without a GPU: what fill has
// compiled, a device of that architecture finds, here or on a machine that the cache's directory has been copied to,
// where NVRTC is of the same version. fill may be called at once by several goroutines; the error of a kernel that does not
// compile is NVRTC's.
func FillCache(arch string) (fill func(k *Kernel) error, err error) {
	c := openCache(slog.Default())
	if c.dir == "" {
		return nil, errors.New("there is no cache to fill: set " + env.Cache + " to a directory")
	}
	n, err := openNVRTC()
	if err != nil {
		return nil, err
	}
	return func(k *Kernel) error {
		key, l := lookup(n, k, arch)
		_, err := c.get(key, l, func() ([]byte, error) { return n.compile(k, arch) })
		return err
	}, nil
}
