package command

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// control is an ioctl with a pointer.
func control[T any](t *testing.T, f *os.File, request uintptr, value *T) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
		t.Fatalf("ioctl %#x: %v", request, errno)
	}
}
