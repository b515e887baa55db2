//go:build !linux

package bench

// lock does nothing: GPUs are used on linux only.
func lock(path, does string) (unlock func(), err error) { return func() {}, nil }
