//go:build !gotilegen

package host

import (
	"errors"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/data"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// elements of each operand of the op that is applied.
const elements = 256

// setupApply times ops.Add, which launches one kernel, of operands that are tracked and that are not, beside the
// driver's launch.
func setupApply(s *bench.Setup) ([]bench.Contender, error) {
	f, err := loadEmpty(s.Stream)
	if err != nil {
		return nil, err
	}
	var in [2]device.Tensor
	for i := range in {
		if in[i], err = data.Input(s, dtype.F32, i, 0, elements); err != nil {
			return nil, err
		}
	}
	var list []bench.Contender
	for _, a := range []struct {
		name string
		leaf func(t *autodiff.Tape, name string, d device.Tensor) autodiff.Tensor
	}{{"apply", (*autodiff.Tape).TrackedInput}, {"apply_untracked", (*autodiff.Tape).Input}} {
		pool := autodiff.NewPool(s.Stream)
		s.Own(pool)
		var t *autodiff.Tape
		var x, y autodiff.Tensor
		apply := timed{s: s.Stream,
			before: func() (err error) {
				if t, err = autodiff.NewTape(s.Stream, autodiff.WithPool(pool)); err == nil {
					x, y = a.leaf(t, "x", in[0]), a.leaf(t, "y", in[1])
				}
				return err
			},
			each: func() error {
				ops.Add(t, x, y)
				return nil // an error is the tape's, which keeps it
			},
			after: func() error {
				books, err := t.Close()
				if c := books.Of(autodiff.Train, ops.AddOp.Name()); err == nil && c.Fused != batch {
					err = errors.New("the op was not applied as often as it should")
				}
				return err
			},
		}
		list = append(list, apply.contender(a.name))
	}
	return append(list, driverLaunches(s.Stream, f)...), nil
}
