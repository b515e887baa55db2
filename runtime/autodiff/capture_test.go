package autodiff_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/ops"
	"github.com/gotile/gotile/kernels/optim"
	"github.com/gotile/gotile/runtime/autodiff"
	"github.com/gotile/gotile/runtime/device"
)

// A step that gives the mean squared error of x*w, and w's gradient, in memory that outlives the tape.
type regression struct {
	x, y, loss, grad device.Tensor
	w                *autodiff.Param
}

func newRegression(t testing.TB, s *device.Stream) *regression {
	one := func() device.Tensor { return tensor(t, s, dtype.F32, make([]float64, 4), 4) }
	return &regression{
		x: one(), y: one(), loss: tensor(t, s, dtype.F32, []float64{0}), grad: one(),
		w: autodiff.NewParam("w", tensor(t, s, dtype.F32, []float64{1, 2, 3, 4}, 4)),
	}
}

func (r *regression) step(tp *autodiff.Tape) error {
	w := tp.Param(r.w)
	loss := optim.SquaredError(tp, ops.Mul(tp, tp.Input("x", r.x), w), tp.Input("y", r.y))
	if err := tp.Backward(loss); err != nil {
		return err
	}
	g, err := w.Grad()
	if err != nil {
		return err
	}
	return errors.Join(tp.CopyTo(r.loss, loss.Detach("to report")), tp.CopyTo(r.grad, g))
}

// capture runs the step once, so that the pool has its memory, and captures it.
func (r *regression) capture(t testing.TB, s *device.Stream, pool *autodiff.Pool, opts ...autodiff.Option) *autodiff.Program {
	t.Helper()
	tp := tape(t, s, append(opts, autodiff.WithPool(pool))...)
	if err := r.step(tp); err != nil {
		t.Fatal(err)
	}
	closed(t, tp)
	p, err := autodiff.Capture(pool, func(rec *autodiff.Recording) error {
		tp, err := rec.Tape(opts...)
		if err != nil {
			return err
		}
		return r.step(tp)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Many replays, each with other inputs, are the eager step each time; the books are their sum.
func TestReplaysWithOtherInputs(t *testing.T) {
	s := sim(t)
	r := newRegression(t, s)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	p := r.capture(t, s, pool)
	defer p.Close()
	const replays = 50
	x, y := tensor(t, s, dtype.F32, make([]float64, 4), 4), tensor(t, s, dtype.F32, make([]float64, 4), 4)
	for i := range replays {
		f := float64(i)
		vx, vy := []float64{f, -f, f / 2, 1}, []float64{1, f, 0, -f}
		if err := errors.Join(device.UploadFloats(s, x, vx), device.UploadFloats(s, y, vy), p.Load("x", x), p.Load("y", y), p.Load("x", p.Inputs()["x"]), p.Replay()); err != nil {
			t.Fatal(err)
		}
		loss, want := 0.0, make([]float64, 4)
		for j := range want {
			e := vx[j]*float64(j+1) - vy[j] // exact: small integers and halves
			loss += e * e / 4
			want[j] = 2 * e / 4 * vx[j]
		}
		for _, c := range []struct {
			what string
			got  device.Tensor
			want []float64
		}{{"loss", r.loss, []float64{loss}}, {"gradient", r.grad, want}} {
			v, err := device.DownloadFloats(s, c.got)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, fmt.Sprintf("replay %d: %s", i, c.what), v, c.want)
		}
	}
	if got, want := p.Ledger().String(), "train mul=50/50 bwd=50 squared_error=50/50 bwd=50"; got != want {
		t.Errorf("the ledger is %q, want %q", got, want)
	}
	// mul, two of the loss, the fill that backward begins with, one backward step each; two copies out.
	if p.Nodes() != 8 {
		t.Errorf("%d nodes: %v", p.Nodes(), p.Kernels())
	}
}

// The garbage collector may run at any time of a capture: what only the graph needs stays, and each replay is right.
func TestCollectionWithinCapture(t *testing.T) {
	s := sim(t)
	for range 10 {
		r := newRegression(t, s)
		pool := autodiff.NewPool(s).Poison()
		collect := func() {
			runtime.GC()
			_ = make([]byte, 1<<20)
			runtime.GC()
		}
		step := func(tp *autodiff.Tape, err error) error {
			if err != nil {
				return err
			}
			x := tp.Input("x", r.x)
			for range 4 {
				collect()
				x = ops.Mul(tp, x, tp.Param(r.w))
			}
			loss := optim.SquaredError(tp, x, tp.Input("y", r.y))
			collect()
			if err := tp.Backward(loss); err != nil {
				return err
			}
			collect()
			g, err := tp.Param(r.w).Grad()
			return errors.Join(err, tp.CopyTo(r.grad, g))
		}
		if err := device.UploadFloats(s, r.x, []float64{1, 1, 1, 1}); err != nil {
			t.Fatal(err)
		}
		tp := tape(t, s, autodiff.WithPool(pool))
		if err := step(tp, nil); err != nil {
			t.Fatal(err)
		}
		closed(t, tp)
		p, err := autodiff.Capture(pool, func(rec *autodiff.Recording) error { return step(rec.Tape()) })
		if err != nil {
			t.Fatal(err)
		}
		if err := pool.Close(); err != nil { // the graph holds the memory that it uses
			t.Fatal(err)
		}
		collect()
		zero := tensor(t, s, dtype.F32, make([]float64, 4), 4)
		if err := errors.Join(s.Copy(r.grad.Buffer(), 0, zero.Buffer(), 0, 16), p.Replay()); err != nil {
			t.Fatal(err)
		}
		v, err := device.DownloadFloats(s, r.grad)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "dw", v, []float64{2, 2 * 128, 2 * 2187, 2 * 16384}) // 2w^7, of w^8/4
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What a Block does not return is recycled within the step, and so are gradients; a program has no more memory than the
// eager step.
func TestIntermediatesAreRecycled(t *testing.T) {
	s := sim(t)
	r := newRegression(t, s)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	const depth, bytes = 20, 512 // the least of a tensor
	step := func(tp *autodiff.Tape, err error) error {
		if err != nil {
			return err
		}
		x := tp.Input("x", r.x)
		for range depth {
			x = autodiff.Block(tp, func() autodiff.Tensor {
				y := x
				for range 4 {
					y = ops.Silu(tp, y)
				}
				return y
			})
		}
		return tp.CopyTo(r.grad, x)
	}
	tp := tape(t, s, autodiff.WithPhase(autodiff.Eval), autodiff.WithPool(pool))
	if err := step(tp, nil); err != nil {
		t.Fatal(err)
	}
	closed(t, tp)
	eager := pool.Stats()
	if eager.Peak != (depth+3)*bytes || eager.Reserved != eager.Peak {
		t.Errorf("%d blocks of 4 ops each had %d bytes, and a peak of %d", depth, eager.Reserved, eager.Peak)
	}
	train := autodiff.NewPool(s)
	defer train.Close()
	tp = tape(t, s, autodiff.WithPool(train))
	x := tp.Param(r.w)
	for range depth {
		x = ops.Silu(tp, x)
	}
	if err := tp.BackwardFrom(autodiff.Seed{Of: x, Grad: r.grad}); err != nil {
		t.Fatal(err)
	}
	closed(t, tp)
	if st := train.Stats(); st.Reserved > (depth+2)*bytes { // every op's output, a gradient in and one out
		t.Errorf("%d ops with their gradients had %d bytes", depth, st.Reserved)
	}
	p, err := autodiff.Capture(pool, func(rec *autodiff.Recording) error { return step(rec.Tape(autodiff.WithPhase(autodiff.Eval))) })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if st := pool.Stats(); st != (autodiff.PoolStats{Peak: eager.Peak, Reserved: eager.Reserved}) {
		t.Errorf("the pool after the capture: %+v, before it %+v", st, eager)
	}
	if p.Nodes() != 4*depth+1 {
		t.Errorf("%d nodes", p.Nodes())
	}
}

// A tape made in a capture is in the program's books, however it is made.
func TestTapesOfAProgram(t *testing.T) {
	s := sim(t)
	r := newRegression(t, s)
	pool := autodiff.NewPool(s)
	defer pool.Close()
	r.capture(t, s, pool).Close()
	p, err := autodiff.Capture(pool, func(rec *autodiff.Recording) error {
		for _, make := range []func() (*autodiff.Tape, error){
			func() (*autodiff.Tape, error) { return rec.Tape() },
			func() (*autodiff.Tape, error) { return autodiff.NewTape(s, autodiff.WithPool(pool)) },
		} {
			tp, err := make()
			if err != nil {
				return err
			}
			if err := r.step(tp); err != nil {
				return err
			}
			if _, err := tp.Close(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Replay(); err != nil {
		t.Fatal(err)
	}
	if got, want := p.Ledger().String(), "train mul=2/2 bwd=2 squared_error=2/2 bwd=2"; got != want {
		t.Errorf("the ledger is %q, want %q", got, want)
	}
	if got := slices.Sorted(maps.Keys(p.Inputs())); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("the inputs are %q", got)
	}
}
