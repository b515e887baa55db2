package device

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"unsafe"

	"github.com/gotile/gotile/dtype"
)

// Number is a host number of a type that memory holds.
type Number interface {
	dtype.Float32 | dtype.BFloat16 | dtype.Float16 | dtype.Int32 | dtype.Uint32 | dtype.Int64 | dtype.Int8 | dtype.Float8E4M3 | dtype.Float8E5M2
	DType() dtype.Type
}

// Upload copies src, the elements in row-major order, into the tensor and waits for it. Memory between the elements of
// a strided tensor is not touched: every stretch of neighbouring elements is one copy, so tensors whose last stride is
// not 1 are slow.
func Upload[T Number](s *Stream, t Tensor, src []T) error {
	var zero T
	return s.transfer("Upload", t, zero.DType(), len(src), asBytes(src), true)
}

// Download copies the tensor's elements, in row-major order, into dst and waits for it.
func Download[T Number](s *Stream, dst []T, t Tensor) error {
	var zero T
	return s.transfer("Download", t, zero.DType(), len(dst), asBytes(dst), false)
}

// asBytes is the memory of a slice; the host is little-endian, as devices are.
func asBytes[T Number](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}

// transfer moves n elements of type dt between host and tensor.
func (s *Stream) transfer(call string, t Tensor, dt dtype.Type, n int, host []byte, in bool) error {
	if err := s.enterOutside(call); err != nil {
		return err
	}
	defer s.leave()
	if err := t.Check(s.d); err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	switch {
	case t.dt != dt:
		return fmt.Errorf("device: %s: %s of %v numbers, tensor %v: %w", s.d.name, call, dt, t, ErrDType)
	case n != t.Elems():
		return fmt.Errorf("device: %s: %s of %d numbers, tensor %v has %d: %w", s.d.name, call, n, t, t.Elems(), ErrShape)
	case in && t.overlaps():
		return fmt.Errorf("device: %s: %s to tensor %v, whose elements overlap: %w", s.d.name, call, t, ErrShape)
	case n == 0:
		return nil
	}
	if in {
		s.wrote(t.buf)
	}
	done := 0
	for addr, bytes := range t.stretches() {
		part := host[done : done+bytes]
		var err error
		if in {
			err = s.d.back.copyIn(s.h.raw, addr, part)
		} else {
			err = s.d.back.copyOut(s.h.raw, part, addr)
		}
		if err != nil {
			return s.fail(call, err)
		}
		done += bytes
	}
	err := s.wait(context.Background())
	runtime.KeepAlive(t.buf)
	return err
}

// stretches yields address and size in bytes of each run of adjacent elements, in row-major order.
func (t Tensor) stretches() iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		// The trailing dimensions that are contiguous make one stretch.
		outer, run := int(t.rank), 1
		for outer > 0 && (t.dim[outer-1] == 1 || t.stride[outer-1] == run) {
			run *= t.dim[outer-1]
			outer--
		}
		size := t.dt.Size()
		var index [MaxRank]int
		addr := t.Addr()
		for {
			if !yield(addr, run*size) {
				return
			}
			axis := outer - 1
			for axis >= 0 {
				step := uint64(t.stride[axis] * size)
				if index[axis]++; index[axis] < t.dim[axis] {
					addr += step
					break
				}
				addr -= uint64(t.dim[axis]-1) * step
				index[axis] = 0
				axis--
			}
			if axis < 0 {
				return
			}
		}
	}
}
