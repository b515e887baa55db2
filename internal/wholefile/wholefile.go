// Package wholefile writes files that are there whole or not at all, also when the program is interrupted.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the file at path by data, mode 0644. On an error the old file stays as it is.
func Write(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
