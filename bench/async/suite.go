//go:build !gotilegen

package async

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gotile/gotile/bench"
	"github.com/gotile/gotile/bench/copies"
	"github.com/gotile/gotile/bench/data"
	"github.com/gotile/gotile/dtype"
	"github.com/gotile/gotile/runtime/device"
	"github.com/gotile/gotile/tile/tiletest"
)

// The shapes that are published: of one size, with narrow and with wide rows, which decide the threads of a block.
var shapes = []string{"131072x1024", "32768x4096"}

// widest is the most columns of a kernel.
const widest = 4096

// The numbers of blocks on a multiprocessor that are tried, and what it holds: kernels of which fewer fit are left out.
var blocksPerSM = []int{1, 2, 3, 4, 8}

const (
	maxThreads = 65536 / 40 // by their registers, which are up to 40 a thread
	maxShared  = 227 << 10  // of all its blocks, each of which takes 1 KB more than it asks for
)

// Suite is what gotile bench async runs.
func Suite() bench.Suite { return bench.Suite{Name: "async", Benchmarks: benchmarks} }

// problem is a shape and the number of blocks on a multiprocessor.
type problem struct{ rows, n, blocks int }

func benchmarks(sel bench.Selection) ([]bench.Benchmark, error) {
	if sel.Shapes == nil {
		sel.Shapes = shapes
	}
	for _, t := range sel.DTypes {
		if t != dtype.BF16.String() {
			return nil, fmt.Errorf("-dtypes: %q; have %v", t, dtype.BF16)
		}
	}
	var out []bench.Benchmark
	for _, shape := range sel.Shapes {
		a, b, _ := strings.Cut(shape, "x")
		rows, err1 := strconv.Atoi(a)
		n, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil || rows < 1 || n < 1 || n > widest || n%vector != 0 {
			return nil, fmt.Errorf("-shapes: %q: want ROWSxN, such as %s, with N a multiple of %d up to %d", shape, shapes[0], vector, widest)
		}
		for _, blocks := range blocksPerSM {
			p := problem{rows, n, blocks}
			if len(p.arms()) == 0 {
				continue
			}
			out = append(out, bench.Benchmark{
				Name:  fmt.Sprintf("async/blocks%d/%s/%v", blocks, shape, dtype.BF16),
				Bytes: p.tensor(), // the sums are a per cent of it
				FLOPs: 3 * rows * n,
				Input: p.tensor(),
				Setup: p.setup,
			})
		}
	}
	return out, nil
}

// tensor is the size of X in bytes.
func (p problem) tensor() int { return p.rows * p.n * dtype.BF16.Size() }

// arms are the kernels for the shape of which so many blocks fit on a multiprocessor.
func (p problem) arms() []config {
	var out []config
	for _, c := range arms {
		c.columns = 1024
		if p.n > c.columns {
			c.columns = widest
		}
		if p.blocks*c.threads() <= maxThreads && p.blocks*(c.shared()+1<<10) <= maxShared {
			out = append(out, c)
		}
	}
	return out
}

// setup makes X, the outputs, which all variants share, and the contenders: the variants, of which sync is the first,
// and a plain copy of X.
func (p problem) setup(s *bench.Setup) ([]bench.Contender, error) {
	sms := s.Stream.Device().Info().SMs
	parts := min(p.rows, p.blocks*sms)
	groups := make([]params, s.Groups)
	var err error
	for i := range groups {
		if groups[i].X, err = data.Input(s, dtype.BF16, 0, i, p.rows, p.n); err != nil {
			return nil, err
		}
	}
	last := groups[len(groups)-1]
	if last.Sums, err = s.New(dtype.F32, parts, p.n); err != nil {
		return nil, err
	}
	if last.Squares, err = s.New(dtype.F32, parts, p.n); err != nil {
		return nil, err
	}
	y, err := s.New(dtype.BF16, p.rows, p.n)
	if err != nil {
		return nil, err
	}
	var out []bench.Contender
	for _, c := range p.arms() {
		out = append(out, bench.Contender{
			Name: c.arm(),
			Launch: func(i int) error {
				return c.launch(s.Stream, params{groups[i].X, last.Sums, last.Squares})
			},
			Outputs: map[string]device.Tensor{"sums": last.Sums, "squares": last.Squares},
			Checks:  func(group int) []bench.Check { return p.checks(group, parts) },
			Figures: func(context.Context, float64) (map[string]float64, error) {
				return map[string]float64{"in_flight_bytes": float64(parts * c.inFlight(p.n)), "threads_per_sm": float64(p.blocks * c.threads())}, nil
			},
		})
	}
	return append(out, bench.Contender{
		Name:   copies.Name(1, 1),
		Bytes:  2 * p.tensor(),
		Launch: func(i int) error { return copies.Copy(s.Stream, []device.Tensor{groups[i].X}, []device.Tensor{y}) },
	}), nil
}

// inFlight is how many bytes a block has asked for and not got yet, at most: the row that all wait for; the rows of the ring
// but for that which is read; all slots of the pipeline, as one that is read is refilled at once.
func (c config) inFlight(n int) int {
	row := n * dtype.BF16.Size()
	switch c.variant {
	case "sync":
		return row
	case "cpasync":
		return (c.stages - 1) * row
	}
	return c.stages * row
}

// checks compare the last columns of a few parts with a float64 reference. The tolerance leaves room for sums in f32 in
// any order.
func (p problem) checks(group, parts int) []bench.Check {
	const columns, tol = 16, 1e-4
	first, each := max(0, p.n-columns), rowsOfPart(p.rows, parts)
	var out []bench.Check
	for _, part := range slices.Compact([]int{0, parts / 2, parts - 1}) {
		sums, squares := make([]float64, p.n-first), make([]float64, p.n-first)
		for r := min(part*each, p.rows); r < min((part+1)*each, p.rows); r++ {
			for j := range sums {
				x := tiletest.UniformAt(dtype.BF16, bench.Seed(0, group), uint64(r*p.n+first+j))
				sums[j] += x
				squares[j] += x * x
			}
		}
		at := part*p.n + first
		out = append(out, bench.Check{Output: "sums", At: at, Want: sums, Tol: tol}, bench.Check{Output: "squares", At: at, Want: squares, Tol: tol})
	}
	return out
}
