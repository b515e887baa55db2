package autodiff

import (
	"errors"
	"fmt"
	"maps"
	"slices"

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
				if _, closing := t.Close(); closing != nil && !errors.Is(err, closing) { // mostly step has returned it
					err = errors.Join(err, closing)
				}
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

// Load binds an input anew: it queues a copy of src into the memory of the input that the step put on its tape under
// the name, for the replays that come after. Type and shape are the input's; of that memory itself nothing is
// copied.
func (p *Program) Load(name string, src device.Tensor) error {
	dst, ok := p.inputs[name]
	if !ok {
		return &Error{Op: "Load", At: here().String(), Err: ErrUnset, Text: fmt.Sprintf("the program has no input %q; it has %q", name, slices.Sorted(maps.Keys(p.inputs)))}
	}
	if src == dst {
		return nil
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
func (p *Program) Close() error {
	if p == nil {
		return nil
	}
	return p.graph.Close()
}
