package autodiff

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/env"
	"github.com/gotile/gotile/runtime/device"
)

// Phase says what a tape is for. The books are kept by it.
type Phase string

// The phases.
const (
	Train Phase = "train" // gradients are wanted
	Eval  Phase = "eval"  // nothing is tracked
)

// Strategy says what happens, until Backward, to the outputs of memory-bound ops.
type Strategy string

// The strategies.
const (
	SaveAll   Strategy = "save-all"  // they are kept
	Recompute Strategy = "recompute" // at the end of a Block they are dropped, and made again where Backward needs them
)

// Tape records the ops of one step, from the inputs to the gradients. It belongs to one goroutine at a time, and says
// so when it is misused. Everything that its ops make lives on it, until backward has passed it or the tape is closed.
type Tape struct {
	s        *device.Stream
	phase    Phase
	strategy Strategy
	strict   bool
	anomaly  bool
	audit    auditor
	off      map[string]bool
	names    []string // of Off
	pool     *Pool
	own      bool // the pool is the tape's

	nodes  []*node
	made   []*value // outputs of ops and gradients handed out
	leaves []*value
	params map[*Param]*value
	inputs map[string]device.Tensor // by Input and TrackedInput
	stores map[*device.Buffer]*storage
	blocks []block
	refs   int    // depth of Refs that run
	twice  string // an input's name that stands for two tensors
	nested int    // launches of replays within other passes, which are counted there

	err    error // the first
	ran    bool  // Backward was called
	closed bool
	busy   atomic.Bool
	clash  atomic.Pointer[Error]
	book   Ledger

	// Memory of what lives as long as the tape, and of checks.
	values   slab[value]
	grads    slab[gradient]
	storages slab[storage]
	execs    slab[Exec]
	lists    slab[*value]
	versions slab[int64]
	syms     symbols
}

// node is an op that was applied, fused.
type node struct {
	core    *core
	app     application
	at      position
	book    *Counts // where it is counted
	tracked bool
	inner   bool // part of a Ref
	passed  bool // its backward step has run
	dropped bool // its outputs and what it saved were given back at the end of a Block
	in, out []*value
	seen    []int64    // versions of in, then of out
	held    []*storage // what it saved
	extra   []*value   // outputs of a replay that what it saved refers to
}

// Option is a choice of NewTape.
type Option func(*Tape)

// WithPhase sets the phase; the default is Train.
func WithPhase(p Phase) Option { return func(t *Tape) { t.phase = p } }

// WithStrategy sets the strategy; the default is SaveAll.
func WithStrategy(s Strategy) Option { return func(t *Tape) { t.strategy = s } }

// WithPool takes the memory of intermediate tensors from a pool that outlives the tape.
func WithPool(p *Pool) Option { return func(t *Tape) { t.pool = p } }

// Strict makes dropped nodes an error of Close: ops that were applied to tracked tensors and whose backward step never
// ran. Those within a Ref are counted only: it may have outputs that nobody uses.
func Strict() Option { return func(t *Tape) { t.strict = true } }

// Off sends the named ops to their Ref, as GOTILE_OFF does. Names that no op has are an error of NewTape.
func Off(names ...string) Option { return func(t *Tape) { t.names = append(t.names, names...) } }

// Anomaly looks at every result, forward and backward, and makes the first that is not finite the tape's error, with
// the op, the line and what it was made of. It copies everything to the host.
func Anomaly() Option { return func(t *Tape) { t.anomaly = true } }

// NewTape makes a tape on a stream. It reports what is wrong with the ops of the program, environment variables of
// gotile's prefix that it does not have, and names in GOTILE_OFF and Off that no op has.
func NewTape(s *device.Stream, opts ...Option) (*Tape, error) {
	if s == nil {
		return nil, &Error{Op: "NewTape", At: here().String(), Err: ErrUnset, Text: "the stream is nil; use Device.Stream"}
	}
	t := &Tape{s: s, phase: Train, strategy: SaveAll, params: map[*Param]*value{}, inputs: map[string]device.Tensor{}, stores: map[*device.Buffer]*storage{}}
	for _, o := range opts {
		if o != nil {
			o(t)
		}
	}
	if err := errors.Join(registered(), env.Check()); err != nil {
		return nil, err
	}
	var err error
	if t.off, err = switchedOff(t.names); err != nil {
		return nil, err
	}
	switch {
	case t.phase != Train && t.phase != Eval:
		return nil, &Error{Op: "NewTape", At: here().String(), Err: ErrSpec, Text: fmt.Sprintf("the phase %q; there are %s and %s", t.phase, Train, Eval)}
	case t.strategy != SaveAll && t.strategy != Recompute:
		return nil, &Error{Op: "NewTape", At: here().String(), Err: ErrSpec, Text: fmt.Sprintf("the strategy %q; there are %s and %s", t.strategy, SaveAll, Recompute)}
	case t.pool == nil && s.Capturing():
		return nil, &Error{Op: "NewTape", At: here().String(), Err: ErrGrow, Text: "in a capture a tape with a pool of its own would have to allocate: make it with Recording.Tape"}
	case t.pool == nil:
		t.pool, t.own = NewPool(s), true
	case t.pool.s != s:
		return nil, &Error{Op: "NewTape", At: here().String(), Err: ErrForeign, Text: "the pool was made for another stream; make one for this one with NewPool"}
	case t.pool.closed:
		return nil, &Error{Op: "NewTape", At: here().String(), Err: ErrClosed, Text: "the pool is closed"}
	case t.pool.recording != nil: // however the tape is made, its books are the program's
		t.pool.recording.tapes = append(t.pool.recording.tapes, t)
	}
	return t, nil
}

// Stream is what the tape's kernels are launched on; nil for a nil Tape.
func (t *Tape) Stream() *device.Stream {
	if t == nil {
		return nil
	}
	return t.s
}

// Phase is what the tape is for.
func (t *Tape) Phase() Phase {
	if t == nil {
		return ""
	}
	return t.phase
}

// Err is the first error; nil while there is none. That of a nil Tape is ErrUnset: on one, nothing is done.
func (t *Tape) Err() error {
	if t == nil {
		return &Error{Op: "Tape", At: here().String(), Err: ErrUnset, Text: "the tape is nil; see the error that NewTape returned with it"}
	}
	return t.err
}

// fail keeps the first error.
func (t *Tape) fail(err error) {
	if t != nil && t.err == nil && err != nil {
		t.err = err
	}
}

// enter claims the tape for a call that can do nothing after an error.
func (t *Tape) enter(call string) bool {
	if !t.claim(call) {
		return false
	}
	t.fail(t.clashed())
	if t.closed {
		t.fail(&Error{Op: call, At: here().String(), Err: ErrClosed, Text: "the tape is closed; make a new one for each step"})
	}
	if t.err != nil {
		t.leave()
		return false
	}
	return true
}

// claim takes the tape for one call. Another goroutine that has it is seen, and both learn of it: the one that comes
// second by an empty result, the tape by an error. There is nothing to take of a nil Tape.
func (t *Tape) claim(call string) bool {
	if t == nil {
		return false
	}
	if t.busy.CompareAndSwap(false, true) {
		return true
	}
	t.clash.CompareAndSwap(nil, &Error{Op: call, At: here().String(), Err: ErrConcurrent})
	return false
}

// clashed is the use by two goroutines that was seen.
func (t *Tape) clashed() error {
	if e := t.clash.Load(); e != nil {
		return e
	}
	return nil
}

func (t *Tape) leave() { t.busy.Store(false) }

// Fail makes err the tape's error, if it has none yet: for code around a tape that finds a step wrong, such as an
// optimizer. It returns the tape's error.
func (t *Tape) Fail(err error) error {
	t.fail(err)
	return t.Err()
}

// Input puts memory on the tape as a tensor that no gradient flows to. The memory stays the caller's, must stay open
// until the tape is closed and must not be written by others meanwhile. The name is for messages.
func (t *Tape) Input(name string, d device.Tensor) Tensor { return t.input("Input", name, d, false) }

// TrackedInput is Input for a tensor whose gradient is wanted though it is no parameter.
func (t *Tape) TrackedInput(name string, d device.Tensor) Tensor {
	return t.input("TrackedInput", name, d, true)
}

// input is Input and TrackedInput.
func (t *Tape) input(call, name string, d device.Tensor, track bool) Tensor {
	if !t.enter(call) {
		return Tensor{}
	}
	defer t.leave()
	v, err := t.place(call, name, d, track)
	if err != nil {
		t.fail(err)
		return Tensor{}
	}
	if old, ok := t.inputs[name]; ok && old != d {
		t.twice = name
	}
	t.inputs[name] = d
	return Tensor{v}
}

// place puts memory on the tape.
func (t *Tape) place(call, name string, d device.Tensor, track bool) (*value, error) {
	if err := d.Check(t.s.Device()); err != nil {
		return nil, &Error{Op: call, Port: name, At: here().String(), Err: err}
	}
	if track && !floating(d.DType()) {
		return nil, &Error{Op: call, Port: name, At: here().String(), Err: device.ErrDType, Text: fmt.Sprintf("%v has no gradient; the types that do are bf16, f16 and f32", d)}
	}
	v := t.value(d, t.storageOf(d.Buffer()))
	v.name, v.track, v.retain = name, track && t.phase == Train, true
	t.leaves = append(t.leaves, v)
	return v, nil
}

func floating(dt dtype.Type) bool { return dt == dtype.BF16 || dt == dtype.F16 || dt == dtype.F32 }

// checkIn holds an application's inputs against the ports.
func (t *Tape) checkIn(c *core, in []*value, at position) error {
	s := t.syms.reset()
	for i := range c.in.list {
		p, v := &c.in.list[i], in[i]
		var err error
		var text string
		switch {
		case v == nil && p.optional:
			continue
		case v == nil:
			err, text = ErrUnset, "the tensor is not set; its port's tag does not say optional"
		case v.tape != t:
			err, text = ErrForeign, fmt.Sprintf("%v is on another tape; put its memory on this one with Input, or use one tape for a step", v)
		case v.store == nil:
			err, text = ErrFreed, fmt.Sprintf("%v: %s", v, freedText)
		case v.data.Buffer().Closed():
			err, text = device.ErrClosed, fmt.Sprintf("the memory of %v was closed; keep it open until the tape is closed", v)
		case v.track && p.nograd:
			err, text = ErrUntracked, fmt.Sprintf("%v is tracked, and no gradient flows through this port: Detach it, with the reason", v)
		case v.track && !c.back:
			err, text = ErrUntracked, fmt.Sprintf("%v is tracked, and the op has no Backward: Detach it, with the reason", v)
		default:
			text, err = p.check(v, s)
		}
		if text != "" {
			return &Error{Op: c.name, Port: p.name, At: at.String(), Err: err, Text: text}
		}
	}
	return nil
}

// checkOut holds what an op returned against its ports.
func (t *Tape) checkOut(c *core, in, out []*value, at position) error {
	s := t.syms.reset()
	for i := range c.in.list {
		if in[i] != nil {
			c.in.list[i].check(in[i], s)
		}
	}
	for i := range c.out.list {
		p, v := &c.out.list[i], out[i]
		var err error
		var text string
		switch {
		case v == nil && p.optional:
			continue
		case v == nil:
			err, text = ErrUnset, "the op has returned no tensor; make it with Exec.Like or Exec.New, or tag the port optional"
		case v.tape != t || v.store == nil:
			err, text = ErrForeign, "the op has returned a tensor that is not of this call; make it with Exec.Like or Exec.New"
		default:
			text, err = p.check(v, s)
		}
		if text != "" {
			return &Error{Op: c.name, Port: p.name, At: at.String(), Err: err, Text: text}
		}
	}
	return nil
}

// Update runs body, which changes memory in place: an optimizer's step. It is counted under name. Parameters that the
// body changes are read through Exec.View and changed through Exec.Mutate; the body asks for them by Exec.Param.
func (t *Tape) Update(name string, body func(x *Exec) error) error {
	if !t.enter(name) {
		return t.Err()
	}
	defer t.leave()
	if body == nil {
		t.fail(&Error{Op: name, At: here().String(), Err: ErrUnset, Text: "there is no function to run"})
		return t.err
	}
	at := here()
	x := t.exec(name, nil, false, &at)
	n, err := t.phased("optimizer", func() error { return x.guarded(body) })
	t.book.update(t.phase, name, n)
	if err = x.cause(err); err != nil {
		x.end(false)
		t.fail(err)
		return err
	}
	x.end(true)
	for _, v := range x.made {
		t.release(v.store)
		v.store = nil
	}
	return nil
}

// cause is the error of a transaction: the first mistake in it, or what its body returned.
func (x *Exec) cause(err error) error {
	if x.err != nil {
		return x.err
	}
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return err
	}
	return &Error{Op: x.name, At: x.at.String(), Err: err}
}

// phased runs body with the stream in a phase, and counts the launches.
func (t *Tape) phased(name string, body func() error) (launches int, err error) {
	old, before, inner := t.s.Phase(), t.s.Launches(), t.nested
	t.s.SetPhase(name)
	defer t.s.SetPhase(old)
	err = body()
	all := t.s.Launches() - before
	launches = all - (t.nested - inner)
	t.nested = inner + all
	return launches, err
}

// Close ends the tape: it gives back all memory that the tape's ops have made, checks that the books balance and returns
// them. The error is the tape's first one; without one, in strict mode, ErrDropped with the lines of the ops whose
// backward never ran. Closing twice gives the same books and ErrClosed; while another goroutine uses the tape it is
// ErrConcurrent, with empty books, and the tape stays open.
func (t *Tape) Close() (*Ledger, error) {
	if t == nil {
		return &Ledger{}, t.Err()
	}
	if !t.claim("Close") {
		return &Ledger{}, t.clashed()
	}
	defer t.leave()
	t.fail(t.clashed())
	if t.closed {
		return &t.book, &Error{Op: "Close", At: here().String(), Err: ErrClosed, Text: "the tape is closed already"}
	}
	t.closed = true
	dropped := t.countDropped()
	for _, n := range t.nodes {
		t.forget(n)
	}
	for _, v := range append(t.made, t.leaves...) {
		t.release(v.store)
		v.store = nil
		if v.grad != nil {
			t.release(v.grad.store)
			v.grad = nil
		}
	}
	t.nodes, t.made, t.leaves = nil, nil, nil
	err := t.err
	if err == nil {
		err = t.book.Check()
	}
	if err == nil && t.strict {
		err = dropped
	}
	t.fail(err)
	if t.own {
		err = errors.Join(err, t.pool.Close())
	}
	return &t.book, err
}

// forget gives back what a node keeps for its backward step.
func (t *Tape) forget(n *node) {
	for _, s := range n.held {
		t.release(s)
	}
	for _, v := range n.extra {
		t.release(v.store)
		v.store = nil
	}
	n.held, n.extra = nil, nil
}

// countDropped counts the tracked nodes without a backward step, and names the first ones.
func (t *Tape) countDropped() error {
	const most = 5
	var first error
	var more int
	var list string
	for _, n := range t.nodes {
		if !n.tracked || n.passed {
			continue
		}
		t.book.of(t.phase, n.core).Dropped++
		if n.inner {
			continue // a Ref may have outputs that nobody uses
		}
		if more++; more <= most {
			list += fmt.Sprintf("\n\t%s: %s", n.at, n.core.name)
		}
	}
	if more > 0 {
		if more > most {
			list += fmt.Sprintf("\n\tand %d more", more-most)
		}
		first = &Error{Op: "Close", Err: ErrDropped, Text: fmt.Sprintf("the backward step of %d ops never ran; use their results, Detach their inputs, or evaluate on a tape WithPhase(Eval):%s", more, list)}
	}
	return first
}
