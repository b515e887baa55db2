//go:build !gotilegen

package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/internal/blocks"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// problem is the model of a step. Its tensors are so small that the host is what takes time.
type problem struct {
	blocks, rows, n int
	repeats         int // of what stands beside the time
}

// published has 405 launches: 2 a block forward, 2 backward, 4 of the optimizer; 2 of the loss and 1 of its gradient, 1
// that begins backward, and 1 of the clip.
var published = problem{blocks: 50, rows: 16, n: 128, repeats: 21}

const rate = 1e-3

// trainer is a model with its optimizer. Its step is forward, squared error, backward, clipping by the norm of all
// gradients and AdamW.
type trainer struct {
	*blocks.Model
	problem
	s       *device.Stream
	pool    *autodiff.Pool
	opt     *optim.AdamW
	program *autodiff.Program // nil: launch by launch
	gpu     *autodiff.Program // the step as a graph, of either
	beside  map[string]float64
}

// setup makes two trainers of one model, whose parameters must be the same, bit by bit, after as many steps.
func (p problem) setup(s *bench.Setup) ([]bench.Contender, error) {
	const steps = 4
	var list []bench.Contender
	var want [][]byte
	for _, name := range []string{"eager", "graph"} {
		t, err := p.trainer(s)
		if err != nil {
			return nil, err
		}
		done, err := t.prepare(name == "graph")
		for ; err == nil && done < steps; done++ {
			err = t.run()
		}
		var got [][]byte
		if err == nil {
			got, err = t.weights(s.Context())
		}
		if want == nil {
			want = got
		}
		if err == nil && !slices.EqualFunc(got, want, bytes.Equal) {
			err = fmt.Errorf("%w: after %d steps the parameters differ from those of steps launch by launch", bench.ErrWrong, steps)
		}
		c := bench.Contender{Name: name, Time: t.time, Figures: t.figures}
		if errors.Is(err, bench.ErrWrong) {
			c.Figures = func(context.Context, float64) (map[string]float64, error) { return nil, err }
		} else {
			c.Err = err
		}
		list = append(list, c)
	}
	return list, nil
}

func (p problem) trainer(s *bench.Setup) (*trainer, error) {
	t := &trainer{problem: p, s: s.Stream, pool: autodiff.NewPool(s.Stream)}
	s.Own(t)
	var err error
	if t.Model, err = blocks.New(s, dtype.F32, p.blocks, p.rows, p.n); err != nil {
		return nil, err
	}
	t.opt, err = optim.NewAdamW(s.Stream, optim.Config{Decay: 0.01, Clip: 1}, t.Params...)
	return t, err
}

// Close gives the graph back before the memory that it holds.
func (t *trainer) Close() error {
	var errs []error
	if t.gpu != nil {
		errs = append(errs, t.gpu.Close())
	}
	errs = append(errs, t.pool.Close())
	if t.opt != nil {
		errs = append(errs, t.opt.Close())
	}
	return errors.Join(errs...)
}

// prepare runs a step, counts its launches and captures it; it says how many steps it has run.
func (t *trainer) prepare(graph bool) (done int, err error) {
	before := t.s.Launches()
	if err := t.run(); err != nil {
		return 0, err
	}
	launches := t.s.Launches() - before
	t.gpu, err = autodiff.Capture(t.pool, func(r *autodiff.Recording) error {
		tape, err := r.Tape(autodiff.Strict())
		if err != nil {
			return err
		}
		return t.step(tape)
	})
	if err != nil {
		return 1, err
	}
	t.beside = map[string]float64{"launches": float64(launches), "nodes": float64(t.gpu.Nodes())}
	if graph {
		t.program = t.gpu
	}
	return 1, nil
}

func (t *trainer) step(tape *autodiff.Tape) error {
	y := t.Forward(tape, tape.Input("h", t.H))
	loss := optim.SquaredError(tape, y, tape.Input("target", t.Like))
	err := tape.Backward(loss)
	if err == nil {
		err = t.opt.Step(tape)
	}
	_, closing := tape.Close()
	return errors.Join(err, closing)
}

// run queues a step, from the learning rate on.
func (t *trainer) run() error {
	if err := t.opt.Next(rate); err != nil {
		return err
	}
	if t.program != nil {
		return t.program.Replay()
	}
	tape, err := autodiff.NewTape(t.s, autodiff.WithPool(t.pool), autodiff.Strict())
	if err != nil {
		return err
	}
	return t.step(tape)
}

// time is n steps, one after the other, until the device has done them, by the host's clock.
func (t *trainer) time(ctx context.Context, n int) (float64, error) {
	if err := t.s.Sync(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	for range n {
		if err := t.run(); err != nil {
			return 0, err
		}
	}
	err := t.s.Sync(ctx)
	return float64(time.Since(start)) / float64(time.Microsecond), err
}

// figures are host_us, the time that the host takes to queue a step while the device has nothing else to do; gpu_us, the
// time of the step's graph on the device, replayed back to back; and gpu_busy, gpu_us as a part of a step's time. gpu_us
// is that of the kernels and of what lies between two nodes of a graph, so gpu_busy is at most what the device computes.
func (t *trainer) figures(ctx context.Context, us float64) (map[string]float64, error) {
	host := make([]float64, t.repeats)
	for i := range host {
		if err := t.s.Sync(ctx); err != nil {
			return nil, err
		}
		start := time.Now()
		if err := t.run(); err != nil {
			return nil, err
		}
		host[i] = float64(time.Since(start)) / float64(time.Microsecond)
	}
	slices.Sort(host)
	t.beside["host_us"] = host[len(host)/2]
	gpu, err := t.device(ctx, t.repeats)
	if err != nil {
		return nil, err
	}
	t.beside["gpu_us"], t.beside["gpu_busy"] = gpu, gpu/us
	if norm, err := t.opt.Norm(); err != nil || !(norm > 0) || math.IsInf(norm, 0) {
		return nil, errors.Join(err, fmt.Errorf("%w: the norm of the gradients is %v", bench.ErrWrong, norm))
	}
	return t.beside, nil
}

// device is the time of the graph on the device, in microseconds: the median of a few rounds of replays back to back,
// the first of which finds the device busy.
func (t *trainer) device(ctx context.Context, replays int) (float64, error) {
	rounds := min(5, replays)
	us := make([]float64, rounds)
	for i := range us {
		if err := t.gpu.Replay(); err != nil {
			return 0, err
		}
		start, err := t.s.Record()
		if err != nil {
			return 0, err
		}
		for range replays {
			if err := t.gpu.Replay(); err != nil {
				return 0, errors.Join(err, start.Close())
			}
		}
		end, err := t.s.Record()
		if err != nil {
			return 0, errors.Join(err, start.Close())
		}
		err = end.Sync(ctx)
		if err == nil {
			var d time.Duration
			d, err = end.Since(start)
			us[i] = float64(d) / float64(time.Microsecond) / float64(replays)
		}
		if err = errors.Join(err, start.Close(), end.Close()); err != nil {
			return 0, err
		}
	}
	slices.Sort(us)
	return us[rounds/2], nil
}

// weights reads all parameters.
func (t *trainer) weights(ctx context.Context) ([][]byte, error) {
	if err := t.s.Sync(ctx); err != nil {
		return nil, err
	}
	var out [][]byte
	for _, p := range t.Params {
		w := p.Data()
		b := make([]byte, w.Elems()*w.DType().Size())
		if err := t.s.CopyOut(b, w.Buffer(), 0); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
