package bench

import (
	"fmt"
	"os"
	"syscall"
)

// lock claims a device for this process; the lock ends with the process, if not before.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another gotile bench measures on this device (%s is locked); wait until it is done", path)
	}
	return func() { f.Close() }, nil
}
