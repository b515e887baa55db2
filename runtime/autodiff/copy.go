package autodiff

import (
	"errors"
	"fmt"

	"github.com/gotile/gotile/runtime/device"
)

// CopyTo queues a copy of a tensor, which is not tracked, to memory of the caller's: results of a step that outlive the
// tape. A tracked tensor must be detached first, so that no gradient is lost unseen.
func (t *Tape) CopyTo(dst device.Tensor, x Tensor) error {
	if !t.enter("CopyTo") {
		return t.Err()
	}
	defer t.leave()
	var err error
	switch v := x.v; {
	case v == nil:
		err = &Error{Op: "CopyTo", At: here().String(), Err: ErrUnset, Text: "the tensor is the zero Tensor"}
	case v.tape != t:
		err = &Error{Op: "CopyTo", At: here().String(), Err: ErrForeign, Text: fmt.Sprintf("%v is on another tape", v)}
	case v.track:
		err = &Error{Op: "CopyTo", At: here().String(), Err: ErrUntracked, Text: fmt.Sprintf("%v is tracked; Detach it, with the reason, to copy it off the tape", v)}
	case v.store == nil:
		err = &Error{Op: "CopyTo", At: here().String(), Err: ErrFreed, Text: fmt.Sprintf("%v: %s", v, freedText)}
	default:
		err = copyTensor(t.s, "CopyTo", dst, v.data)
	}
	t.fail(err)
	return err
}

// copyTensor queues a copy between contiguous tensors of one type and shape.
func copyTensor(s *device.Stream, op string, dst, src device.Tensor) error {
	if err := errors.Join(dst.Check(s.Device()), src.Check(s.Device())); err != nil {
		return &Error{Op: op, At: here().String(), Err: err}
	}
	if dst.DType() != src.DType() || !dst.SameShape(src) || !dst.Contiguous() || !src.Contiguous() {
		return &Error{Op: op, At: here().String(), Err: device.ErrShape, Text: fmt.Sprintf("a copy of %v to %v; both are contiguous, of one type and shape", src, dst)}
	}
	n := dst.Elems() * dst.DType().Size()
	if n == 0 {
		return nil
	}
	return s.Copy(dst.Buffer(), dst.Offset(), src.Buffer(), src.Offset(), n)
}
