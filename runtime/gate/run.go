package gate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/internal/fixture"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// through hands a tensor on, so that an input is the output of an op.
var through = autodiff.New("gate_through", autodiff.Spec[struct{}, throughPort, throughPort, struct{}]{
	Forward: func(x *autodiff.Exec, _ struct{}, in throughPort) (throughPort, struct{}, error) {
		return throughPort{x.Alias(in.X, in.X.Shape()...)}, struct{}{}, nil
	},
	Backward: func(x *autodiff.Exec, _ struct{}, _ throughPort, _ struct{}, dy throughPort) (throughPort, error) {
		return dy, nil
	},
})

type throughPort struct{ X autodiff.Tensor }

// how is a way to run the op.
type how struct {
	strategy autodiff.Strategy
	interior bool   // inputs are outputs of another op
	seeded   []int  // outputs that get a gradient; nil: all
	same     [2]int // ports that get one tensor; equal: none
	eval     bool
}

// outcome is what a run gave.
type outcome struct {
	out, grad [][]float64 // by port; nil where there is none
	types     []dtype.Type
	shapes    [][]int
	counts    autodiff.Counts
	err       error // of the tape
	changed   string
	leaked    int64
}

// exec runs the op on values once.
func (g *gates) exec(h how, values [][]float64) (o outcome, err error) {
	pool := autodiff.NewPool(g.s).Poison()
	defer func() { err = errors.Join(err, pool.Close()) }()
	opts := []autodiff.Option{autodiff.WithPool(pool), autodiff.Strict()}
	if h.strategy != "" {
		opts = append(opts, autodiff.WithStrategy(h.strategy))
	}
	if h.eval {
		opts = append(opts, autodiff.WithPhase(autodiff.Eval))
	}
	t, err := autodiff.NewTape(g.s, opts...)
	if err != nil {
		return o, err
	}
	memory := make([]device.Tensor, len(values))
	defer func() {
		for _, m := range memory {
			if m.Buffer() != nil {
				err = errors.Join(err, m.Close())
			}
		}
	}()
	leaves := make([]autodiff.Tensor, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		if h.same[0] != h.same[1] && i == h.same[1] {
			leaves[i] = leaves[h.same[0]]
			continue
		}
		if memory[i], err = g.upload(g.inputs[i], v); err != nil {
			return o, err
		}
		if g.in[i].NoGrad || !floating(g.inputs[i].Type) {
			leaves[i] = t.Input(g.in[i].Name, memory[i])
		} else {
			leaves[i] = t.TrackedInput(g.in[i].Name, memory[i])
		}
	}
	outs := autodiff.Block(t, func() tensors {
		args := slices.Clone(leaves)
		if h.interior {
			for i := range args {
				if args[i].Set() {
					args[i] = through.Apply(t, struct{}{}, throughPort{args[i]}).X
				}
			}
		}
		return keep(g.apply(t, args))
	}).list(len(g.out))
	o.out, o.types, o.shapes = make([][]float64, len(outs)), make([]dtype.Type, len(outs)), make([][]int, len(outs))
	for i, y := range outs {
		if y.Set() {
			o.types[i], o.shapes[i] = y.DType(), y.Shape()
			if o.out[i], err = y.Floats(); err != nil {
				return o, err
			}
		}
	}
	if t.Err() == nil && !h.eval {
		seeds, closing, err := g.seeds(h, outs)
		defer closing()
		if err != nil {
			return o, err
		}
		if len(seeds) > 0 && t.BackwardFrom(seeds...) == nil {
			o.grad = make([][]float64, len(leaves))
			for i, x := range leaves {
				if x.Tracked() {
					d, err := x.Grad()
					if err == nil {
						o.grad[i], err = d.Floats()
					}
					if err != nil {
						return o, err
					}
				}
			}
		}
	}
	for i, m := range memory {
		if m.Buffer() == nil {
			continue
		}
		now, err := device.DownloadFloats(g.s, m)
		if err != nil {
			return o, err
		}
		if !slices.Equal(now, values[i]) {
			o.changed = g.in[i].Name
		}
	}
	ledger, closing := t.Close()
	phase := autodiff.Train
	if h.eval {
		phase = autodiff.Eval
	}
	o.counts, o.err = ledger.Of(phase, g.name), closing
	o.leaked = pool.Stats().InUse
	return o, nil
}

// tensors are outputs in a struct, as Block takes them.
type tensors struct{ A, B, C, D, E, F autodiff.Tensor }

func keep(list []autodiff.Tensor) (t tensors) {
	for i, to := range []*autodiff.Tensor{&t.A, &t.B, &t.C, &t.D, &t.E, &t.F}[:len(list)] {
		*to = list[i]
	}
	return t
}

func (t tensors) list(n int) []autodiff.Tensor {
	return []autodiff.Tensor{t.A, t.B, t.C, t.D, t.E, t.F}[:n]
}

// upload makes a tensor of an input's type and shape.
func (g *gates) upload(in Input, v []float64) (device.Tensor, error) {
	d, err := g.s.NewTensor(in.Type, in.Shape...)
	if err != nil {
		return d, err
	}
	if err := device.UploadFloats(g.s, d, v); err != nil {
		return device.Tensor{}, errors.Join(err, d.Close())
	}
	return d, nil
}

// seeds are gradients of the outputs: the same in every run.
func (g *gates) seeds(h how, outs []autodiff.Tensor) (seeds []autodiff.Seed, closing func(), err error) {
	closing = func() {
		for _, s := range seeds {
			err = errors.Join(err, s.Grad.Close())
		}
	}
	for i, y := range outs {
		if !y.Tracked() || h.seeded != nil && !slices.Contains(h.seeded, i) {
			continue
		}
		d, err := g.upload(Input{Type: y.DType(), Shape: y.Shape()}, seedData(i, y.DType(), y.Elems()))
		if err != nil {
			return seeds, closing, err
		}
		seeds = append(seeds, autodiff.Seed{Of: y, Grad: d})
	}
	return seeds, closing, nil
}

// seedData is the gradient of output i.
func seedData(i int, t dtype.Type, n int) []float64 { return fixture.Uniform(t, uint64(1000+i), n) }

// rounded is v as the type holds it.
func (g *gates) rounded(in Input, v []float64) ([]float64, error) {
	d, err := g.upload(in, v)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := device.DownloadFloats(g.s, d)
	if err != nil {
		return nil, fmt.Errorf("rounding an input: %w", err)
	}
	return out, nil
}
