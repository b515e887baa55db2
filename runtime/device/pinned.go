package device

import (
	"fmt"
	"runtime"
)

// HostBuffer is page-locked host memory: the device copies from and to it while the host goes on. The owner closes it.
// One that is dropped instead is logged, and given back with the device: slices of its bytes may still be in use.
type HostBuffer struct {
	h       *handle
	cleanup runtime.Cleanup
}

// Pinned reserves bytes of page-locked host memory; their contents are undefined. It is scarce and slow to get, so
// closed buffers are kept for the next ones. Too many bytes are ErrOutOfMemory.
func (d *Device) Pinned(bytes int) (*HostBuffer, error) {
	if bytes < 0 {
		return nil, fmt.Errorf("device: %s: pinned memory of %d bytes: %w", d.name, bytes, ErrShape)
	}
	if err := d.inCapture("Pinned"); err != nil {
		return nil, err
	}
	d.Drain()
	release, err := d.use()
	if err != nil {
		return nil, err
	}
	defer release()
	var m memory
	if bytes > 0 {
		if m, err = d.hosts.get(bytes, nil); err != nil {
			return nil, d.fail("Pinned", fmt.Errorf("%d bytes of pinned memory: %w", bytes, err))
		}
	}
	b := &HostBuffer{h: &handle{d: d, kind: hostHandle, host: m.host, bytes: bytes}}
	d.register(b.h)
	b.cleanup = runtime.AddCleanup(b, leaked, b.h)
	return b, nil
}

// Bytes is the memory; nil when the buffer is closed. It must not be used after Close: it is not Go's memory. While a
// copy is under way the device reads or writes it.
func (b *HostBuffer) Bytes() []byte {
	if b.h.closed.Load() {
		return nil
	}
	return b.h.host[:b.h.bytes:b.h.bytes]
}

// Device owns the memory.
func (b *HostBuffer) Device() *Device { return b.h.d }

// Close gives the memory back, after the copies that are under way. Closing twice is fine.
func (b *HostBuffer) Close() error {
	if b == nil {
		return nil
	}
	if err := b.h.d.inCapture("HostBuffer.Close"); err != nil {
		return err
	}
	b.cleanup.Stop()
	return b.h.close()
}

// check says why a range of the buffer cannot be used by a stream of d.
func (b *HostBuffer) check(d *Device, offset, bytes int) error {
	switch {
	case b == nil:
		return fmt.Errorf("device: %s: nil pinned buffer: %w", d.name, ErrClosed)
	case b.h.d != d:
		return fmt.Errorf("device: %s: pinned buffer of %s: %w", d.name, b.h.d.name, ErrWrongDevice)
	case b.h.closed.Load():
		return fmt.Errorf("device: %s: pinned buffer of %d bytes: %w", d.name, b.h.bytes, ErrClosed)
	case offset < 0 || bytes < 0 || offset > b.h.bytes || bytes > b.h.bytes-offset:
		return fmt.Errorf("device: %s: %d bytes from byte %d on of a pinned buffer of %d: %w", d.name, bytes, offset, b.h.bytes, ErrShape)
	}
	return nil
}

// CopyInAsync queues a copy of bytes from pinned memory to the device. The pinned bytes must not change until the
// stream has come to the end of the copy (Sync, or an Event recorded after it).
func (s *Stream) CopyInAsync(dst *Buffer, dstOffset int, src *HostBuffer, srcOffset, bytes int) error {
	const call = "CopyInAsync"
	return s.copyAsync(call, dst, dstOffset, src, srcOffset, bytes, func(addr uint64, host []byte) error {
		s.wrote(dst)
		return s.d.back.copyIn(s.h.raw, addr, host)
	})
}

// CopyOutAsync queues a copy of bytes from the device to pinned memory, which holds them when the stream has come to
// the end of the copy (Sync, or an Event recorded after it).
func (s *Stream) CopyOutAsync(dst *HostBuffer, dstOffset int, src *Buffer, srcOffset, bytes int) error {
	const call = "CopyOutAsync"
	return s.copyAsync(call, src, srcOffset, dst, dstOffset, bytes, func(addr uint64, host []byte) error {
		return s.d.back.copyOut(s.h.raw, host, addr)
	})
}

func (s *Stream) copyAsync(call string, b *Buffer, offset int, host *HostBuffer, hostOffset, bytes int, do func(addr uint64, host []byte) error) error {
	if err := s.enterOutside(call); err != nil {
		return err
	}
	defer s.leave()
	if err := b.check(s.d, offset, bytes); err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	if err := host.check(s.d, hostOffset, bytes); err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	if bytes == 0 {
		return nil
	}
	defer runtime.KeepAlive(b) // as in onBuffer
	if err := do(b.Addr()+uint64(offset), host.h.host[hostOffset:hostOffset+bytes]); err != nil {
		return s.fail(call, err)
	}
	return nil
}
