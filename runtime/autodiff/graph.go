package autodiff

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

// Program is a captured step: what its tapes launched, ready to be replayed as a whole. It repeats kernels and sizes
// exactly; what may differ from one replay to the next is the contents of the memory that it reads: inputs (Load), a
// Control, parameters. The owner closes it.
type Program struct {
	s       *device.Stream
	pool    *Pool
	graph   *device.Graph
	inputs  map[string]device.Tensor
	once    Ledger // of one replay
	replays int
}

// Recording is a capture under way. All tapes of its pool are in its books.
type Recording struct {
	pool  *Pool
	tapes []*Tape
}

// Tape is NewTape with the capture's stream and pool.
func (r *Recording) Tape(opts ...Option) (*Tape, error) {
	return NewTape(r.pool.s, append(slices.Clone(opts), WithPool(r.pool))...)
}

// Capture calls step, which applies ops to tapes of the recording, runs Backward and Update; nothing of it runs, it
// becomes the program. The tapes are closed at its end, if step has not done so. The pool must have been used by the
// same step before: a step that makes it grow is ErrGrow. What else a graph cannot hold, such as reading results on the
// host, or other streams, is device.ErrCapture.
//
// The program holds the memory that it was captured with, which the pool may give to later tapes on the same stream:
// what a replay has computed is to be copied out within the step (Tape.CopyTo).
func Capture(pool *Pool, step func(r *Recording) error) (*Program, error) {
	if step == nil {
		return nil, &Error{Op: "Capture", At: here().String(), Err: ErrUnset, Text: "there is no step to capture"}
	}
	if pool == nil || pool.s == nil {
		return nil, &Error{Op: "Capture", At: here().String(), Err: ErrUnset, Text: "the pool is nil; make one with NewPool, run the step once with it, then capture"}
	}
	p := &Program{s: pool.s, pool: pool, inputs: map[string]device.Tensor{}}
	r := &Recording{pool: pool}
	var err error
	p.graph, err = pool.s.Capture(func() error {
		pool.recording = r
		defer func() { pool.recording = nil }()
		err := step(r)
		for _, t := range r.tapes {
			if !t.closed {
				_, closing := t.Close()
				err = errors.Join(err, closing)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, t := range r.tapes {
		if t.twice != "" {
			return nil, errors.Join(&Error{Op: "Capture", At: here().String(), Err: ErrSpec,
				Text: fmt.Sprintf("two inputs are called %q; a program's inputs are known by name", t.twice)}, p.graph.Close())
		}
		p.once.Add(&t.book, 1)
		for name, d := range t.inputs {
			if old, ok := p.inputs[name]; ok && old != d {
				return nil, errors.Join(&Error{Op: "Capture", At: here().String(), Err: ErrSpec,
					Text: fmt.Sprintf("two inputs are called %q; a program's inputs are known by name", name)}, p.graph.Close())
			}
			p.inputs[name] = d
		}
	}
	return p, nil
}

// Replay queues the step. It is refused while a tape with the same pool is open, whose tensors it would write over.
func (p *Program) Replay() error {
	if p.pool.inUse > 0 {
		return &Error{Op: "Replay", At: here().String(), Err: ErrChanged, Text: fmt.Sprintf("an open tape has %d bytes of the pool, which the replay writes to: close the tape first, or give it a pool of its own", p.pool.inUse)}
	}
	if err := p.graph.Launch(p.s); err != nil {
		return err
	}
	p.replays++
	return nil
}

// Load binds an input anew: it queues a copy of src into the memory of the input that the step put on its tape under the name, for the replays
// that come after. Type and shape are the input's.
func (p *Program) Load(name string, src device.Tensor) error {
	dst, ok := p.inputs[name]
	if !ok {
		return &Error{Op: "Load", At: here().String(), Err: ErrUnset, Text: fmt.Sprintf("the program has no input %q; it has %q", name, slices.Sorted(maps.Keys(p.inputs)))}
	}
	return copyTensor(p.s, "Load", dst, src)
}

// Inputs is the memory of the inputs, by name.
func (p *Program) Inputs() map[string]device.Tensor { return p.inputs }

// Nodes is the number of launches, fills and copies that a replay makes.
func (p *Program) Nodes() int { return p.graph.Nodes() }

// Kernels counts the launches of a replay, by kernel.
func (p *Program) Kernels() map[string]int { return p.graph.Kernels() }

// Ledger is the books of all replays so far.
func (p *Program) Ledger() *Ledger {
	l := &Ledger{}
	l.Add(&p.once, p.replays)
	return l
}

// Close gives the graph back; a replay that is under way goes on.
func (p *Program) Close() error { return p.graph.Close() }

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
		if dst.Buffer() != nil {
			at := here()
			t.storageOf(dst.Buffer()).writer = &at
		}
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
