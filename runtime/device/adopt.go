package device

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/gotile/gotile/runtime/driver"
)

// AdoptStream makes a Stream of one that the program has created in the device's context, by a library that shares it.
// What either side queues on it runs in order. It stays the program's: Close waits for what is queued and does not
// destroy it; the program does so afterwards, or after Device.Close. The zero Stream is the legacy default stream, on
// which nothing can be captured. On the simulator it is errors.ErrUnsupported.
func (d *Device) AdoptStream(raw driver.Stream) (*Stream, error) {
	if err := d.inCapture("AdoptStream"); err != nil {
		return nil, err
	}
	release, err := d.shared("AdoptStream")
	if err != nil {
		return nil, err
	}
	defer release()
	s := d.streamOf(uint64(raw), true)
	s.cleanup = runtime.AddCleanup(s, leaked, s.h)
	return s, nil
}

// AdoptBuffer makes a Buffer of bytes of device memory at an address that the program has allocated, of any alignment;
// launches refuse addresses that their kernel cannot use. It stays the program's: Close only ends the use of this Buffer,
// and may be omitted; the program frees the memory when no work uses it. On the simulator it is errors.ErrUnsupported.
func (d *Device) AdoptBuffer(p driver.Ptr, bytes int) (*Buffer, error) {
	release, err := d.shared("AdoptBuffer")
	if err != nil {
		return nil, err
	}
	defer release()
	if bytes < 0 || p == 0 && bytes > 0 || uint64(p)+uint64(bytes) < uint64(p) {
		return nil, fmt.Errorf("device: %s: AdoptBuffer of %d bytes at address %#x: no such range of memory: %w", d.name, bytes, uint64(p), ErrShape)
	}
	b := &Buffer{h: &handle{d: d, kind: bufferHandle, raw: uint64(p), bytes: bytes, adopted: true}}
	d.register(b.h)
	b.cleanup = runtime.AddCleanup(b, leaked, b.h)
	return b, nil
}

// Context is the driver's context that the device works in, for libraries that are to share it. It is valid while the
// device is open, and not to be released. On the simulator it is errors.ErrUnsupported.
func (d *Device) Context() (driver.Context, error) {
	release, err := d.shared("Context")
	if err != nil {
		return nil, err
	}
	defer release()
	return d.back.(*cuda).ctx, nil
}

// Handle is the driver's stream, for libraries that are to queue work on it, in order with what is queued here. It is
// valid while the Stream is open, and not to be destroyed. Memory that such work uses must not be closed before it is
// done. On the simulator it is errors.ErrUnsupported.
func (s *Stream) Handle() (driver.Stream, error) {
	release, err := s.d.shared("Stream.Handle")
	if err != nil {
		return 0, err
	}
	defer release()
	if s.h.closed.Load() {
		return 0, fmt.Errorf("device: %s: Handle of a stream: %w", s.d.name, ErrClosed)
	}
	return driver.Stream(s.h.raw), nil
}

// Handle is the driver's function, for libraries that are to launch the kernel themselves. It is valid while the device
// is open. On the simulator it is errors.ErrUnsupported.
func (f *Func) Handle() (driver.Function, error) {
	release, err := f.d.shared("Func.Handle")
	if err != nil {
		return 0, err
	}
	defer release()
	return f.fn.(*cudaFunc).fn, nil
}

// shared is use for what only a GPU has: handles that other libraries know.
func (d *Device) shared(call string) (release func(), err error) {
	if d.kind != CUDA {
		return nil, fmt.Errorf("device: %s: %s: the simulator has no handles of the driver; open cuda:N: %w", d.name, call, errors.ErrUnsupported)
	}
	return d.use()
}
