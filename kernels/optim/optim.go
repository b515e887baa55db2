//go:build !gotilegen

package optim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"weak"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

//go:generate go run ../../cmd/gotile gen .

// LossIn are the inputs of SquaredErrorOp, of one shape.
type LossIn struct {
	X      autodiff.Tensor `op:"T:bf16|f16|f32"`
	Target autodiff.Tensor `op:"T nograd"`
}

// LossOut is a loss.
type LossOut struct {
	L autodiff.Tensor `op:"[] f32"`
}

// SquaredError is the mean of (x-target)^2 over all elements, in f32.
func SquaredError(t *autodiff.Tape, x, target autodiff.Tensor) autodiff.Tensor {
	return SquaredErrorOp.Apply(t, struct{}{}, LossIn{x, target}).L
}

// SquaredErrorOp is the op of SquaredError.
var SquaredErrorOp = autodiff.New("squared_error", autodiff.Spec[struct{}, LossIn, LossOut, struct{}]{
	Launches: autodiff.Launches{Forward: 2, Backward: 1},
	Accept: func(_ struct{}, in LossIn) error {
		if !in.X.SameShape(in.Target) {
			return fmt.Errorf("the shapes of X and Target are %v and %v, and must be one: %w", in.X.Shape(), in.Target.Shape(), device.ErrShape)
		}
		if in.X.Elems() == 0 {
			return fmt.Errorf("the mean of no elements is not defined, and X is %v: %w", in.X, device.ErrShape)
		}
		return nil
	},
	Forward: func(x *autodiff.Exec, _ struct{}, in LossIn) (out LossOut, s struct{}, err error) {
		part := x.Scratch(dtype.F32, partsOf(in.X.Elems()))
		out.L = x.New(dtype.F32)
		if err := launchErrors(x.Stream(), errorsParams{X: x.Flat(in.X), Target: x.Flat(in.Target), Part: part}); err != nil {
			return out, s, err
		}
		return out, s, launchTotal(x.Stream(), totalParams{Part: part, Y: x.Flat(out.L), Scale: 1 / float32(in.X.Elems())})
	},
	Backward: func(x *autodiff.Exec, _ struct{}, in LossIn, _ struct{}, dl LossOut) (d LossIn, err error) {
		d.X = x.Like(in.X)
		return d, launchErrorsBwd(x.Stream(), errorsBwdParams{
			X: x.Flat(in.X), Target: x.Flat(in.Target), DX: x.Flat(d.X), DY: x.Flat(dl.L), Scale: 2 / float32(in.X.Elems()),
		})
	},
})

// partsOf is how many blocks sum up n elements.
func partsOf(n int) int {
	const most = 256
	return min((n+chunk-1)/chunk, most)
}

// Config are the numbers of AdamW.
type Config struct {
	Beta1, Beta2 float32 // 0: 0.9 and 0.999
	Eps          float32 // 0: 1e-8
	Decay        float32 // of weights, apart from the gradient
	Clip         float32 // largest norm of all gradients together; 0: no limit
}

// AdamW trains parameters: m = b1*m + (1-b1)*g, v = b2*v + (1-b2)*g^2, and with both corrected for the zeros that they
// began with, w -= rate*(m/(sqrt(v)+eps) + decay*w) (Loshchilov and Hutter, 2019). Gradients are scaled down first, all
// by one factor, where their norm is above the limit. The moments are f32; parameters have one copy, of their own type.
// The owner closes it.
type AdamW struct {
	s       *device.Stream
	config  Config
	params  []*autodiff.Param
	m, v    []device.Tensor
	part    device.Tensor
	clip    device.Tensor // [2]: the factor and the norm
	control *autodiff.Control
	steps   int                         // counted by Next
	ready   bool                        // Next has come since the last Step
	done    weak.Pointer[autodiff.Tape] // the tape of the last Step
}

// NewAdamW allocates the moments, all zeros.
func NewAdamW(s *device.Stream, c Config, params ...*autodiff.Param) (*AdamW, error) {
	if c.Beta1 == 0 {
		c.Beta1 = 0.9
	}
	if c.Beta2 == 0 {
		c.Beta2 = 0.999
	}
	if c.Eps == 0 {
		c.Eps = 1e-8
	}
	for _, n := range []struct {
		name     string
		value    float32
		low, top float64
	}{{"Beta1", c.Beta1, 0, 1}, {"Beta2", c.Beta2, 0, 1}, {"Eps", c.Eps, 0, math.MaxFloat32}, {"Decay", c.Decay, 0, math.MaxFloat32}, {"Clip", c.Clip, 0, math.MaxFloat32}} {
		if v := float64(n.value); !(v >= n.low && v < n.top) {
			return nil, fmt.Errorf("optim: Config.%s is %v; it is at least %v and below %v: %w", n.name, n.value, n.low, n.top, autodiff.ErrSpec)
		}
	}
	if s == nil {
		return nil, fmt.Errorf("optim: the stream is nil; use Device.Stream: %w", autodiff.ErrUnset)
	}
	for i, p := range params {
		switch {
		case p == nil:
			return nil, fmt.Errorf("optim: parameter %d is nil; make it with autodiff.NewParam: %w", i, autodiff.ErrUnset)
		case slices.Contains(params[:i], p):
			return nil, fmt.Errorf("optim: parameter %s stands in the list twice; it would move twice a step: %w", p.Name(), autodiff.ErrSpec)
		case p.Data().Check(s.Device()) != nil:
			return nil, fmt.Errorf("optim: parameter %s: %w", p.Name(), p.Data().Check(s.Device()))
		case !p.Data().Contiguous():
			return nil, fmt.Errorf("optim: parameter %s is %v, which is not contiguous; train a contiguous tensor: %w", p.Name(), p.Data(), device.ErrShape)
		}
		if j := slices.IndexFunc(params[:i], func(q *autodiff.Param) bool { return overlap(p.Data(), q.Data()) }); j >= 0 {
			return nil, fmt.Errorf("optim: parameters %s and %s share memory, which would move twice a step, each time by a part of its gradient; use one Param for both: %w",
				params[j].Name(), p.Name(), autodiff.ErrSpec)
		}
	}
	o := &AdamW{s: s, config: c, params: slices.Clone(params)}
	if err := o.allocate(); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// overlap reports whether two contiguous tensors have memory in common.
func overlap(a, b device.Tensor) bool {
	end := func(t device.Tensor) uint64 { return t.Addr() + uint64(t.Elems()*t.DType().Size()) }
	return a.Elems() > 0 && b.Elems() > 0 && a.Addr() < end(b) && b.Addr() < end(a)
}

func (o *AdamW) allocate() (err error) {
	parts := 0
	for _, p := range o.params {
		n := p.Data().Elems()
		parts += partsOf(n)
		for _, list := range []*[]device.Tensor{&o.m, &o.v} {
			t, err := device.NewTensor(o.s.Device(), dtype.F32, n)
			if err != nil {
				return err
			}
			*list = append(*list, t)
			if n > 0 {
				if err := o.s.Fill(t.Buffer(), 0, 4*n, 0); err != nil {
					return err
				}
			}
		}
	}
	if o.part, err = device.NewTensor(o.s.Device(), dtype.F32, parts); err != nil {
		return err
	}
	if o.clip, err = device.NewTensor(o.s.Device(), dtype.F32, 2); err != nil {
		return err
	}
	if err := device.UploadFloats(o.s, o.clip, []float64{1, 0}); err != nil {
		return err
	}
	o.control, err = autodiff.NewControl(o.s, "rate", "correct1", "correct2")
	return err
}

// Next begins a step, with a learning rate: it counts it and queues sending the rate and the corrections to the device.
// It comes before each Step, and before each replay of a captured one; a step that failed is repeated without it.
func (o *AdamW) Next(rate float32) error {
	correct := func(beta float32) float32 { return float32(1 - math.Pow(float64(beta), float64(o.steps+1))) }
	err := errors.Join(
		o.control.Set("rate", rate),
		o.control.Set("correct1", correct(o.config.Beta1)),
		o.control.Set("correct2", correct(o.config.Beta2)),
		o.control.Upload(),
	)
	if err == nil {
		o.steps++
		o.ready = true
	}
	return err
}

// Step changes the parameters by the gradients that Backward left on the tape, once. A parameter without one is an error,
// and nothing is launched.
func (o *AdamW) Step(t *autodiff.Tape) error {
	switch err := t.Err(); {
	case err != nil:
		return err
	case t.Stream() != o.s:
		return fmt.Errorf("optim: the tape is on another stream than the optimizer, whose moments it would race for: make both on one stream: %w", autodiff.ErrForeign)
	case o.done.Value() == t:
		return fmt.Errorf("optim: a second Step on one tape would move the parameters by the same gradients again; make a tape for each step: %w", autodiff.ErrSpec)
	case o.steps == 0 || !o.ready && !o.s.Capturing(): // of a captured step Next comes before each replay
		return fmt.Errorf("optim: Step without Next, which sets the learning rate and counts the step: %w", autodiff.ErrUnset)
	}
	grads := make([]autodiff.Tensor, len(o.params))
	for i, p := range o.params {
		var err error
		if grads[i], err = t.Param(p).Grad(); err != nil {
			return t.Fail(fmt.Errorf("optim: parameter %s has no gradient: %w", p.Name(), err))
		}
	}
	err := t.Update("adamw", func(x *autodiff.Exec) error {
		weights := make([]device.Tensor, len(o.params))
		for i, p := range o.params { // all of them, before anything is launched
			w := x.Mutate(t.Param(p))
			if w.Buffer() == nil {
				return nil // the transaction has the error
			}
			var err error
			if weights[i], err = w.Reshape(w.Elems()); err != nil {
				return err
			}
		}
		from := 0
		for i := range o.params {
			if o.config.Clip == 0 {
				break // no limit: the factor stays 1
			}
			to := from + partsOf(grads[i].Elems())
			part, err := device.View(o.part.Buffer(), from, dtype.F32, []int{to - from}, nil)
			if err == nil {
				err = launchSquares(x.Stream(), squaresParams{X: x.Flat(grads[i]), Part: part})
			}
			if err != nil {
				return err
			}
			from = to
		}
		if o.config.Clip > 0 {
			if err := launchClip(x.Stream(), clipParams{Part: o.part, Clip: o.clip, Limit: o.config.Clip}); err != nil {
				return err
			}
		}
		for i := range o.params {
			if err := launchAdam(x.Stream(), adamParams{
				W: weights[i], G: x.Flat(grads[i]), M: o.m[i], V: o.v[i], Clip: o.clip, Step: o.control.Tensor(),
				Beta1: o.config.Beta1, Beta2: o.config.Beta2, Eps: o.config.Eps, Decay: o.config.Decay,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		o.ready, o.done = o.s.Capturing() && o.ready, weak.Make(t)
	}
	return err
}

// Norm is the norm of all gradients of the last step, before they were scaled; 0 where Config sets no limit, and none is
// computed. It waits for the device.
func (o *AdamW) Norm() (float64, error) {
	v, err := device.DownloadFloats(o.s, o.clip)
	if err != nil {
		return 0, err
	}
	return v[1], nil
}

// Close gives the memory back.
func (o *AdamW) Close() error {
	if o == nil {
		return nil
	}
	var errs []error
	for _, t := range append(append([]device.Tensor{o.part, o.clip}, o.m...), o.v...) {
		if t.Buffer() != nil {
			errs = append(errs, t.Close())
		}
	}
	if o.control != nil {
		errs = append(errs, o.control.Close())
	}
	return errors.Join(errs...)
}
