package autodiff

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/gotile/gotile/runtime/device"
)

// Spec is what an op does. P are its parameters, host values that no gradient flows to; In and Out are structs of
// Tensors, one a port, whose tags are described at New; S is what Forward saves for Backward: any struct.
//
// Everything here may be called many times and keeps no state. A Tensor of In or S is read by Exec.View within the call.
type Spec[P, In, Out, S any] struct {
	// Launches are how many kernels Forward and Backward launch for tensors with elements, all inputs tracked; the gates
	// compare them with what is measured.
	Launches Launches

	// LaunchesOf are the same where they depend on the call: on sizes, or on what is tracked. The inputs may be looked at
	// (Exec.View); nothing is launched. nil: they are Launches.
	LaunchesOf func(x *Exec, p P, in In) Launches

	// Accept says, before anything is launched, whether Forward can take these tensors: nil, Decline(reason), upon which
	// the call runs Ref, or what is wrong with the call, which is an error. nil accepts everything that the ports allow.
	Accept func(p P, in In) error

	// Forward launches the kernels. It makes the outputs by Exec.Like and Exec.New.
	Forward func(x *Exec, p P, in In) (Out, S, error)

	// Backward launches the kernels of the gradients: of each input that needs one (Exec.Needs), given that of each
	// output. It returns the gradients in a struct like the inputs'; one that is missing is an error, one that is not
	// needed is dropped. The gradient of an output that nothing used is zeros, or the zero Tensor where the port's tag
	// says raw. nil: no gradient flows through the op, and its outputs are not tracked.
	Backward func(x *Exec, p P, in In, s S, dOut Out) (In, error)

	// Ref is the same function composed of other ops: what runs where the op is declined or switched off, and what
	// audits and gates compare it with. nil: it can be neither.
	Ref func(t *Tape, p P, in In) Out

	// MemoryBound says that running Forward again costs less than keeping its outputs is worth: under Recompute they are
	// dropped at the end of a Block and made again in Backward.
	MemoryBound bool
}

// Launches counts kernels.
type Launches struct{ Forward, Backward int }

// Op is an operation, safe for use by all tapes.
type Op[P, In, Out, S any] struct {
	core
	spec  Spec[P, In, Out, S]
	saves []uintptr // the fields of S of type device.Tensor
}

// core is what does not depend on the types.
type core struct {
	name    string
	at      position
	err     error // why it cannot be used
	in, out ports
	back    bool // it has a Backward
	ref     bool
	memory  bool
	decl    Launches // where they are the same for all calls
}

// Name is what the op is counted by.
func (c *core) Name() string { return c.name }

// Port describes an input or an output.
type Port struct {
	Name     string
	NoGrad   bool // an input that no gradient flows to
	Optional bool
}

// Ports are the op's inputs and outputs, in the order of the fields.
func (c *core) Ports() (in, out []Port) {
	list := func(ps ports) (out []Port) {
		for _, p := range ps.list {
			out = append(out, Port{p.name, p.nograd, p.optional})
		}
		return out
	}
	return list(c.in), list(c.out)
}

// HasRef reports whether the op has a Ref.
func (c *core) HasRef() bool { return c.ref }

// New registers an op under a name of its own, of one word: "rmsnorm". It is called where the op's variable is declared;
// what is wrong with the spec is reported by NewTape, and by the first Apply.
//
// In and Out have exported fields of type Tensor only. The tag op:"[rows,n] T:bf16|f16|f32 nograd" of a field gives, each
// of them optional and parted by blanks: the shape, in symbols and sizes, equal symbols being equal sizes over all
// ports; the element types, after a symbol where other ports have the same one (T alone refers to it, T|f32 is that or
// f32); nograd for an input that no gradient flows to; optional for a port that may be left unset; and, for an output,
// raw: Backward wants the zero Tensor where no gradient came, instead of zeros.
func New[P, In, Out, S any](name string, spec Spec[P, In, Out, S]) *Op[P, In, Out, S] {
	op := &Op[P, In, Out, S]{spec: spec}
	op.name, op.at, op.back, op.ref, op.memory, op.decl = name, here(), spec.Backward != nil, spec.Ref != nil, spec.MemoryBound, spec.Launches
	var errs [3]error
	op.in, errs[0] = portsOf(reflect.TypeFor[In](), false)
	op.out, errs[1] = portsOf(reflect.TypeFor[Out](), true)
	if spec.Forward == nil {
		errs[2] = errors.New("it has no Forward")
	}
	if l := spec.Launches; l.Forward < 0 || l.Backward < 0 {
		errs[2] = errors.Join(errs[2], fmt.Errorf("it declares %d and %d launches; where they depend on the call, LaunchesOf says them", l.Forward, l.Backward))
	}
	if holds(reflect.TypeFor[P](), nil) {
		errs[2] = errors.Join(errs[2], fmt.Errorf("its parameters %v hold a Tensor, whose gradient would be lost: give it a port", reflect.TypeFor[P]()))
	}
	saves, err := memoryOf(reflect.TypeFor[S](), 0, nil)
	op.saves = saves
	if err := errors.Join(append(errs[:], err)...); err != nil {
		op.err = &Error{Op: name, At: op.at.String(), Err: ErrSpec, Text: err.Error()}
	}
	register(&op.core)
	return op
}

// holds reports whether values of a type hold Tensors. within are the types around t.
func holds(t reflect.Type, within []reflect.Type) bool {
	if t == tensorType || slices.Contains(within, t) {
		return t == tensorType
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if holds(t.Field(i).Type, within) {
				return true
			}
		}
	case reflect.Array, reflect.Slice, reflect.Map, reflect.Pointer:
		return holds(t.Elem(), within)
	}
	return false
}

// memoryOf gives the offsets of the device.Tensors in what an op saves. within are the types around t.
func memoryOf(t reflect.Type, at uintptr, within []reflect.Type) (out []uintptr, err error) {
	if t == tensorType || slices.Contains(within, t) {
		return nil, nil
	}
	within = append(within, t)
	add := func(in reflect.Type, at uintptr) {
		more, e := memoryOf(in, at, within)
		out, err = append(out, more...), errors.Join(err, e)
	}
	switch t.Kind() {
	case reflect.Struct:
		if t == reflect.TypeFor[device.Tensor]() {
			return []uintptr{at}, nil
		}
		for i := range t.NumField() {
			add(t.Field(i).Type, at+t.Field(i).Offset)
		}
	case reflect.Array:
		for i := range t.Len() {
			more, e := memoryOf(t.Elem(), at+uintptr(i)*t.Elem().Size(), within)
			out, err = append(out, more...), errors.Join(err, e)
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if add(t.Elem(), 0); len(out) > 0 {
			return nil, fmt.Errorf("what it saves has a %v, in which the tape cannot see memory that is to be kept; save device.Tensors in fields", t)
		}
	}
	return out, err
}
