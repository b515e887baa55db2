//go:build !gotilegen

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/copies"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/kernels/rmsnorm"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

type shape struct{ rows, n int }

func (s shape) String() string { return fmt.Sprintf("%dx%d", s.rows, s.n) }

func parseShapes(text string) ([]shape, error) {
	var out []shape
	for _, t := range strings.Split(text, ",") {
		a, b, ok := strings.Cut(t, "x")
		rows, err := strconv.Atoi(a)
		n, err2 := strconv.Atoi(b)
		if !ok || err != nil || err2 != nil || rows < 1 || n < 1 || rows*n%copies.Cols != 0 {
			return nil, fmt.Errorf("shape %q: want ROWSxN, positive, with rows*n a multiple of %d", t, copies.Cols)
		}
		out = append(out, shape{rows, n})
	}
	return out, nil
}

// group is one set of inputs; launches go through as many as exceed three times the L2 cache.
type group struct {
	in    rmsnorm.Inputs
	out   rmsnorm.Outputs
	saved rmsnorm.Saved
	grads rmsnorm.Gradients
	work  *rmsnorm.Scratch
	flat  [3]device.Tensor // x, dy and dx for the copies
}

const cacheBytes = 3 * 60 << 20

// measure times both passes on bf16.
func (s shape) measure(ctx context.Context, d *device.Device, plan bench.Plan) ([]bench.Case, error) {
	tensor := s.rows * s.n * dtype.BF16.Size()
	count := 1
	if d.Kind() == device.CUDA {
		count += cacheBytes / (2 * tensor)
	}
	groups := make([]*group, count)
	var open []io.Closer
	defer func() {
		for _, t := range open {
			t.Close()
		}
	}()
	for i := range groups {
		g, err := s.group(ctx, d, &open)
		if err != nil {
			return nil, err
		}
		groups[i] = g
	}
	st := d.Stream()
	at := func(i int) *group { return groups[i%len(groups)] }
	vectors := s.n*dtype.BF16.Size() + s.rows*dtype.F32.Size() // w and rstd
	fwd := bench.Case{Name: fmt.Sprintf("rmsnorm/fwd/%s/bf16", s), Bytes: 2*tensor + vectors, FLOPs: 4 * s.rows * s.n}
	bwd := bench.Case{Name: fmt.Sprintf("rmsnorm/bwd/%s/bf16", s), Bytes: 3*tensor + vectors, FLOPs: 11 * s.rows * s.n}
	var err error
	if fwd.Arms, err = plan.Measure(ctx, st, []bench.Contender{
		{Name: "gotile", Run: func(i int) error { return rmsnorm.Forward(st, at(i).in, at(i).out) }},
		{Name: "copy", Bytes: 2 * tensor, Run: func(i int) error { return copies.Copy(st, at(i).flat[0], at(i).flat[2]) }},
	}); err != nil {
		return nil, err
	}
	if bwd.Arms, err = plan.Measure(ctx, st, []bench.Contender{
		{Name: "gotile", Run: func(i int) error { return rmsnorm.Backward(st, at(i).saved, at(i).grads, at(i).work) }},
		{Name: "copy2", Bytes: 3 * tensor, Run: func(i int) error {
			return copies.Copy2(st, at(i).flat[0], at(i).flat[1], at(i).flat[2])
		}},
	}); err != nil {
		return nil, err
	}
	return []bench.Case{fwd, bwd}, nil
}

// group makes tensors of uniform numbers.
func (s shape) group(ctx context.Context, d *device.Device, open *[]io.Closer) (*group, error) {
	var failed error
	make := func(t dtype.Type, shape ...int) device.Tensor {
		x, err := device.NewTensor(d, t, shape...)
		if err != nil {
			failed = err
			return x
		}
		*open = append(*open, x)
		return x
	}
	g := &group{}
	g.in = rmsnorm.Inputs{X: make(dtype.BF16, s.rows, s.n), W: make(dtype.BF16, s.n), Eps: 1e-6}
	g.out = rmsnorm.Outputs{Y: make(dtype.BF16, s.rows, s.n), Rstd: make(dtype.F32, s.rows)}
	g.saved = rmsnorm.Saved{X: g.in.X, W: g.in.W, Rstd: g.out.Rstd, DY: make(dtype.BF16, s.rows, s.n)}
	g.grads = rmsnorm.Gradients{DX: make(dtype.BF16, s.rows, s.n), DW: make(dtype.BF16, s.n)}
	if failed != nil {
		return nil, failed
	}
	st := d.Stream()
	work, err := rmsnorm.NewScratch(st, g.saved, g.grads)
	if err != nil {
		return nil, err
	}
	*open = append(*open, work)
	g.work = work
	for i, t := range []device.Tensor{g.in.X, g.saved.DY, g.grads.DX} {
		if g.flat[i], err = device.View(t.Buffer(), 0, dtype.BF16, []int{s.rows * s.n / copies.Cols, copies.Cols}, nil); err != nil {
			return nil, err
		}
	}
	// One stretch of numbers, repeated: making a billion on the host would take longer than the measurement.
	stretch := tiletest.Uniform(dtype.BF16, 1, min(1<<20, s.rows*s.n))
	for _, t := range []device.Tensor{g.in.X, g.saved.DY, g.in.W} {
		if err := fill(st, t, stretch); err != nil {
			return nil, err
		}
	}
	if err := rmsnorm.Forward(st, g.in, g.out); err != nil { // rstd for backward
		return nil, err
	}
	return g, st.Sync(ctx)
}

func fill(s *device.Stream, t device.Tensor, values []float64) error {
	for n, at := t.Elems(), 0; at < n; at += len(values) {
		k := min(len(values), n-at)
		v, err := device.View(t.Buffer(), at, t.DType(), []int{k}, nil)
		if err != nil {
			return err
		}
		if err := device.UploadFloats(s, v, values[:k]); err != nil {
			return err
		}
	}
	return nil
}

// show prints a case's arms in a stable order.
func show(w io.Writer, c bench.Case) {
	for _, name := range slices.Sorted(maps.Keys(c.Arms)) {
		a := c.Arms[name]
		bytes := c.Bytes
		if a.Bytes > 0 {
			bytes = a.Bytes
		}
		fmt.Fprintf(w, "%-32s %-8s %9.2f us  [%.2f, %.2f]  %.3f TB/s\n", c.Name, name, a.Median, a.Min, a.Max, float64(bytes)/a.Median/1e6)
	}
}
