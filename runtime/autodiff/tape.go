package autodiff

import (
	"errors"
	"fmt"
	"sync/atomic"

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
// the op, the line and what it was made of. It copies everything to the host, which a captured step cannot.
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
	case s.Capturing() && (t.anomaly || t.audit.every > 0):
		return nil, &Error{Op: "NewTape", At: here().String(), Err: device.ErrCapture, Text: "Anomaly and Audit look at results on the host, which a captured step cannot: leave them out of it, and run some steps with them outside of the capture"}
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
