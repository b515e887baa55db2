package autodiff

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Control is a block of named f32 numbers in device memory, which kernels read: what changes from step to step, such as
// the learning rate, though a graph repeats its launches exactly. The owner closes it.
type Control struct {
	s     *device.Stream
	names []string
	data  device.Tensor
	host  []*slot // used in turn
	next  int
	value []float32
}

// slot is pinned memory, and the point in the stream's work after which it may be written again.
type slot struct {
	b    *device.HostBuffer
	done *device.Event
}

// NewControl makes a block of numbers, 0 at first.
func NewControl(s *device.Stream, names ...string) (*Control, error) {
	if s == nil || len(names) == 0 {
		return nil, &Error{Op: "NewControl", At: here().String(), Err: ErrUnset, Text: "a control needs a stream and at least one name"}
	}
	c := &Control{s: s, names: slices.Clone(names), value: make([]float32, len(names))}
	var err error
	if c.data, err = device.NewTensor(s.Device(), dtype.F32, len(names)); err != nil {
		return nil, err
	}
	const slots = 4 // uploads under way at once
	for range slots {
		b, err := s.Device().Pinned(4 * len(names))
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.host = append(c.host, &slot{b: b})
	}
	return c, c.Upload()
}

// Set changes a number on the host; Upload sends all.
func (c *Control) Set(name string, v float32) error {
	i := slices.Index(c.names, name)
	if i < 0 {
		return &Error{Op: "Control.Set", At: here().String(), Err: ErrUnset, Text: fmt.Sprintf("there is no number %q; there are %q", name, c.names)}
	}
	c.value[i] = v
	return nil
}

// Tensor is all numbers, in the order of the names.
func (c *Control) Tensor() device.Tensor { return c.data }

// Upload queues sending the numbers to the device: what is queued on the stream afterwards sees them. It is not part of
// a step that is captured, but comes before each replay.
func (c *Control) Upload() error {
	if len(c.host) == 0 {
		return &Error{Op: "Control.Upload", At: here().String(), Err: ErrClosed, Text: "the control is closed"}
	}
	if c.s.Capturing() {
		return &Error{Op: "Control.Upload", At: here().String(), Err: device.ErrCapture, Text: "a captured step reads the numbers, it does not send them: upload before each replay, as AdamW.Next does"}
	}
	h := c.host[c.next]
	c.next = (c.next + 1) % len(c.host)
	if h.done != nil {
		if err := errors.Join(h.done.Sync(context.Background()), h.done.Close()); err != nil {
			return err
		}
		h.done = nil
	}
	for i, v := range c.value {
		binary.LittleEndian.PutUint32(h.b.Bytes()[4*i:], math.Float32bits(v))
	}
	err := c.s.CopyInAsync(c.data.Buffer(), 0, h.b, 0, 4*len(c.value))
	if err == nil {
		h.done, err = c.s.Record()
	}
	return err
}

// Close gives the memory back.
func (c *Control) Close() error {
	if c == nil {
		return nil
	}
	errs := []error{c.data.Close()}
	for _, h := range c.host {
		if h.done != nil {
			errs = append(errs, h.done.Close())
		}
		errs = append(errs, h.b.Close())
	}
	c.host = nil
	return errors.Join(errs...)
}
