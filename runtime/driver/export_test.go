//go:build linux && (amd64 || arm64) && !nocuda

package driver

// OpenLibrary opens a libcuda by its path, for tests.
func OpenLibrary(paths ...string) (Driver, error) { return openLibrary(paths...) }
