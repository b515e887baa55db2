//go:build !gotilegen

package data

import (
	"fmt"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

//go:generate go run ../../cmd/gotile gen .

// Uniform queues filling a contiguous tensor of bf16, f16 or f32: element i, in row-major order, becomes
// tiletest.UniformAt(type, seed, i).
func Uniform(s *device.Stream, t device.Tensor, seed uint64) error {
	if !t.Contiguous() || t.Buffer() == nil {
		return fmt.Errorf("data: %v is not contiguous: %w", t, device.ErrShape)
	}
	flat, err := t.Reshape(t.Elems())
	if err != nil {
		return err
	}
	return launchUniform(s, uniformParams{X: flat, Seed: int64(seed)})
}

// Input makes a tensor of uniform numbers: an input of a benchmark, counted from 0, for one of its groups.
func Input(s *bench.Setup, t dtype.Type, input, group int, shape ...int) (device.Tensor, error) {
	x, err := s.New(t, shape...)
	if err != nil {
		return x, err
	}
	return x, Uniform(s.Stream, x, bench.Seed(input, group))
}

// Cases compare with the host, exactly.
func Cases() []tiletest.Case {
	var out []tiletest.Case
	for _, t := range []dtype.Type{dtype.BF16, dtype.F16, dtype.F32} {
		for _, n := range []int{0, 1, 1000, 2*capacity + 24} {
			out = append(out, tiletest.Case{Name: fmt.Sprintf("%v/n=%d", t, n), Run: func(r *tiletest.Run) error {
				x := r.Out(t, n)
				if err := Uniform(r.Stream, x, r.Seed-2); err != nil { // a seed with all bits set, too
					return err
				}
				r.Compare("x", r.Floats(x), tiletest.Uniform(t, r.Seed-2, n), 0)
				return nil
			}})
		}
	}
	return out
}
