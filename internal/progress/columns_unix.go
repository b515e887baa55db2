//go:build linux || darwin

package progress

import (
	"os"
	"syscall"
	"unsafe"
)

// columns is the width of a terminal; 0 where it does not know, -1 where the file is none.
func columns(f *os.File) int {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1
	}
	var size struct{ rows, columns, x, y uint16 }
	errno := syscall.ENOTTY
	err = raw.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	})
	if err != nil || errno != 0 {
		return -1
	}
	return int(size.columns)
}
