//go:build !gotilegen

package rmsnorm

import (
	"errors"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Scratch is device memory that Backward works in. It serves tensors of any shape for which it is large enough, and one
// stream at a time: a pass on another stream waits for the last one's end. The owner closes it.
type Scratch struct {
	part  device.Tensor // shares of dw, f32; viewed as [parts, n] of the last pass
	mean  device.Tensor // means of wide rows, f32; viewed as [rows] of the last pass
	count device.Tensor // [counters] u32, all 0 between launches
}

// counters is the number of counters by which blocks find out which of them is the last.
const counters = 64

// NewScratch allocates what Backward needs for these tensors. Outputs may still be unset; what is set is checked as
// Backward checks it.
func NewScratch(s *device.Stream, in Saved, out Gradients) (*Scratch, error) {
	p, err := planBackward(s, in, out, false)
	if err != nil {
		return nil, err
	}
	c := &Scratch{}
	if c.part, err = device.NewTensor(s.Device(), dtype.F32, p.parts, p.n); err != nil {
		return nil, err
	}
	if c.mean, err = device.NewTensor(s.Device(), dtype.F32, p.means()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if c.count, err = device.NewTensor(s.Device(), dtype.U32, counters); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := s.Fill(c.count.Buffer(), 0, c.count.Buffer().Bytes(), 0); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close gives the memory back. Closing twice is fine.
func (c *Scratch) Close() error {
	var errs []error
	for _, t := range []device.Tensor{c.part, c.mean, c.count} {
		if t.Buffer() != nil {
			errs = append(errs, t.Close())
		}
	}
	return errors.Join(errs...)
}

// means is how many rows have their mean in the scratch.
func (p plan) means() int {
	if p.wide {
		return p.rows
	}
	return 0
}

// take is the scratch as a pass needs it: [parts, n] shares of dw and, of wide rows, [rows] means.
func (c *Scratch) take(s *device.Stream, p plan) (part, mean device.Tensor, err error) {
	if c == nil || c.part.Buffer() == nil {
		return part, mean, refuse(backwardName, "scratch", device.ErrClosed, "there is none; make one with NewScratch")
	}
	b := c.part.Buffer()
	floats := func(t device.Tensor) int { return t.Buffer().Bytes() / dtype.F32.Size() }
	switch {
	case b.Closed():
		return part, mean, refuse(backwardName, "scratch", device.ErrClosed, "it is closed; make one with NewScratch")
	case b.Device() != s.Device():
		return part, mean, refuse(backwardName, "scratch", device.ErrWrongDevice, "it is on device %s, the stream on %s; make one there with NewScratch", b.Device().Name(), s.Device().Name())
	case floats(c.part) < p.parts*p.n:
		return part, mean, refuse(backwardName, "scratch", device.ErrShape, "it holds %d partial sums of dw; here it needs %d, %d for each of %d columns: make one with NewScratch for these tensors",
			floats(c.part), p.parts*p.n, p.parts, p.n)
	case floats(c.mean) < p.means():
		return part, mean, refuse(backwardName, "scratch", device.ErrShape, "it holds the means of %d rows; here it needs %d: make one with NewScratch for these tensors", floats(c.mean), p.means())
	}
	// The views of the last pass serve the next one of the same shape, which then allocates nothing.
	if c.part.Dim(0) != p.parts || c.part.Dim(1) != p.n {
		if c.part, err = device.View(b, 0, dtype.F32, []int{p.parts, p.n}, nil); err != nil {
			return part, mean, err
		}
	}
	if c.mean.Dim(0) != p.means() {
		if c.mean, err = device.View(c.mean.Buffer(), 0, dtype.F32, []int{p.means()}, nil); err != nil {
			return part, mean, err
		}
	}
	return c.part, c.mean, nil
}
