package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// lock claims a file, which it makes, or a folder for this process; the lock ends with the process, if not before. What
// the other process does that has it is for the error.
func lock(path, does string) (unlock func(), err error) {
	f, err := os.Open(path) // it may be another user's: who can read it can lock it
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o644)
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another gotile bench %s (%s is locked); wait until it is done", does, path)
		}
		return nil, fmt.Errorf("%s cannot be locked: %w", path, err)
	}
	return func() { f.Close() }, nil
}
