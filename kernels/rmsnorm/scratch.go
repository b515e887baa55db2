//go:build !gotilegen

package rmsnorm

import (
	"errors"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Scratch is device memory that Backward works in. It serves tensors of any shape for which it is large enough, and one
// stream at a time: a pass on another stream must wait for the end of the last one. A captured graph uses the scratch
// that it was captured with. What it holds means nothing before and after a pass, but that its counters are 0. The owner
// closes it.
type Scratch struct {
	floats *device.Buffer // f32: the shares of dw, those of groups, and the means of wide rows
	count  device.Tensor  // [counters] u32, all 0 between launches: the last block puts them back

	// Views of floats, as the last pass needed them: one of the same shape allocates nothing.
	plan  plan
	part  device.Tensor // [parts, n]
	group device.Tensor // [groups, n]
	mean  device.Tensor // [rows], of wide rows only
}

// NewScratch allocates what Backward needs for these tensors. Outputs may still be unset; what is set is checked as
// Backward checks it.
func NewScratch(s *device.Stream, in Saved, out Gradients) (*Scratch, error) {
	return newScratch(s, in, out, smallWork)
}

// newScratch is NewScratch for backwardWithin.
func newScratch(s *device.Stream, in Saved, out Gradients, work int) (*Scratch, error) {
	p, err := planBackward(s, in, out, false, work)
	if err != nil {
		return nil, err
	}
	c := &Scratch{}
	if c.floats, err = s.Device().Alloc(p.floats() * dtype.F32.Size()); err != nil {
		return nil, err
	}
	if c.count, err = device.NewTensor(s.Device(), dtype.U32, counters); err != nil {
		return nil, errors.Join(err, c.floats.Close())
	}
	if err := s.Fill(c.count.Buffer(), 0, c.count.Buffer().Bytes(), 0); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// floats is how many f32 a pass needs.
func (p plan) floats() int { return (p.parts+p.groups())*p.n + p.means() }

// Close gives the memory back. Closing twice is fine, and so is closing none.
func (c *Scratch) Close() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.floats.Close(), c.count.Close())
}

// fit makes the views for a pass, if the scratch serves it.
func (c *Scratch) fit(s *device.Stream, p plan) error {
	if c == nil || c.floats == nil {
		return refuse(backwardName, "scratch", device.ErrClosed, "there is none; make one with NewScratch")
	}
	b := c.floats
	switch have := b.Bytes() / dtype.F32.Size(); {
	case b.Closed():
		return refuse(backwardName, "scratch", device.ErrClosed, "it is closed; make one with NewScratch")
	case b.Device() != s.Device():
		return refuse(backwardName, "scratch", device.ErrWrongDevice, "it is on device %s, the stream on %s; make one there with NewScratch", b.Device().Name(), s.Device().Name())
	case have < p.floats():
		return refuse(backwardName, "scratch", device.ErrShape, "it holds %d numbers; here it needs %d, for %d shares of dw of %d columns and the means of %d rows: make one with NewScratch for these tensors",
			have, p.floats(), p.parts+p.groups(), p.n, p.means())
	case p == c.plan:
		return nil
	}
	c.plan = plan{} // until all views are made
	var errs [3]error
	c.part, errs[0] = device.View(b, 0, dtype.F32, []int{p.parts, p.n}, nil)
	c.group, errs[1] = device.View(b, p.parts*p.n, dtype.F32, []int{p.groups(), p.n}, nil)
	c.mean, errs[2] = device.View(b, (p.parts+p.groups())*p.n, dtype.F32, []int{p.means()}, nil)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	c.plan = p
	return nil
}
