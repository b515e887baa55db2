package device

import (
	"fmt"
	"runtime"
)

// Buffer is a range of a device's memory, at least 256-byte aligned. Its contents start out undefined (on `sim`: NaN
// in every float type). The owner closes it; one that is dropped instead is logged and given back later.
type Buffer struct {
	h       *handle
	cleanup runtime.Cleanup
}

// Alloc reserves bytes of device memory, for use on any stream. 0 bytes are fine: such a buffer has address 0. Too many
// are ErrOutOfMemory. The memory of closed buffers is kept and given out again, once no work under way uses it; where
// the device has no more, Alloc waits for that.
func (d *Device) Alloc(bytes int) (*Buffer, error) {
	if err := d.inCapture("Alloc"); err != nil {
		return nil, err
	}
	d.Drain()
	release, err := d.use()
	if err != nil {
		return nil, err
	}
	defer release()
	return d.alloc(bytes, nil)
}

// Alloc is Device.Alloc for memory that is used on this stream only, or on others in order with it (Wait). What was
// closed before is given out at once, since the stream does one thing after the other.
func (s *Stream) Alloc(bytes int) (*Buffer, error) {
	s.d.Drain()
	release, err := s.d.use()
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.enterOutside("Alloc"); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.d.alloc(bytes, s.h.lane)
}

// alloc takes memory from the pool, of a device that is in use.
func (d *Device) alloc(bytes int, home *lane) (*Buffer, error) {
	if bytes < 0 {
		return nil, fmt.Errorf("device: %s: allocation of %d bytes: %w", d.name, bytes, ErrShape)
	}
	var m memory
	var err error
	if bytes > 0 {
		if m, err = d.buffers.get(bytes, home); err != nil {
			return nil, d.fail("Alloc", fmt.Errorf("%d bytes: %w", bytes, err))
		}
	}
	b := &Buffer{h: &handle{d: d, kind: bufferHandle, raw: m.addr, bytes: bytes, lane: home}}
	d.register(b.h)
	b.cleanup = runtime.AddCleanup(b, leaked, b.h)
	return b, nil
}

// Bytes is the size.
func (b *Buffer) Bytes() int { return b.h.bytes }

// Addr is the address on the device.
func (b *Buffer) Addr() uint64 { return b.h.raw }

// Device owns the memory.
func (b *Buffer) Device() *Device { return b.h.d }

// Closed reports whether the memory was given back.
func (b *Buffer) Closed() bool { return b.h.closed.Load() }

// Close gives the memory back, after what is under way on the device, and after the graphs that hold it were closed.
// Closing twice is fine.
func (b *Buffer) Close() error {
	if b == nil {
		return nil
	}
	if err := b.h.d.inCapture("Buffer.Close"); err != nil {
		return err
	}
	b.cleanup.Stop()
	return b.h.close()
}

// check says why a range of the buffer cannot be used by a stream of d.
func (b *Buffer) check(d *Device, offset, bytes int) error {
	switch {
	case b == nil:
		return fmt.Errorf("device: %s: nil buffer: %w", d.name, ErrClosed)
	case b.h.d != d:
		return fmt.Errorf("device: %s: buffer of %s: %w", d.name, b.h.d.name, ErrWrongDevice)
	case b.Closed():
		return fmt.Errorf("device: %s: buffer of %d bytes: %w", d.name, b.h.bytes, ErrClosed)
	case offset < 0 || bytes < 0 || offset > b.h.bytes || bytes > b.h.bytes-offset:
		return fmt.Errorf("device: %s: %d bytes from byte %d on of a buffer of %d: %w", d.name, bytes, offset, b.h.bytes, ErrShape)
	}
	return nil
}
