package autodiff

import (
	"cmp"
	"slices"

	"github.com/gotile/gotile/runtime/device"
)

// Param is memory that is trained: the same on all tapes. It is safe for concurrent use.
type Param struct {
	name string
	data device.Tensor
}

// NewParam names a parameter. The memory stays the caller's. What is wrong with it is said by Tape.Param.
func NewParam(name string, d device.Tensor) *Param { return &Param{name, d} }

// Name is the parameter's name.
func (p *Param) Name() string { return p.name }

// Data is the parameter's memory, to load and to save it. Between the first use on a tape and the tape's end only
// Update may change it.
func (p *Param) Data() device.Tensor { return p.data }

// Param is the parameter on this tape: the same tensor however often it is asked for, tracked where the tape trains.
func (t *Tape) Param(p *Param) Tensor {
	if p == nil {
		if t.enter("Param") {
			t.fail(&Error{Op: "Param", At: here().String(), Err: ErrUnset, Text: "the parameter is nil; make it with NewParam"})
			t.leave()
		}
		return Tensor{}
	}
	if t != nil && t.params[p] != nil && t.err == nil {
		return Tensor{t.params[p]}
	}
	if !t.enter("Param") {
		return Tensor{}
	}
	defer t.leave()
	v, err := t.param(p)
	t.fail(err)
	return Tensor{v}
}

// param is the parameter on this tape.
func (t *Tape) param(p *Param) (*value, error) {
	if v := t.params[p]; v != nil {
		return v, nil
	}
	v, err := t.place("Param", p.name, p.data, true)
	if err == nil {
		t.params[p] = v
	}
	return v, err
}

// Params are the parameters that the tape was asked for, by name.
func (t *Tape) Params() []*Param {
	if t == nil {
		return nil
	}
	var out []*Param
	for p := range t.params {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *Param) int { return cmp.Compare(a.name, b.name) })
	return out
}

// Use is an input port of an op that was applied.
type Use struct{ Op, Port string }

// Uses are the ports that a parameter was given to on the open tape, in the order of the applications, each once. Of an
// op that took its Ref they are those of the ops that Ref is composed of.
func (t *Tape) Uses(p *Param) []Use {
	if t == nil || t.params[p] == nil {
		return nil
	}
	var out []Use
	for _, n := range t.nodes {
		for i, v := range n.in {
			if u := (Use{n.core.name, n.core.in.list[i].name}); v == t.params[p] && !slices.Contains(out, u) {
				out = append(out, u)
			}
		}
	}
	return out
}
