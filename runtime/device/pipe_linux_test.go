package device

import "syscall"

// makePipe makes a named pipe; who opens it to read waits.
func makePipe(path string) error { return syscall.Mkfifo(path, 0o644) }
