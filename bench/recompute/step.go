//go:build !gotilegen

package recompute

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/internal/blocks"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// problem is a shape of the model.
type problem struct {
	blocks, rows, n int
	dt              dtype.Type
}

// model is the blocks with the memory that a step leaves its gradients in: of the input, then of the weights.
type model struct {
	*blocks.Model
	s     *device.Stream
	grads []device.Tensor
	want  [][]byte // the bytes of grads after the first arm's step
}

// arm is a strategy with its pool, launch by launch or as a graph.
type arm struct {
	m        *model
	strategy autodiff.Strategy
	pool     *autodiff.Pool
	program  *autodiff.Program // nil: launch by launch
	beside   map[string]float64
}

func (p problem) setup(s *bench.Setup) ([]bench.Contender, error) {
	_, list, err := p.contenders(s)
	return list, err
}

func (p problem) contenders(s *bench.Setup) (*model, []bench.Contender, error) {
	m := &model{s: s.Stream}
	var err error
	if m.Model, err = blocks.New(s, p.dt, p.blocks, p.rows, p.n); err != nil {
		return nil, nil, err
	}
	like := []device.Tensor{m.H}
	for _, w := range m.Params {
		like = append(like, w.Data())
	}
	for _, x := range like {
		g, err := s.New(p.dt, x.Shape()...)
		if err != nil {
			return nil, nil, err
		}
		m.grads = append(m.grads, g)
	}
	var out []bench.Contender
	for _, a := range arms {
		c := bench.Contender{Name: a.name}
		run, err := m.arm(s, a.strategy, a.graph)
		if err == nil && m.want == nil {
			m.want, err = run.gradients(s.Context())
		}
		if err != nil {
			c.Err = err
		} else {
			c.Time, c.Figures = run.time, run.figures
		}
		out = append(out, c)
	}
	return m, out, nil
}

// arm runs a step, so that the kernels are loaded and the pool has all that it needs, and another one to count.
func (m *model) arm(s *bench.Setup, strategy autodiff.Strategy, graph bool) (*arm, error) {
	a := &arm{m: m, strategy: strategy, pool: autodiff.NewPool(m.s)}
	s.Own(a)
	if _, err := a.eager(); err != nil {
		return nil, err
	}
	a.pool.ResetPeak()
	before := m.s.Launches()
	var books *autodiff.Ledger
	var err error
	if graph {
		a.program, err = autodiff.Capture(a.pool, func(r *autodiff.Recording) error {
			t, err := r.Tape(a.options()...)
			if err == nil {
				books, err = a.step(t)
			}
			return err
		})
	} else {
		books, err = a.eager()
	}
	if err != nil {
		return nil, err
	}
	replays := 0
	for _, c := range books.Ops[autodiff.Train] {
		replays += c.Replays
	}
	a.beside = map[string]float64{
		"peak_bytes": float64(a.pool.Stats().Peak), "launches": float64(m.s.Launches() - before), "replays": float64(replays),
	}
	if graph {
		a.beside["nodes"] = float64(a.program.Nodes())
	}
	return a, nil
}

// Close gives the graph back, and then the memory that it holds.
func (a *arm) Close() error {
	var err error
	if a.program != nil {
		err = a.program.Close()
	}
	return errors.Join(err, a.pool.Close())
}

func (a *arm) options() []autodiff.Option {
	return []autodiff.Option{autodiff.WithStrategy(a.strategy), autodiff.WithPool(a.pool), autodiff.Strict()}
}

// eager is a step, launch by launch.
func (a *arm) eager() (*autodiff.Ledger, error) {
	t, err := autodiff.NewTape(a.m.s, a.options()...)
	if err != nil {
		return nil, err
	}
	return a.step(t)
}

// step goes forward and backward and copies the gradients out, as what a graph computes is lost otherwise.
func (a *arm) step(t *autodiff.Tape) (*autodiff.Ledger, error) {
	h := t.TrackedInput("h", a.m.H)
	err := t.BackwardFrom(autodiff.Seed{Of: a.m.Forward(t, h), Grad: a.m.Like})
	for i, dst := range a.m.grads {
		if err != nil {
			break
		}
		x := h
		if i > 0 {
			x = t.Param(a.m.Params[i-1])
		}
		var g autodiff.Tensor
		if g, err = x.Grad(); err == nil {
			err = t.CopyTo(dst, g)
		}
	}
	books, closing := t.Close()
	return books, errors.Join(err, closing)
}

// run queues a step.
func (a *arm) run() error {
	if a.program != nil {
		return a.program.Replay()
	}
	_, err := a.eager()
	return err
}

// time is n steps on the device, from the end of another one on.
func (a *arm) time(ctx context.Context, n int) (us float64, err error) {
	if err := a.run(); err != nil {
		return 0, err
	}
	start, err := a.m.s.Record()
	if err != nil {
		return 0, err
	}
	defer start.Close()
	for range n {
		if err := a.run(); err != nil {
			return 0, err
		}
	}
	end, err := a.m.s.Record()
	if err != nil {
		return 0, err
	}
	defer end.Close()
	if err := end.Sync(ctx); err != nil {
		return 0, err
	}
	t, err := end.Since(start)
	return float64(t) / float64(time.Microsecond), err
}

// gradients runs a step over memory filled with NaN and reads what it leaves.
func (a *arm) gradients(ctx context.Context) ([][]byte, error) {
	const nan = 0xff // of every float type
	size := func(t device.Tensor) int { return t.Elems() * t.DType().Size() }
	for _, g := range a.m.grads {
		if err := a.m.s.Fill(g.Buffer(), 0, size(g), nan); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(a.run(), a.m.s.Sync(ctx)); err != nil {
		return nil, err
	}
	var out [][]byte
	for i, g := range a.m.grads {
		b := make([]byte, size(g))
		if err := a.m.s.CopyOut(b, g.Buffer(), 0); err != nil {
			return nil, err
		}
		if bytes.Count(b, []byte{nan}) == len(b) || bytes.Count(b, []byte{0}) == len(b) {
			return nil, fmt.Errorf("%w: gradient %d is not written, or zero", bench.ErrWrong, i)
		}
		out = append(out, b)
	}
	return out, nil
}

// figures compares the gradients with the first arm's, bit by bit.
func (a *arm) figures(ctx context.Context, _ float64) (map[string]float64, error) {
	got, err := a.gradients(ctx)
	if err != nil {
		return nil, err
	}
	for i := range got {
		if !bytes.Equal(got[i], a.m.want[i]) {
			return nil, fmt.Errorf("%w: gradient %d differs from that of %s", bench.ErrWrong, i, arms[0].name)
		}
	}
	return a.beside, nil
}
