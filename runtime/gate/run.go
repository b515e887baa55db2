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

// through copies a tensor, so that an input is the output of an op, which Recompute drops.
var through = autodiff.New("gate_through", autodiff.Spec[struct{}, throughPort, throughPort, struct{}]{
	MemoryBound: true,
	Forward: func(x *autodiff.Exec, _ struct{}, in throughPort) (out throughPort, s struct{}, err error) {
		out.X = x.Like(in.X)
		from, to := x.View(in.X), x.View(out.X)
		if n := to.Elems() * to.DType().Size(); n > 0 {
			err = x.Stream().Copy(to.Buffer(), 0, from.Buffer(), 0, n)
		}
		return out, s, err
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
	off      bool // by Ref
	again    bool // applied twice
	only     int  // the one input that is tracked, counted from 1; 0: all
}

// outcome is what a run gave.
type outcome struct {
	out, grad [][]float64 // by port; nil where there is none
	types     []dtype.Type
	shapes    [][]int
	counts    autodiff.Counts
	declared  autodiff.Launches // by the op, for this call
	err       error             // of the tape
	changed   string
	leaked    int64 // bytes of the pool in use
	outside   int64 // bytes of the device that a run leaves in use
}

// exec runs the op on values once.
func (g *gates) exec(h how, values [][]float64) (o outcome, err error) {
	pool := autodiff.NewPool(g.s).Poison()
	defer func() { err = errors.Join(err, pool.Close()) }()
	opts := []autodiff.Option{autodiff.WithPool(pool)}
	if !h.again { // the other application is dropped
		opts = append(opts, autodiff.Strict())
	}
	if h.strategy != "" {
		opts = append(opts, autodiff.WithStrategy(h.strategy))
	}
	if h.eval {
		opts = append(opts, autodiff.WithPhase(autodiff.Eval))
	}
	if h.off {
		opts = append(opts, autodiff.Off(g.name))
	}
	t, err := autodiff.NewTape(g.s, opts...)
	if err != nil {
		return o, err
	}
	memory, extra := make([]device.Tensor, len(values)), []device.Tensor(nil)
	defer func() {
		for _, m := range append(memory, extra...) {
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
		if !g.tracked(i) || h.only != 0 && h.only != i+1 {
			leaves[i] = t.Input(g.in[i].Name, memory[i])
		} else {
			leaves[i] = t.TrackedInput(g.in[i].Name, memory[i])
		}
	}
	declared, mismatch := g.declared(t, leaves)
	if mismatch == nil { // otherwise the call has the same error
		o.declared = declared
	}
	others := slices.Clone(leaves)
	for i, v := range values {
		if h.again && g.tracked(i) {
			back := slices.Clone(v)
			slices.Reverse(back)
			m, err := g.upload(g.inputs[i], back)
			if err != nil {
				return o, err
			}
			extra = append(extra, m)
			others[i] = t.TrackedInput("another "+g.in[i].Name, m)
		}
	}
	outs := autodiff.Block(t, func() []autodiff.Tensor {
		args := slices.Clone(leaves)
		if h.interior {
			for i := range args {
				if args[i].Set() {
					args[i] = through.Apply(t, struct{}{}, throughPort{args[i]}).X
				}
			}
		}
		out := g.apply(t, args)
		if h.again { // another application, of other inputs, with what it saves
			g.apply(t, others)
		}
		return out
	})
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
		for _, y := range outs {
			y.Retain()
		}
		if len(seeds) > 0 && t.BackwardFrom(seeds...) == nil {
			for i, y := range outs {
				if !y.Set() {
					continue
				}
				now, err := y.Floats()
				if err != nil {
					return o, err
				}
				if !same(now, o.out[i]) {
					o.changed = "output " + g.out[i].Name
				}
			}
			for _, seed := range seeds {
				now, err := device.DownloadFloats(g.s, seed.Grad)
				if err != nil {
					return o, err
				}
				if i := slices.Index(outs, seed.Of); !same(now, seedData(i, seed.Grad.DType(), seed.Grad.Elems())) {
					o.changed = "gradient of " + g.out[i].Name
				}
			}
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
		if !same(now, values[i]) {
			o.changed = "input " + g.in[i].Name
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
