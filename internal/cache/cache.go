// Package cache says where compiled kernels are cached and keeps the journal of what the cache was asked for: from it
// gotile doctor tells why a kernel was compiled again. The cache itself is in runtime/device.
package cache

import (
	"os"
	"path/filepath"

	"github.com/gotile/gotile/internal/env"
)

const (
	// Limit is the size of all entries in bytes; the least recently used go when it is exceeded.
	Limit = 512 << 20
	// Suffix ends the names of entries.
	Suffix = ".cubin"
)

// Dir is the directory: GOTILE_CACHE, else gotile in the user's cache directory. It is empty where the cache is off. An
// error says that the user has none.
func Dir() (string, error) {
	switch dir := env.Get(env.Cache); dir {
	case "off":
		return "", nil
	case "":
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(user, "gotile"), nil
	default:
		return dir, nil
	}
}
