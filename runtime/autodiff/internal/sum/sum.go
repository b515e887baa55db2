//go:build !gotilegen

package sum

import (
	"fmt"

	"github.com/gotile/gotile/runtime/device"
)

//go:generate go run ../../../../cmd/gotile gen .

// Add queues out = a + b for contiguous tensors of one type, bf16, f16 or f32, and shape. out may be a or b.
func Add(s *device.Stream, out, a, b device.Tensor) error {
	fo, err := flat(out)
	if err != nil {
		return err
	}
	fa, err := flat(a)
	if err != nil {
		return err
	}
	fb, err := flat(b)
	if err != nil {
		return err
	}
	return launchAdd(s, addParams{A: fa, B: fb, Out: fo})
}

// Fill queues setting every element of a contiguous tensor of bf16, f16 or f32 to a value.
func Fill(s *device.Stream, out device.Tensor, value float32) error {
	f, err := flat(out)
	if err != nil {
		return err
	}
	return launchFill(s, fillParams{Out: f, Value: value})
}

// flat is a contiguous tensor as one row.
func flat(t device.Tensor) (device.Tensor, error) {
	if t.Buffer() == nil || !t.Contiguous() {
		return t, fmt.Errorf("%v is not contiguous: %w", t, device.ErrShape)
	}
	return t.Reshape(t.Elems())
}
