// Package wholefile writes files that are there whole or not at all, also when the program is interrupted.
package wholefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Write replaces the file at path by data, mode 0644; of a link, the file that it leads to. On an error the old file stays
// as it is. What is no regular file, such as a device or a pipe, is not replaced: the rename would, /dev/null too.
func Write(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file, which a new one could replace", path)
	}
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
