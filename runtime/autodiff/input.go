package autodiff

import (
	"fmt"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
)

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
